package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
)

// handOver asks who goes on and why, before this face lets go of the incident.
func (r *runScreen) handOver(env *Env) {
	if r.acting() {
		env.warn("warning", ink.Say("Not now: %s is acting, and somebody must see how that ends.", short(r.snap.State.Acting)))
		return
	}
	env.form = &form{title: "Hand over to somebody else",
		intro:  []ink.Text{"Both stand in the journal. Afterwards nobody is at the keyboard here, until somebody resumes it; this handrail lets go of it."},
		fields: []field{named("for", "to", "who goes on: a person or a team", true), named("why", "note", "why, what is under way, what comes next", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoHandOver, Person: v["for"], Text: v["why"]})
		}}
}

// handed leaves the incident once the hand-over is recorded.
func (m *model) handed(msg didMsg) tea.Cmd {
	if msg.err != nil || msg.in.Kind != triage.DoHandOver || m.inc == nil {
		return nil
	}
	id := ink.Shown(m.run.snap.State.Incident)
	quit := m.c.Open != nil
	cmd := m.depart(quit)
	m.notice = notice{text: ink.Say("✓ Handed over to %s. They go on with: handrail resume %s", msg.in.Person, id)}
	return cmd
}

// takeOverForm asks why somebody else goes on. It is asked after the incident was
// opened and let go again, since only its journal knows who was there last.
func (s *waitScreen) takeOverForm(env *Env, id string, who *session.HandoverError) *form {
	return &form{title: ink.Say("%s was at the keyboard last", who.From),
		intro:  []ink.Text{ink.Say("You would go on as %s. Both names and the reason are recorded, for everybody to see.", who.To)},
		fields: []field{named("why", "why", "why you go on, in one sentence", true)},
		submit: func(v map[string]string) tea.Cmd { return s.resumeWith(env, id, v["why"]) }}
}

// tookOver opens that form where this is why an incident could not be opened.
func (s *waitScreen) tookOver(env *Env, err error) bool {
	var who *session.HandoverError
	if !errors.As(err, &who) || s.resumes == "" {
		return false
	}
	env.show(s.from)
	env.form = s.takeOverForm(env, s.resumes, who)
	return true
}

// atKeyboard says who is at the keyboard where that changed, and warns where
// nobody is.
func atKeyboard(env *Env) ink.Drawn {
	th, s := &env.th, env.snap.State
	switch {
	case s.GivenOver():
		return th.Warn.On("! ") + th.Strong.On(ink.Say("handed over to %s", s.Handed.For))
	case s.Handed.Seq > 0:
		return th.Muted.On("keyboard ") + th.Plain.On(ink.Say("%s, after %s", s.Operator, s.Handed.From))
	}
	return ""
}

// nobodyHolds tells who looks on that nobody is at the keyboard, and how to be the
// one.
func nobodyHolds(env *Env) ink.Text {
	s := env.snap.State
	if !s.GivenOver() || s.Outcome != "" {
		return ""
	}
	return ink.Say("%s handed over to %s: %s. Nobody is at the keyboard; whoever goes on: handrail resume %s", s.Handed.From, s.Handed.For, s.Handed.Why, s.Incident)
}
