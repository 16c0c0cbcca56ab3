//go:build unix

package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMeter(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	m := &meter{part: "cluster", started: start}
	for _, step := range []struct {
		name  string
		total int
		line  string
		at    int
		want  Progress
	}{
		{name: "nothing yet", want: Progress{Stage: StageCount}},
		{name: "a module", line: "go: downloading k8s.io/api v0.36.3", at: 2, want: Progress{Stage: StageFetch, Done: 1, Elapsed: 2 * time.Second}},
		{name: "counted", total: 4, at: 10, want: Progress{Stage: StageBuild, Total: 4, Elapsed: 10 * time.Second}},
		{name: "first package", line: "k8s.io/api/core/v1", at: 20, want: Progress{Stage: StageBuild, Done: 1, Total: 4, Elapsed: 20 * time.Second}},
		{name: "a remark", line: "# k8s.io/api", at: 30, want: Progress{Stage: StageBuild, Done: 1, Total: 4, Elapsed: 30 * time.Second, Left: 30 * time.Second}},
		{name: "second package", line: "net/http", at: 40, want: Progress{Stage: StageBuild, Done: 2, Total: 4, Elapsed: 40 * time.Second, Left: 20 * time.Second}},
		{name: "third", line: "a/b", at: 50, want: Progress{Stage: StageBuild, Done: 3, Total: 4, Elapsed: 50 * time.Second, Left: 10 * time.Second}},
		{name: "fourth", line: "a/c", at: 60, want: Progress{Stage: StageLink, Done: 4, Total: 4, Elapsed: time.Minute}},
		{name: "more than counted", line: "a/d", at: 61, want: Progress{Stage: StageLink, Done: 4, Total: 4, Elapsed: 61 * time.Second}},
	} {
		if step.total > 0 {
			m.total = step.total
		}
		m.line(step.line, at(step.at))
		step.want.Part = "cluster"
		if diff := cmp.Diff(step.want, m.progress(at(step.at))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", step.name, diff)
		}
	}
	for range 3 * keptTalk {
		m.line("./main.go:3:4: undefined: x", at(70))
	}
	if len(m.talk) != keptTalk {
		t.Errorf("kept %d lines of talk, want %d", len(m.talk), keptTalk)
	}
}

func TestReadState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var s state
	if err := read(dir, fileState, &s); err != nil || s.Phase != "" {
		t.Errorf("read(no file) = %v, %+v; want nothing", err, s)
	}
	want := state{Nonce: "n", Phase: phaseRunning, BootID: "b", Started: time.Unix(1, 0).UTC(),
		Supervisor: process{Name: "supervisor", PID: 7, Start: "9"}, Processes: []process{{Name: "etcd", PID: 8, Start: "10"}}}
	if err := writeJSON(filepath.Join(dir, fileState), want); err != nil {
		t.Fatal(err)
	}
	if err := read(dir, fileState, &s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	write(t, filepath.Join(dir, fileState), `{"phase": "run`)
	if err := read(dir, fileState, &s); err == nil || !strings.Contains(err.Error(), "lab down") {
		t.Errorf("read(half a file) = %v, want an error that says what to do", err)
	}
	if err := Down(t.Context(), Options{Dir: dir}); err != nil {
		t.Errorf("Down() over a broken state = %v", err)
	}
}

func TestProcessIdentity(t *testing.T) {
	t.Parallel()
	me := process{Name: "test", PID: os.Getpid(), Start: startMark(os.Getpid())}
	for _, tc := range []struct {
		name string
		p    process
		boot string
		want bool
	}{
		{"this process", me, bootID(), true},
		{"another boot", me, "other", false},
		{"a reused pid", process{PID: me.PID, Start: me.Start + "0"}, bootID(), false},
		{"never recorded", process{PID: me.PID}, bootID(), false},
		{"zero value", process{}, bootID(), false},
		{"negative pid", process{PID: -1, Start: "1"}, bootID(), false},
	} {
		if got := tc.p.runs(tc.boot); got != tc.want {
			t.Errorf("%s: runs() = %t, want %t", tc.name, got, tc.want)
		}
	}
	reused := process{Name: "etcd", PID: me.PID, Start: me.Start + "0"}
	if err := end(t.Context(), reused, bootID(), time.Minute); err != nil { // we would not survive a mistake
		t.Error(err)
	}
	if err := signal(reused, bootID(), endNow); err != nil {
		t.Error(err)
	}
}

