package change

import (
	"errors"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/holder"
)

// TestEndedOfAnUnseenLock: how an act ended is told without its lock only on the very
// machine that it ran on, since the same start, and where no process of it is left.
func TestEndedOfAnUnseenLock(t *testing.T) {
	t.Parallel()
	unread := backend.Lock{Unread: "it tells nothing", Taken: true}
	here := ran(unread)
	if machine() == "" || steps.Find(here, keyMachine) != machine() || len(ran(backend.Lock{})) > 0 || len(ran(backend.Lock{Unread: "x"})) > 0 {
		t.Fatalf("an act runs on %v", here)
	}
	for name, tc := range map[string]struct {
		lock backend.Lock
		at   []steps.KV
		scan holder.Scan
		err  error
		want string
	}{
		"read":             {backend.Lock{}, nil, holder.Scan{}, nil, ""},
		"here":             {unread, here, holder.Scan{}, nil, ""},
		"not told where":   {unread, nil, holder.Scan{}, nil, "resume there"},
		"elsewhere":        {unread, []steps.KV{{Key: keyMachine, Value: "ci-3 since boot 1"}}, holder.Scan{}, nil, "resume there"},
		"no process table": {unread, here, holder.Scan{}, errors.New("no /proc"), "no /proc"},
		"not all seen":     {unread, here, holder.Scan{Blind: "another user"}, nil, "another user"},
		"a run":            {unread, here, holder.Scan{Holders: []holder.Process{{PID: 7}}}, nil, "process 7"},
		"a later run":      {unread, here, holder.Scan{Later: []holder.Process{{PID: 7}}}, nil, "process 7"},
		"a plugin":         {unread, here, holder.Scan{Plugins: []holder.Process{{PID: 7}}}, nil, "process 7"},
		"a child":          {unread, here, holder.Scan{Children: []holder.Process{{PID: 7}}}, nil, "process 7"},
	} {
		err := ended(tc.lock, tc.at, tc.scan, tc.err)
		if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
