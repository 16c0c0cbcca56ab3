package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/ink"
)

func TestNews(t *testing.T) {
	t.Parallel()
	at := opened()
	running := func(act bool, since time.Duration) view.Snapshot {
		return view.Snapshot{Made: at, Running: []view.Running{{Step: "b/log", Started: at.Add(-since), Act: act}}}
	}
	watch := func(s triage.Status) view.Snapshot {
		return view.Snapshot{Made: at, State: triage.State{Steps: []triage.Step{{PlanStep: triage.PlanStep{ID: "b/clean", Kind: triage.WatchStep}, Status: s}}}}
	}
	for name, tt := range map[string]struct {
		before, after view.Snapshot
		want          ink.Text
	}{
		"a long read":         {running(false, time.Minute), view.Snapshot{Made: at}, "log was read"},
		"a short read":        {running(false, time.Second), view.Snapshot{Made: at}, ""},
		"a long act":          {running(true, time.Minute), view.Snapshot{Made: at}, "log ended"},
		"still running":       {running(true, time.Minute), running(true, time.Minute), ""},
		"a watch that is due": {watch(triage.Running), watch(triage.Pending), ""},
		"a watch that holds":  {watch(triage.Running), watch(triage.Settled), "clean is settled"},
		"the close":           {view.Snapshot{}, view.Snapshot{State: triage.State{Outcome: "recovered"}}, "the incident is closed"},
	} {
		if got := news(tt.before, tt.after); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestNotify rings, and says what for only where the terminal is not in front; nothing of it can act on a terminal.
func TestNotify(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	at := opened()
	before := view.Snapshot{Made: at, Running: []view.Running{{Step: "b/l\x1b]0;x\aog支", Started: at.Add(-time.Minute)}}}
	said := func() string {
		cmd := s.notify(before, view.Snapshot{Made: at})
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd().(tea.RawMsg).Msg)
	}
	if got := said(); got != "\a" {
		t.Errorf("in front it writes %q", got)
	}
	s.Update(tea.BlurMsg{})
	got := said()
	if !strings.HasPrefix(got, "\a\x1b]9;handrail: ") || strings.Count(got, "\x1b") != 1 || !strings.HasSuffix(got, "\x07") || strings.Count(got, "\a") != 2 {
		t.Errorf("away it writes %q", got)
	}
	s.Update(tea.FocusMsg{})
	s.Config.Silent = true
	if got := said(); got != "" || s.View().ReportFocus {
		t.Errorf("silent, it writes %q", got)
	}
}
