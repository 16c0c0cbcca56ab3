package tui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/runbooks"
	"handrail/session/trial"
	"handrail/steps/catalog"
	"handrail/triage"
	"handrail/tui/screen"
)

// atSheet is a stale plan that was read, with the sheet in front.
func atSheet(t *testing.T, w, h int) *hand {
	t.Helper()
	s := staled(t)
	s.begin(t)
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	s.want(t, "Say these 6: run, domain, owner, writer, audit, events")
	s.key("enter")
	s.want(t, "── Say these 6", "▸ run")
	return s
}

// staled is the home screen of a stale plan.
func staled(t *testing.T) *hand { return walkOf(t, "stale-plan") }

// walkOf is the home screen before the first case of a runbook.
func walkOf(t *testing.T, id string) *hand {
	t.Helper()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(rb *runbooks.Runbook) bool { return rb.ID == id })]
	file, src, err := runbooks.LibraryTest(rb.ID)
	if err != nil {
		t.Fatal(err)
	}
	d, err := trial.Parse(file, src, rb, cat)
	if err != nil {
		t.Fatal(err)
	}
	return strokes(t, rb, cat, &d.Cases[0])
}

// line goes to a line of the sheet.
func (h *hand) line(t *testing.T, name string) {
	t.Helper()
	for _, k := range []string{"up", "down"} {
		for range 10 {
			if rowOf(h.screen()) == name {
				return
			}
			h.press(k)
		}
	}
	t.Fatalf("no line %s:\n%s", name, h.screen())
}

// to takes a line by enter, and comes to the next that is open.
func (h *hand) to(t *testing.T, name string) {
	t.Helper()
	for range 4 {
		if h.press("enter"); rowOf(h.screen()) == name {
			return
		}
	}
	t.Fatalf("enter does not come to %s:\n%s", name, h.screen())
}

func (h *hand) answer(step string) triage.Step {
	st, _ := h.b.state.Step(h.b.rb.ID + "/" + step)
	return st
}

// TestOneSheet: what is wanted before something is to be read stands on one sheet. Each line is
// an event of its own, with its value and words; an unknown says who was asked; a proposal is
// taken by enter, or left open; what is left empty is asked again.
func TestOneSheet(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {140, 45}} {
		s := atSheet(t, size[0], size[1])
		s.types("run 4711 by @kim, commit 1a2b3c4d, PR 12")
		s.line(t, "writer")
		s.want(t, "▸ writer", "Which run wrote the serial", "another")
		s.types("another: run 4712, 02:10")
		s.to(t, "audit")
		s.types("unknown: asked the cloud team; again: 03:00")
		s.to(t, "events")
		s.line(t, "domain")
		s.types("-")
		s.line(t, "owner")
		for i := 0; s.Sheet != nil && i < 12; i++ {
			s.key("enter")
		}
		if s.Sheet != nil {
			t.Fatalf("the sheet was not sent:\n%s", s.screen())
		}
		if st := s.answer("writer"); st.Answer != "another" || st.How != "run 4712, 02:10" {
			t.Errorf("writer = %q, %q", st.Answer, st.How)
		}
		if st := s.answer("audit"); st.Answer != triage.Unknown || st.How != "asked: asked the cloud team; again: 03:00" {
			t.Errorf("audit = %q, %q", st.Answer, st.How)
		}
		run := s.answer("run")
		for _, item := range []string{"E1", "E2", "E3", "E6"} {
			if !slices.ContainsFunc(run.Gives, func(g triage.Given) bool { return g.Item == item }) {
				t.Errorf("the proof gives %+v, without %s", run.Gives, item)
			}
		}
		if st := s.answer("events"); st.Answer != "" || st.Status != triage.Pending {
			t.Errorf("an empty line answered events with %q", st.Answer)
		}
		topics := s.b.state.Topics
		if topics[triage.TopicOwner].Value == "" || topics[triage.TopicDomain].Value != "" || topics[triage.TopicMutation].Value != "" {
			t.Errorf("concluded: %+v", topics)
		}
	}
}

