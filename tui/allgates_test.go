package tui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"handrail/runbooks"
	"handrail/session/view"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/run"
	"handrail/tui/screen"
)

// told is an incident that was folded, for what draws it.
type told struct {
	scene view.Scene
	tell  func(triage.Body) bool // false where it does not fold
}

func tellIncident(rb *runbooks.Runbook, cat steps.Catalog) *told {
	s := &told{scene: view.Scene{Now: opened(), Books: map[string]*runbooks.Runbook{rb.ID: rb}, Catalog: cat}}
	s.tell = func(b triage.Body) bool {
		s.scene.Now = s.scene.Now.Add(10 * time.Second)
		next, err := triage.Fold(s.scene.State, triage.Event{Seq: s.scene.State.Seq + 1, At: s.scene.Now, Actor: "ana", Body: b})
		if err == nil {
			// What is worked out once a scene is of this moment.
			s.scene = view.Scene{State: next, Now: s.scene.Now, Books: s.scene.Books, Catalog: cat}
		}
		return err == nil
	}
	return s
}

// does settles one step somehow.
func (s *told) does(st triage.Step, draw *rand.Rand, cat steps.Catalog) {
	switch st.Kind {
	case triage.AskStep:
		if n := len(st.Answers); n > 0 {
			s.tell(triage.Answer{Step: st.ID, Value: st.Answers[draw.IntN(n)], How: "looked"})
		}
	case triage.ConcludeStep:
		s.tell(triage.Conclude{Topic: triage.Topic(st.Uses), Value: "yes", Person: "ana", Why: "she looked"})
	case triage.ProbeStep:
		kind, _ := cat.Lookup(st.Uses)
		end := triage.ProbeEnd{Step: st.ID, N: 1, Outcome: "ok", Facts: map[string]steps.Value{}}
		for _, f := range kind.Facts {
			switch v := draw.IntN(2); {
			case draw.IntN(4) == 0:
				end.Facts[f.Name] = steps.Unknown(f.Type, "not told")
			case f.Type == steps.Bool:
				end.Facts[f.Name] = steps.BoolOf(v == 0)
			case f.Type == steps.Int:
				end.Facts[f.Name] = steps.IntOf(int64(v))
			case f.Type == steps.Strings:
				end.Facts[f.Name] = steps.StringsOf([][]string{nil, {"a"}}[v])
			case f.Type == steps.Duration:
				end.Facts[f.Name] = steps.DurationOf(time.Duration(v) * time.Hour)
			case f.Type == steps.Enum:
				end.Facts[f.Name] = steps.EnumOf(f.Values[draw.IntN(len(f.Values))])
			default:
				end.Facts[f.Name] = steps.Unknown(f.Type, "not told")
			}
		}
		if s.tell(triage.ProbeStart{Step: st.ID, N: 1}) {
			s.tell(end)
		}
	}
}

// expression is what a runbook's author writes, and no one who reads a gate.
var expression = regexp.MustCompile(`\b(answers|facts|params|green|settled)\.[a-z]|\(law \d|\s(==|!=|&&|\|\|)\s`)

// TestGatesOfAllRunbooks draws every gate of every runbook, from the outside and from
// the inside, as facts and answers come: both say the same of whether it can be
// opened, quote no expression, and have a number for each question that is in the way.
func TestGatesOfAllRunbooks(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range lib {
		t.Run(rb.ID, func(t *testing.T) {
			t.Parallel()
			drawsGates(t, rb, cat, rand.New(rand.NewPCG(1, 7)))
		})
	}
}

