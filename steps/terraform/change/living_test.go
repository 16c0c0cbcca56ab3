package change

import (
	"errors"
	"strings"
	"testing"
	"time"

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

// TestTheAgeOfALock: a lock is waited for, until a moment that is given, unless the
// kernel proves that its holder is gone.
func TestTheAgeOfALock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 17, 24, 0, 0, time.UTC)
	for _, tc := range []struct {
		name     string
		seen     holder.Scan
		age, max time.Duration
		why      string
		at       time.Time // zero for none
		unmet    bool
	}{
		{name: "young", seen: holder.Scan{Here: true}, age: 2 * time.Minute, unmet: true, at: now.Add(28 * time.Minute)},
		{name: "young for this module", seen: holder.Scan{Here: true}, age: 40 * time.Minute, max: time.Hour, unmet: true, at: now.Add(20 * time.Minute)},
		{name: "young, of another machine", age: time.Minute, unmet: true, at: now.Add(29 * time.Minute)},
		{name: "old", seen: holder.Scan{Here: true}, age: time.Hour},
		{name: "young, and proven", seen: holder.Scan{Here: true, Proof: "it ran here"}, age: 2 * time.Minute, max: time.Hour},
		{name: "unknown, and proven", seen: holder.Scan{Here: true, Proof: "it ran here"}, why: "two clocks", unmet: true},
	} {
		var unmet []steps.Need
		floors{need: &unmet}.age(now, tc.age, tc.why, youngest(tc.seen, tc.max))
		if (len(unmet) > 0) != tc.unmet || tc.unmet && !unmet[0].At.Equal(tc.at) {
			t.Errorf("%s: unmet = %+v, want %v until %s", tc.name, unmet, tc.unmet, tc.at)
		}
	}
}

// TestALockOfCIFromALaptop: where no process can be seen, the holder of another
// machine does not shut the release, and one that may be here does.
func TestALockOfCIFromALaptop(t *testing.T) {
	t.Parallel()
	unread := errors.New("process table: open /proc: no such file or directory")
	for _, tc := range []struct {
		name string
		seen holder.Scan
		why  string
	}{
		{"another machine", holder.Scan{}, ""},
		{"this machine", holder.Scan{Here: true}, "could not be looked up"},
		{"maybe this machine", holder.Scan{HereWhy: "a laptop has many names"}, "a laptop has many names"},
	} {
		var unmet []steps.Need
		floors{need: &unmet}.holder(tc.seen, unread, "ci@runner-7")
		if (len(unmet) > 0) != (tc.why != "") || tc.why != "" && !strings.Contains(unmet[0].Why, tc.why) {
			t.Errorf("%s: unmet = %+v, want %q", tc.name, unmet, tc.why)
		}
	}
}
