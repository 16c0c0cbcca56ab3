package kube

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/kube/nodereport"
)

// writeReport writes what a node would say, with the end that it would have.
func writeReport(t *testing.T, name, node string, at time.Time, items ...string) {
	t.Helper()
	body := "handrail-node-report|1\nnode|" + node + "\nat|" + at.UTC().Format(time.RFC3339) + "\nuser|0\n"
	for _, it := range items {
		body += it + "\n"
	}
	for _, s := range nodereport.Sections() {
		body += "done|" + s + "\n"
	}
	cmd := exec.CommandContext(t.Context(), "cksum")
	cmd.Stdin = strings.NewReader(body)
	crc, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	body += fmt.Sprintf("end|%d|%s\n", strings.Count(body, "\n"), strings.Fields(string(crc))[0])
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

func nodeReport(t *testing.T, file string) (steps.Observation, error) {
	t.Helper()
	return readsProbe(t.Context(), steps.Env{Dir: filepath.Dir(file), Now: time.Now}, "kube/node-report", steps.Params{"file": steps.PathOf(filepath.Base(file))}, newReadsSink())
}

func TestNodeReport(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "worker-1.report")
	at := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	writeReport(t, file, "worker-1", at, "item|spoofed|[kworker/u8:2] x|pid 7 exe /opt/.cache/x|0123456789abcdef", "item|cron|file /etc/cron.d/a|x|0123456789abcdef",
		"unread|cron|/var/spool/cron cannot be listed")
	obs, err := nodeReport(t, file)
	if err != nil {
		t.Fatal(err)
	}
	wantFact(t, obs, "node", "worker-1")
	wantFact(t, obs, "spoofed", `["[kworker/u8:2] x (pid 7 exe /opt/.cache/x)"]`)
	wantFact(t, obs, "cron", "?/var/spool/cron cannot be listed; seen so far: file /etc/cron.d/a")
	wantFact(t, obs, "complete", "?cron")
	wantFact(t, obs, "timers", "[]")
	wantFinding(t, obs, "name of a kernel thread")
	wantFinding(t, obs, "can make it lie")
	if obs.Facts["at"].Time() != at {
		t.Errorf("at = %v", obs.Facts["at"])
	}
	writeReport(t, file, "worker-1", at)
	if obs, err = nodeReport(t, file); err != nil {
		t.Fatal(err)
	}
	wantFact(t, obs, "complete", "true")
	wantFact(t, obs, "unread", "[]")

	// A report that was cut knows nothing for sure.
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw[:len(raw)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if obs, err = nodeReport(t, file); err != nil {
		t.Fatal(err)
	}
	wantFact(t, obs, "timers", "?on the way")
	for name, want := range map[string]string{"no-such": "no such file", ".": "not a regular file"} {
		if _, err := readsProbe(t.Context(), steps.Env{Dir: filepath.Dir(file), Now: time.Now}, "kube/node-report", steps.Params{"file": steps.PathOf(name)}, newReadsSink()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
