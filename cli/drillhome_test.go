package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/session/debrief"
)

// TestDrillFromHomeIsJudgedAndStopped opens a drill by the keys of the home
// screen, closes its incident, and finds it judged on the screen, stopped once it
// is left, and scored from its bundle.
func TestDrillFromHomeIsJudgedAndStopped(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	p.run(process.ExitDone, "", "lab", "up")
	p.stops("killed-runner")
	s, _ := p.tty(45, 140)
	(&walker{screen: s, p: p}).practises("killed-runner")
	s.send("\r")
	s.shows(`the standard drill`)
	s.send("1\r")
	s.shows(`WHAT WINNING TAKES`)
	s.send("\r")
	s.shows(`READ-ONLY`)
	s.shows(`▸ enter +Read`)
	s.send("\r")
	s.shows(`Locked by`)
	s.send("c")
	s.shows(`aborted`)
	s.send("3\r")
	s.send("enough for today\r")
	s.shows(`type aborted to close it`)
	s.send("aborted\r")
	s.shows(`CLOSED AS aborted`)
	s.shows(`✗ NOT WON +drill killed-runner`)
	s.shows(`THE REFERENCE`)
	running := filepath.Join(p.state, "handrail/drills/killed-runner")
	if _, err := os.Stat(running); err != nil {
		t.Errorf("the drill is stopped before its debriefing was read: %v", err)
	}
	s.send("q")
	s.shows(`command centre`)
	s.send("q")
	<-s.ended // leaving waits until the drill is stopped
	if _, err := os.Stat(running); !os.IsNotExist(err) {
		t.Errorf("the drill is not stopped: %v", err)
	}
	out := p.run(process.ExitDone, "", "drill", "score")
	for _, want := range []string{"The drill is not won.", "!facts.l.held: does not hold", "first reading after", "first act: never", "your path, next to the reference:", "act unlock (left out)"} {
		if !strings.Contains(out, want) {
			t.Errorf("drill score does not say %q:\n%s", want, out)
		}
	}
	var d debrief.Debriefing
	out = p.run(process.ExitDone, "", "drill", "score", p.bundle(), "-o", "json")
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Drill == nil || !d.Drill.Judged || d.Drill.Won || len(d.Legs) == 0 {
		t.Errorf("drill score -o json: %v\n%s", err, out)
	}
	p.sound(p.bundle())
}