// TestSheetWantsTheValueFirst: a line that begins with none of the values is not sent, nor one
// without words; a number is a value; typing alone sends nothing.
func TestSheetWantsTheValueFirst(t *testing.T) {
	t.Parallel()
	s := atSheet(t, 80, 24)
	s.types("run 4711")
	s.line(t, "writer")
	for said, complaint := range map[string]string{"the run of Kim": "Begin with another, refused_run", "another": "Say after another how", "unknown": "Say who was asked", "anotherone: x": "Begin with"} {
		s.press("ctrl+u")
		s.types(said)
		s.press("enter")
		if rowOf(s.screen()) != "writer" {
			t.Fatalf("%q was taken:\n%s", said, s.screen())
		}
		s.want(t, complaint)
	}
	s.press("ctrl+u")
	s.types("2 run 4711, by its id")
	s.line(t, "audit")
	s.types("2 a write at 02:10")
	s.want(t, "● seen")
	if n := s.b.state.Seq; s.answer("run").Status == triage.Settled {
		t.Errorf("something was sent before the end, at entry %d", n)
	}
	s.press("esc")
	s.want(t, "Say these 6")
}

// TestRefusedLineComesBack: what of a sheet was refused comes back with its words, and nothing is
// recorded twice.
func TestRefusedLineComesBack(t *testing.T) {
	t.Parallel()
	s := atSheet(t, 140, 45)
	for name, said := range map[string]string{"run": "run 4711", "domain": "state-backend: it looks like it"} {
		s.line(t, name)
		s.types(said)
	}
	s.b.refuse = s.b.rb.ID + "/domain"
	for i := 0; s.answer("run").Status != triage.Settled && i < 12; i++ {
		s.key("enter")
	}
	s.want(t, "▸ domain", "state-backend: it looks like it", "! domain: ", "not now")
	if s.Sheet.Asks(s.b.rb.ID + "/run") {
		t.Errorf("what was recorded is asked again:\n%s", s.screen())
	}
	s.b.refuse = ""
	for i := 0; s.Sheet != nil && i < 12; i++ {
		s.key("enter")
	}
	if c := s.b.state.Topics[triage.TopicDomain]; c.Value != "state-backend" || c.Why != "it looks like it" {
		t.Errorf("domain = %+v", c)
	}
}

// TestNoteLeavesWhatWasFound: a note about what was read does not bring the sheet over it.
func TestNoteLeavesWhatWasFound(t *testing.T) {
	t.Parallel()
	s := staled(t)
	inc, err := s.Config.Start(t.Context(), screen.Start{Given: s.b.c.Params})
	if err != nil {
		t.Fatal(err)
	}
	s.enterIncident(inc)
	s.Update(tea.WindowSizeMsg{Width: 140, Height: 45})
	s.want(t, "▸ enter  Read")
	s.key("enter")
	s.want(t, "▸ enter  Say these 6")
	s.press("t")
	s.types("its runner is gone")
	s.key("enter")
	s.want(t, "▸ enter  Say these 6", "Note recorded")
	if s.Sheet != nil {
		t.Errorf("the sheet came over it:\n%s", s.screen())
	}
}

// toSheet is the sheet of words of a stale plan that was read.
func (s *stage) toSheet() {
	h := staled(s.t)
	h.begin(s.t)
	h.Update(tea.WindowSizeMsg{Width: s.W, Height: s.H})
	h.key("enter")
	s.clock, s.model = h.clock, h.model
}

// toTyped has a proof typed, and the first question in front.
func (s *stage) toTyped() {
	s.toSheet()
	s.types("run 4711 by @kim, commit 1a2b3c4d, PR 12")
	for i := 0; rowOf(s.screen()) != "audit" && i < 9; i++ {
		s.press("enter")
	}
	s.types("1 no call of the runner since 02:00, looked at 02:31")
}

// toClassOnSheet is the sheet that came by itself after the first, with the class in front.
func (s *stage) toClassOnSheet() {
	h := staled(s.t)
	h.begin(s.t)
	h.Update(tea.WindowSizeMsg{Width: s.W, Height: s.H})
	h.key("enter")
	for i := 0; !h.Sheet.Asks("stale-plan/class") && i < 20; i++ {
		if at := rowOf(h.screen()); !h.proposed(at) {
			h.types(h.says(at))
		}
		h.key("enter")
	}
	for i := 0; rowOf(h.screen()) != "class" && i < 9; i++ {
		h.key("up")
	}
	s.clock, s.model = h.clock, h.model
}

// send fills in the sheet in front as the case says, and sends it.
func (h *hand) send(t *testing.T) {
	t.Helper()
	f := h.Sheet
	for i := 0; h.Sheet == f && i < 20; i++ {
		if at := rowOf(h.screen()); !h.proposed(at) {
			h.types(h.says(at))
		}
		h.key("enter")
	}
	if h.Sheet == f {
		t.Fatalf("the sheet was not sent:\n%s", h.screen())
	}
}

