package change

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/module"
)

// paused is a root module that nothing initialised, and two who may pause it.
func paused(t *testing.T) (dir string, ours, others steps.Env) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "network")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("terraform {\n  backend \"s3\" {}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	ours = steps.Env{Dir: dir, User: "ada", Host: "here", Incident: "ours", Now: func() time.Time { return at }}
	others = ours
	others.User, others.Incident = "grace", "theirs"
	return dir, ours, others
}

func shownBy(t *testing.T, g steps.Gater, in steps.Params) steps.Preview {
	t.Helper()
	p, err := g.Preview(t.Context(), in, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func confirmed(t *testing.T, p steps.Preview) *steps.Approval {
	t.Helper()
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		t.Fatalf("%v: %s", err, reasons(p))
	}
	return a
}

func done(t *testing.T, g steps.Gater, in steps.Params) steps.Outcome {
	t.Helper()
	o, err := g.Act(t.Context(), confirmed(t, shownBy(t, g, in)), stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func shell(t *testing.T, command string, in []byte) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Stdin = bytes.NewReader(in)
	return cmd.Run()
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	dir, ours, others := paused(t)
	why := steps.Params{"reason": steps.StringOf("state is being repaired")}
	p := shownBy(t, PauseGate{ours}, why)
	if p.Phrase != "pause network" || len(p.Owes) != 1 || p.Owes[0].Kind != "resume" || p.Owes[0].Due != 4*time.Hour {
		t.Errorf("preview = %+v", p)
	}
	if o := done(t, PauseGate{ours}, why); o.Result != steps.Done || !strings.Contains(o.Response, "ada@here in incident ours") {
		t.Fatalf("outcome = %+v", o)
	}
	raw, err := os.ReadFile(filepath.Join(dir, module.PauseFile))
	if err != nil || !strings.Contains(string(raw), `"until": "2026-11-22T07:00:00Z"`) {
		t.Fatalf("marker = %s, %v", raw, err)
	}
	if o, err := (PauseGate{ours}).Find(t.Context(), p.Target, nil, stepstest.NewSink()); err != nil || o.Result != steps.Done {
		t.Errorf("Find() of the pause = %+v, %v", o, err)
	}
	wantReason(t, shownBy(t, PauseGate{ours}, why), "This incident paused it already")
	wantReason(t, shownBy(t, PauseGate{others}, why), "paused already, by ada@here in incident ours")
	wantReason(t, shownBy(t, ResumeGate{others}, nil), "someone else's pause: ada@here")
	if who := module.PausedByOthers(others, dir); who == "" || module.PausedByOthers(ours, dir) != "" {
		t.Errorf("paused by others: %q, and for ours %q", who, module.PausedByOthers(ours, dir))
	}
	// The undo of the pause is what its text says.
	if err := shell(t, p.Undo[strings.Index(p.Undo, "rm "):], nil); err != nil || module.ReadPause(dir).Stands {
		t.Errorf("undo %q: %v", p.Undo, err)
	}
	if o, err := (PauseGate{ours}).Find(t.Context(), p.Target, nil, stepstest.NewSink()); err != nil || o.Result != steps.Failed {
		t.Errorf("Find() without a marker = %+v, %v", o, err)
	}
	done(t, PauseGate{ours}, why)
	r := shownBy(t, ResumeGate{ours}, nil)
	if !slices.Equal(r.Pays, p.Owes) {
		t.Errorf("resume pays %v, want what the pause owes: %v", r.Pays, p.Owes)
	}
	if o := done(t, ResumeGate{ours}, nil); o.Result != steps.Done || module.ReadPause(dir).Stands {
		t.Fatalf("outcome = %+v", o)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".handrail*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	wantReason(t, shownBy(t, ResumeGate{ours}, nil), "nothing is paused here")
	// So is the undo of the resume, and it replaces no other undo.
	if err := shell(t, r.Prior.Back, r.Prior.Raw); err != nil || !module.ReadPause(dir).By(ours) {
		t.Errorf("undo %q: %v, marker %s", r.Prior.Back, err, module.ReadPause(dir).Whose())
	}
	if err := shell(t, r.Prior.Back, []byte("x")); err == nil || !module.ReadPause(dir).By(ours) {
		t.Errorf("undo over a marker: %v", err)
	}
}

// TestPauseOfOthers is never replaced, and taken away by name once it is overdue.
func TestPauseOfOthers(t *testing.T) {
	t.Parallel()
	dir, ours, others := paused(t)
	why := steps.Params{"reason": steps.StringOf("freeze")}
	approval := confirmed(t, shownBy(t, PauseGate{ours}, why))
	done(t, PauseGate{others}, why)
	if o, err := (PauseGate{ours}).Act(t.Context(), approval, stepstest.NewSink()); err != nil || o.Result != steps.Refused || !module.ReadPause(dir).By(others) {
		t.Errorf("a pause over one that came first = %+v, %v", o, err)
	}
	later := ours.Now().Add(5 * time.Hour)
	ours.Now = func() time.Time { return later }
	p := shownBy(t, ResumeGate{ours}, nil)
	if len(p.Unmet) > 0 || p.Phrase != "resume network of grace@here" {
		t.Errorf("preview of an overdue one = %q, %s", p.Phrase, reasons(p))
	}
	moved := confirmed(t, p)
	if err := os.WriteFile(filepath.Join(dir, module.PauseFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := (ResumeGate{ours}).Act(t.Context(), moved, stepstest.NewSink()); err != nil || o.Result != steps.Refused || !module.ReadPause(dir).Stands {
		t.Errorf("resume of another marker = %+v, %v", o, err)
	}
	wantReason(t, shownBy(t, ResumeGate{ours}, nil), "Whose pause this is cannot be told")
	wantReason(t, shownBy(t, PauseGate{ours}, why), "an unknown person")
	if module.PausedByOthers(ours, dir) == "" {
		t.Error("a marker that cannot be read does not count")
	}
}

func TestPauseNeedsARootModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := steps.Env{Dir: dir, Now: time.Now}
	for _, g := range []steps.Gater{PauseGate{env}, ResumeGate{env}} {
		if _, err := g.Preview(t.Context(), nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "name the root module") {
			t.Errorf("preview in an empty directory = %v", err)
		}
		if _, err := g.Preview(t.Context(), steps.Params{"dir": steps.PathOf("absent")}, stepstest.NewSink()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("preview of no directory = %v", err)
		}
	}
}

func FuzzPause(f *testing.F) {
	f.Add([]byte(`{"who":"a","when":"2026-11-22T00:00:00Z","why":"b","incident":"c","until":"2026-11-22T04:00:00Z"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := module.ParsePause(raw)
		if err != nil {
			return
		}
		if m.Who == "" || m.Until.IsZero() {
			t.Errorf("ParsePause(%q) = %+v", raw, m)
		}
		if again, err := m.Encode(); err == nil {
			if back, err := module.ParsePause(again); err != nil || !back.Until.Equal(m.Until) {
				t.Errorf("encoded again: %+v, %v", back, err)
			}
		}
	})
}

// TestPauseStopsAJob runs the lines that the documentation gives to a CI.
func TestPauseStopsAJob(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/applying.md")
	if err != nil {
		t.Fatal(err)
	}
	_, lines, ok := strings.Cut(string(doc), "```sh\n")
	lines, _, closed := strings.Cut(lines, "```")
	if !ok || !closed {
		t.Fatal("the documentation gives no lines for a job")
	}
	dir, ours, _ := paused(t)
	job := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", lines+"echo applied")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := job(); err != nil || out != "applied\n" {
		t.Fatalf("job without a pause = %q, %v", out, err)
	}
	done(t, PauseGate{ours}, steps.Params{"reason": steps.StringOf("freeze")})
	out, err := job()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 75 || strings.Contains(out, "applied\n") || !strings.Contains(out, "ada@here") {
		t.Errorf("job under a pause = %q, %v", out, err)
	}
}

func reasons(p steps.Preview) string {
	var out []string
	for _, n := range p.Unmet {
		out = append(out, n.Why)
	}
	return strings.Join(out, "\n")
}

func wantReason(t *testing.T, p steps.Preview, part string) {
	t.Helper()
	if !strings.Contains(reasons(p), part) {
		t.Errorf("unmet = %q, want %q among it", reasons(p), part)
	}
}