func TestParseAudit(t *testing.T) {
	t.Parallel()
	const line = `{"auditID":"a1","stage":"ResponseComplete","requestURI":"/x?dryRun=All","verb":"create","user":{"username":"u"},"objectRef":{"resource":"secrets","namespace":"n","name":"s","apiVersion":"v1"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-01-02T03:04:05.000001Z","stageTimestamp":"2026-01-02T03:04:05.1Z"}` + "\n"
	started := strings.Replace(line, "ResponseComplete", "ResponseStarted", 1)
	for _, tc := range []struct {
		name, log string
		want      int
		broken    bool
	}{
		{name: "empty"},
		{name: "one", log: line, want: 1},
		{name: "half a line at the end", log: line + line[:100], want: 1},
		{name: "not final", log: started + line, want: 1},
		{name: "broken in the middle", log: line[:100] + "\n" + line, broken: true},
	} {
		got, _, err := parseAudit(strings.NewReader(tc.log))
		if len(got) != tc.want || (err != nil) != tc.broken {
			t.Errorf("%s: parseAudit() = %d events, %v", tc.name, len(got), err)
		}
	}
	events, _, err := parseAudit(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	e := events[0]
	if e.Persists() {
		t.Error("a dry run is said to persist")
	}
	e.URI = "/x"
	if !e.Persists() {
		t.Error("a write is said not to persist")
	}
	e.Code = 403
	if e.Persists() {
		t.Error("a refused write is said to persist")
	}
}

// FuzzParseAudit: whatever the file holds, no panic, and nothing is read behind a broken line.
func FuzzParseAudit(f *testing.F) {
	f.Add("{}\n{\"stage\":\"Panic\"}\n{")
	f.Fuzz(func(t *testing.T, log string) {
		events, _, err := parseAudit(strings.NewReader(log))
		if err == nil && len(events) > strings.Count(log, "\n") {
			t.Errorf("%d events from %d lines", len(events), strings.Count(log, "\n"))
		}
	})
}

func TestServersStayOnLoopback(t *testing.T) {
	t.Parallel()
	for _, p := range processes("/d", ports{1, 2, 3, 4}) {
		all := strings.Join(p.Args, " ")
		if p.Name == "kube-apiserver" && !strings.Contains(all, "--enable-aggregator-routing=true") {
			t.Error("without aggregator routing the API server dials service addresses")
		}
		if p.Name == "etcd" && (!strings.Contains(all, "--client-cert-auth") || !strings.Contains(all, "--peer-client-cert-auth") || strings.Contains(all, "http://")) {
			t.Errorf("every user of the machine may speak to etcd: %s", all)
		}
		if p.Name != "etcd" && !strings.Contains(all, "--bind-address=127.0.0.1") {
			t.Errorf("%s is not bound to loopback: %s", p.Name, all)
		}
	}
}

func TestLeaseNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, bad := range []string{"", "../x", "A", "a.b", "-a", strings.Repeat("a", 64)} {
		if _, err := takeLease(t.Context(), dir, bad); err == nil {
			t.Errorf("takeLease(%q) gave a lease", bad)
		}
	}
	le, err := takeLease(t.Context(), dir, "drill-1")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, dirLeases, "dead.00.lease"), "")
	if live := leases(dir, true); len(live) != 1 || leaseLabel(live[0]) != "drill-1" {
		t.Errorf("live leases %q", live)
	}
	other, err := takeLease(t.Context(), dir, "drill-2")
	if err != nil {
		t.Fatal(err)
	}
	if dead := leases(dir, false); len(dead) != 0 {
		t.Errorf("dead leases are kept: %q", dead)
	}
	for _, l := range []*Lease{le, le, other, nil} {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if live := leases(dir, true); len(live) != 0 {
		t.Errorf("released leases live: %q", live)
	}
}