func drawsGates(t *testing.T, rb *runbooks.Runbook, cat steps.Catalog, draw *rand.Rand) {
	params := steps.Params{}
	for _, f := range rb.Params {
		if v, err := steps.ParseValue(f.Type, f.Default); err == nil && f.Default != "" {
			params[f.Name] = v
		}
	}
	s := tellIncident(rb, cat)
	if !s.tell(triage.Open{Incident: "i", Title: "t", Severity: triage.Sev3}) || !s.tell(rb.Plan(params)) {
		t.Fatal("the plan does not fold")
	}
	all := s.scene.State.Steps
	for i, st := range all {
		if i == 0 || i == len(all)/2 {
			s.look(t, rb)
		}
		s.does(st, draw, cat)
	}
	for _, st := range all { // each was tried, and refused for something that only its target tells
		if st.Kind == triage.GateStep {
			s.tell(triage.GateClosed{Step: st.ID, Why: "the target is 2 min old", Refused: true})
		}
	}
	s.look(t, rb)
}

// look draws all gates as they stand.
func (s *told) look(t *testing.T, rb *runbooks.Runbook) {
	t.Helper()
	snap := s.scene.Snapshot(s.scene.Texts())
	for _, st := range snap.State.Steps {
		if st.Kind == triage.GateStep {
			lookAtGate(t, snap, st)
			continue
		}
		c := &incident.Case{Snap: snap}
		for _, f := range c.Barred(st.ID) {
			if said := string(c.Refusal(st.ID, f)); expression.MatchString(said) {
				t.Errorf("%s: what it needs quotes an expression: %s", st.ID, said)
			}
		}
	}
}

func lookAtGate(t *testing.T, snap view.Snapshot, st triage.Step) {
	t.Helper()
	c := &incident.Case{Snap: snap}
	env := &screen.Env{W: 160, H: 200, Now: snap.Made, Keys: keymap.New(nil), Theme: ink.Monochrome(), Case: c, Tasks: &screen.Tasks{Ctx: t.Context()}, Seal: &screen.SealState{}, At: screen.AtRun}
	front := &run.Screen{Case: c}
	front.Take(snap)
	front.Front(st.ID)
	front.Decide()
	outside := words(front.Draw(env, 160, 200))
	g := gate.New(env, st.ID)
	g.Look()
	box, _ := g.Box(env, 200)
	inside := words(box)

	o, offered := c.Option(triage.DoPreview, st.ID)
	open := offered && len(o.Refusals) == 0
	aside := snap.Cards[st.ID].Aside != ""
	says := strings.Contains(outside, "The answers and facts allow it")
	if in := strings.Contains(inside, "Enter reads the target"); in != open || says != open && !aside {
		t.Errorf("%s: that it can be opened is %v, on its step %v, at the gate %v\n%s\n%s", st.ID, open, says, in, outside, inside)
	}
	if snap.State.Gates[st.ID].WasRefused && !strings.Contains(outside, "Refused when it was last tried: the target is 2 min old") {
		t.Errorf("%s: its step does not say that it was refused:\n%s", st.ID, outside)
	}
	for where, text := range map[string]string{"its step": outside, "the gate": inside} {
		if m := expression.FindString(text); m != "" {
			t.Errorf("%s: %s quotes the expression %q:\n%s", st.ID, where, m, text)
		}
	}
	met := c.Met(st.ID, o.Refusals)
	for _, f := range o.Refusals {
		id := c.Snap.Behind(st.ID, f)
		if id == "" && regexp.MustCompile(`\b(answers|facts)\.`).MatchString(f.Why+f.Cure) {
			t.Errorf("%s: no step settles %q, %q", st.ID, f.Why, f.Cure)
		}
		if id == "" || len(met) == 9 {
			continue
		}
		if n := fmt.Sprintf("%s ", c.MetKey(st.ID, f, met)); n == " " || !strings.Contains(inside, "✗ "+n) || !aside && !strings.Contains(outside, "○ "+n) {
			t.Errorf("%s: %q has no number by which it is gone to:\n%s\n%s", st.ID, f.Why, outside, inside)
		}
	}
	for n, id := range met {
		front.Front(st.ID)
		front.Press(env, keyPress(fmt.Sprint(n+1)))
		if front.Focus != id {
			t.Errorf("%s: %d goes to %s, want %s", st.ID, n+1, front.Focus, id)
		}
	}
}

// words are drawn rows as one line of words.
func words(rows []ink.Drawn) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(ansi.Strip(string(r)) + "\n")
	}
	return b.String()
}
