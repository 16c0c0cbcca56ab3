package terraform

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/plan"
)

// planningTool stands for a program that wrote its plan, said so, and goes on. It
// ends when what it reads from ends.
const planningTool = `#!/bin/sh
for a in "$@"; do case "$a" in -out=*) out="${a#-out=}";; esac; done
case "$1" in
version) echo '{"terraform_version":"1.12.6"}';;
providers) echo '{"format_version":"1.0"}';;
plan) printf 'secret-of-a-plan' > "$out" || exit 1; echo "wrote $out"; read line < "$GATE"; exit 2;;
show) for f; do :; done; cat "$f" >&2; exit 1;;
esac
`

// slotted is a directory with a local state, and a program of the test's own.
func slotted(t *testing.T, script string) (dir, tool string, environ []string) {
	t.Helper()
	base := t.TempDir()
	dir, tool = filepath.Join(base, "root"), filepath.Join(base, "tool")
	for name, text := range map[string]string{
		"main.tf": "", "terraform.tfstate": `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"x","outputs":{},"resources":[]}`,
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script = strings.NewReplacer("$GATE", filepath.Join(base, "gate")).Replace(script)
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(base, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, tool, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(base, "tmp")}
}

// filesBelow lists the files below a directory that hold a text.
func filesBelow(t *testing.T, dir, text string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if strings.Contains(string(b), text) && filepath.Base(name) != "tool" {
			in = append(in, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A handrail that is killed while a plan is made leaves no plan behind: not while
// the program still runs, and not after.
func TestKilledPlanLeavesNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // there a later plan sweeps it: TestSweepSlots
	}
	dir, tool, environ := slotted(t, planningTool)
	base := filepath.Dir(dir)
	o, err := json.Marshal(order{Kind: "plan", Dir: dir, Tofu: tool, Environ: environ, Params: steps.Params{}})
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	var said strings.Builder
	cmd.Env, cmd.Stderr = append(environ, childOrder+"="+string(o)), &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	opened := make(chan *os.File, 1)
	go func() { // the program opens the gate once its plan is written, and this waits for it
		gate, _ := os.OpenFile(filepath.Join(base, "gate"), os.O_WRONLY, 0)
		opened <- gate
	}()
	var gate *os.File
	select {
	case gate = <-opened:
	case <-ended:
		t.Fatalf("it ended: %s", said.String())
	}
	if in := filesBelow(t, base, "secret-of-a-plan"); in != nil {
		t.Errorf("while it runs the plan is in %q", in)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if err := gate.Close(); err != nil { // the program goes on, and to its end
		t.Fatal(err)
	}
	if in := filesBelow(t, base, "secret-of-a-plan"); in != nil {
		t.Errorf("after the kill the plan is in %q", in)
	}
}

// A program that is started by another, which hands on no files, plans all the
// same.
func TestPlanThroughAProgramThatHandsNothingOn(t *testing.T) {
	t.Parallel()
	script := strings.Replace(planningTool, "case \"$1\" in\n", "exec 3>&-\ncase \"$1\" in\n", 1)
	script = strings.Replace(script, `read line < "$GATE"; `, "", 1)
	script = strings.Replace(script, `cat "$f" >&2; exit 1`, `[ "$(cat "$f")" = secret-of-a-plan ] && echo '{"format_version":"1.2","terraform_version":"1.12.6","planned_values":{},"resource_changes":[],"configuration":{}}'`, 1)
	dir, tool, environ := slotted(t, script)
	env := steps.Env{Dir: dir, Environ: environ, Home: t.TempDir(), Now: time.Now, Private: filepath.Join(filepath.Dir(dir), "private"),
		Tool: func(string) (string, error) { return tool, nil }, Trusted: func(string) error { return nil }}
	obs, err := plan.Probe{Env: env}.Probe(context.Background(), steps.Params{}, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	if exit := obs.Facts["exit"]; exit.Int() != 2 {
		t.Errorf("exit = %v, %s", exit, obs.Summary)
	}
	if in := filesBelow(t, filepath.Dir(dir), "secret-of-a-plan"); in != nil {
		t.Errorf("the plan is left in %q", in)
	}
}
