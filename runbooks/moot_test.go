package runbooks

import (
	"testing"

	"handrail/steps"
)

// TestMootWatch: a watch that holds whatever it would read has nothing to read and nothing to
// tell; one that is about something has, before and after it was read.
func TestMootWatch(t *testing.T) {
	t.Parallel()
	b := named(t, "init-cascade")
	for _, tc := range []struct {
		step, broker, topology string
		want                   bool
	}{
		{"bound", "", "", true},
		{"bound", "", "bindings", true},
		{"bound", "https://broker", "", true},
		{"bound", "https://broker", "bindings", false},
		{"ready", "", "", false},
		{"brought", "", "", true},
		{"holds", "", "", false}, // no watch
	} {
		v := Vars{Params: steps.Params{}}
		for name, text := range map[string]string{"broker": tc.broker, "topology": tc.topology, "job": "", "job_name": ""} {
			v.Params[name] = steps.StringOf(text)
		}
		if got := b.Moot(tc.step, v); got != tc.want {
			t.Errorf("Moot(%s) with broker %q and topology %q = %t", tc.step, tc.broker, tc.topology, got)
		}
		if fs := b.Findings(tc.step, v); tc.want && len(fs) > 0 {
			t.Errorf("%s tells of what was not to be read: %+v", tc.step, fs)
		}
	}
	v := Vars{Params: steps.Params{"broker": steps.StringOf("https://broker"), "topology": steps.StringOf("bindings")},
		Facts: map[string]map[string]steps.Value{"bound": {"present": steps.IntOf(2), "declared": steps.IntOf(2)}}}
	if b.Moot("bound", v) {
		t.Error("its own facts make it moot")
	}
}
