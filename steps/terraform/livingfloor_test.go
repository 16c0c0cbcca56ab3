package terraform

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestWhatLivesShutsTheGates: a run, and what one left behind, shuts the gates;
// what merely sits there does not; what cannot be seen keeps a lock alone.
func TestWhatLivesShutsTheGates(t *testing.T) {
	t.Parallel()
	p := []process{{pid: 500}}
	for _, tc := range []struct {
		name          string
		seen          scan
		unlock, write string // part of why each is shut, "" for open
	}{
		{name: "nothing", seen: scan{here: true}},
		{name: "a holder", seen: scan{here: true, holders: p}, unlock: "The holder is alive: process 500", write: "A run is active in the directory: process 500"},
		{name: "a run elsewhere than the holder", seen: scan{holders: p}, unlock: "A run is active here: process 500", write: "process 500"},
		{name: "a later run", seen: scan{here: true, later: p}, unlock: "process 500", write: "process 500"},
		{name: "a plugin", seen: scan{here: true, plugins: p}, unlock: "plugin 500", write: "plugin 500"},
		{name: "a child", seen: scan{here: true, children: p}, unlock: "Process 500 is what a run left behind", write: "Process 500"},
		{name: "a shell that sits there", seen: scan{here: true, sitting: p}},
		{name: "what cannot be seen", seen: scan{here: true, blind: "another user"}, unlock: "cannot be seen: another user"},
		{name: "another machine", seen: scan{hereWhy: "it is another machine"}, unlock: "cannot be told: it is another machine"},
	} {
		for gate, want := range map[string]string{"force-unlock": tc.unlock, "apply": tc.write} {
			var unmet []steps.Need
			f := floors{need: &unmet}
			if gate == "apply" {
				f.living(tc.seen)
			} else {
				f.holder(tc.seen, nil, "u@here")
			}
			switch {
			case want == "" && len(unmet) > 0:
				t.Errorf("%s: %s is shut by %v", tc.name, gate, unmet)
			case want != "" && (len(unmet) != 1 || !strings.Contains(unmet[0].Why, want)):
				t.Errorf("%s: %s: unmet = %v, want %q", tc.name, gate, unmet, want)
			}
		}
	}
}
