package change

import (
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/terraform/holder"
)

// TestWhatLivesShutsTheGates: a run, and what one left behind, shuts the gates;
// what merely sits there does not; what cannot be seen keeps a lock alone.
func TestWhatLivesShutsTheGates(t *testing.T) {
	t.Parallel()
	p := []holder.Process{{PID: 500}}
	for _, tc := range []struct {
		name          string
		seen          holder.Scan
		unlock, write string // part of why each is shut, "" for open
	}{
		{name: "nothing", seen: holder.Scan{Here: true}},
		{name: "a holder", seen: holder.Scan{Here: true, Holders: p}, unlock: "The holder is alive: process 500", write: "A run is active in the directory: process 500"},
		{name: "a run elsewhere than the holder", seen: holder.Scan{Holders: p}, unlock: "A run is active here: process 500", write: "process 500"},
		{name: "a later run", seen: holder.Scan{Here: true, Later: p}, unlock: "process 500", write: "process 500"},
		{name: "a plugin", seen: holder.Scan{Here: true, Plugins: p}, unlock: "plugin 500", write: "plugin 500"},
		{name: "a child", seen: holder.Scan{Here: true, Children: p}, unlock: "Process 500 is what a run left behind", write: "Process 500"},
		{name: "a shell that sits there", seen: holder.Scan{Here: true, Sitting: p}},
		{name: "what cannot be seen", seen: holder.Scan{Here: true, Blind: "another user"}, unlock: "cannot be seen: another user"},
		{name: "another machine", seen: holder.Scan{HereWhy: "it is another machine"}, unlock: "cannot be told: it is another machine"},
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