// TestNamedReadBegins: the key that sends the words names the read that runs a program, and
// begins it once they are recorded. Where one of them was refused, it does not begin.
func TestNamedReadBegins(t *testing.T) {
	t.Parallel()
	for refuse, want := range map[string]int{"": 1, "stale-plan/invalid": 0} {
		h := atSheet(t, 110, 34)
		h.send(t)
		if h.want(t, "▸ invalid"); h.Sheet.Does != "send, then run a program: fresh" {
			t.Errorf("the key of the sheet does %q", h.Sheet.Does)
		}
		h.b.refuse = refuse
		for i := 0; h.answer("class").Status != triage.Settled && i < 20; i++ {
			if at := rowOf(h.screen()); !h.proposed(at) {
				h.types(h.says(at))
			}
			h.key("enter")
		}
		if got := h.answer("fresh").Attempts; got != want {
			t.Errorf("refused %q: fresh was read %d times, want %d\n%s", refuse, got, want, h.screen())
		}
	}
}

// TestGateComesByItself: after the last word the preview of the gate begins, once: put away, it
// waits for a key.
func TestGateComesByItself(t *testing.T) {
	t.Parallel()
	h := atSheet(t, 110, 34)
	h.send(t)
	h.send(t)
	h.key("enter")
	h.send(t)
	if h.gate == nil || h.b.state.Gates["stale-plan/apply"].Phase != triage.GateArmed {
		t.Fatalf("no gate is in front:\n%s", h.screen())
	}
	if !h.b.state.Gates["stale-plan/apply"].ByItself {
		t.Error("a preview that no key asked for is recorded as one that a person wanted")
	}
	h.clock.at = h.clock.at.Add(time.Minute)
	h.key("esc")
	if h.gate != nil {
		t.Fatalf("esc leaves the gate in front:\n%s", h.screen())
	}
	h.run.Front("stale-plan/approved")
	h.run.Decide()
	h.press("1")
	h.types(" and once more")
	h.key("enter")
	if h.gate != nil {
		t.Errorf("a gate that was put away comes again by itself:\n%s", h.screen())
	}
	h.key("enter")
	if g := h.b.state.Gates["stale-plan/apply"]; h.gate == nil || g.Phase != triage.GateArmed || g.ByItself {
		t.Errorf("the gate that a key asked for is recorded as %+v:\n%s", g, h.screen())
	}
}

// TestProposedWhateverIsSaid: a conclusion that the facts propose whatever a question of the sheet
// is answered stands on it too, and the read after it is named; atSheet shows one that waits.
func TestProposedWhateverIsSaid(t *testing.T) {
	t.Parallel()
	h := walkOf(t, "partial-apply")
	h.begin(t)
	h.want(t, "▸ enter  Say these 5: run, domain, owner, audit, mutation")
	h.key("enter")
	h.types("run 4711, commit none, PR none, policy none, approver none, runner none")
	for i := 0; h.Sheet != nil && i < 12; i++ {
		if h.key("enter"); h.Sheet != nil && i > 8 {
			t.Fatalf("not sent:\n%s", h.screen())
		}
	}
	if c := h.b.state.Topics[triage.TopicMutation]; c.Value != "yes" || h.answer("audit").Answer != "wrote" {
		t.Errorf("mutation = %+v, audit = %q", c, h.answer("audit").Answer)
	}
	if h.answer("left").Attempts != 1 {
		t.Errorf("the plan that the key named was not made:\n%s", h.screen())
	}
}

// TestRefusedLineComesBackAlone: what was recorded is off the sheet, which counts what is left.
func TestRefusedLineComesBackAlone(t *testing.T) {
	t.Parallel()
	h := atSheet(t, 110, 34)
	h.want(t, "Say these 6, ")
	h.b.refuse = "stale-plan/audit"
	for i := 0; len(h.Sheet.Fields) > 1 && i < 20; i++ {
		if at := rowOf(h.screen()); !h.proposed(at) {
			h.types(h.says(at))
		}
		h.key("enter")
	}
	if !h.Sheet.Asks("stale-plan/audit") || len(h.Sheet.Fields) != 1 {
		t.Fatalf("the refused line is not alone:\n%s", h.screen())
	}
	h.want(t, "── Say this ")
}
