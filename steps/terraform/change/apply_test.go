package change

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps/terraform/runlog"
	"handrail/steps/terraform/tfplan"
)

func TestCovered(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		address, allowed string
		want             bool
	}{
		{"a.b", "a.b", true},
		{"a.b[0]", "a.b", true},
		{`a.b["x.y"]`, "a.b", true},
		{"a.b[0]", "a.b[0]", true},
		{"a.b[01]", "a.b[0]", false},
		{"a.bc", "a.b", false},
		{"a.b", "a.b[0]", false},
		{"a.b.c", "a.b", false},
		{"module.m.a.b", "module.m", true},
		{"module.m[0].a.b", "module.m", true},
		{"module.mm.a.b", "module.m", false},
		{"module.m.a.b", "a.b", false},
		{"a.b", "", false},
		{"[0]", "", false},
		{"a.b", "a", false},
	} {
		if got := covered(tc.address, []string{tc.allowed}); got != tc.want {
			t.Errorf("covered(%q, %q) = %v, want %v", tc.address, tc.allowed, got, tc.want)
		}
	}
}

// TestTally: each address by its log, held against what is recorded.
func TestTally(t *testing.T) {
	t.Parallel()
	event := func(typ, addr string) string {
		return `{"@message":"m","type":"` + typ + `","hook":{"resource":{"addr":"` + addr + `"}}}`
	}
	log := runlog.New()
	for _, line := range []string{
		event("apply_start", "x.done"), event("apply_complete", "x.done"),
		event("apply_start", "x.lost"), event("apply_complete", "x.lost"),
		event("apply_start", "x.swap"), event("apply_complete", "x.swap"),
		event("apply_start", "x.bad"), event("apply_errored", "x.bad"),
		event("apply_start", "x.open"),
		event("apply_start", "x.left"), event("apply_complete", "x.left"),
		event("apply_start", "x.ended"), event("apply_complete", "x.ended"),
	} {
		log.Line([]byte(line))
	}
	log.End()
	plan := &tfplan.Doc{Changes: []tfplan.Change{
		{Address: "x.done", Act: tfplan.Create}, {Address: "x.lost", Act: tfplan.Create}, {Address: "x.swap", Act: tfplan.Replace},
		{Address: "x.bad", Act: tfplan.Update}, {Address: "x.open", Act: tfplan.Create}, {Address: "x.never", Act: tfplan.Delete},
		{Address: "x.left", Act: tfplan.Delete}, {Address: "x.ended", Act: tfplan.Delete}, {Address: "x.read", Act: tfplan.Read},
		{Address: "x.moved", Previous: "x.was", Act: tfplan.None}, {Address: "x.dropped", Act: tfplan.Forget},
	}}
	now := &recordedState{recorded: map[string]bool{"x.done": false, "x.swap": false, "x.left": false, "x.moved": false, "x.dropped": false}}
	e := applyEnd{t: &applyInput{saved: &tfplan.Saved{Doc: plan}}, after: now, log: log, exit: -1}
	want := map[string]string{
		"x.done": runlog.Complete, "x.lost": runlog.Unproven, "x.swap": runlog.Half, "x.bad": runlog.Failed, "x.open": runlog.InFlight, "x.never": runlog.NeverStarted,
		"x.left": runlog.Unproven, "x.ended": runlog.Complete, "x.moved": runlog.Complete, "x.dropped": runlog.NeverStarted,
	}
	if diff := cmp.Diff(want, e.tally()); diff != "" {
		t.Errorf("killed (-want +got):\n%s", diff)
	}
	e.exit, want["x.open"] = 1, runlog.Failed
	if diff := cmp.Diff(want, e.tally()); diff != "" {
		t.Errorf("ended by itself (-want +got):\n%s", diff)
	}
	if o := e.judge(Whole); o.Result != "failed" || !strings.Contains(o.Response, "after 3 of 10 changes") {
		t.Errorf("outcome = %+v", o)
	}
}

func FuzzSpoken(f *testing.F) {
	f.Add([]byte(`{"@message":"a: Creating...","type":"apply_start"}`))
	f.Add([]byte(`{"@message":"Error: x","type":"diagnostic","diagnostic":{"summary":"x","detail":"y\nz","address":"a.b"}}`))
	f.Add([]byte("plain \x00 text"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strings.TrimSpace(string(raw)) == "" && spoken(raw) != "" {
			t.Errorf("spoken(%q) = %q", raw, spoken(raw))
		}
		log := runlog.New()
		log.Line(raw)
		log.End()
		_ = log.Brief()
	})
}
