package wait

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// untrustedError keeps an incident from being opened until it is said whether programs
// may run in a directory.
type untrustedError struct {
	of    screen.Untrusted
	start screen.Start
	said  settled
}

func (e *untrustedError) Error() string { return e.of.Dir + " is not trusted" }

// offered opens the sheet that asks for trust, or for another directory, where this is
// why an incident could not be opened.
func (s *Screen) offered(env *screen.Env, err error) bool {
	var no *untrustedError
	if !errors.As(err, &no) {
		return false
	}
	env.Show(s.from)
	said := no.said
	if no.of.Runbook != "" || no.of.Wrong == "" {
		env.Sheet = sheets.TrustForm(no.of, func(yes bool) tea.Cmd {
			switch {
			case no.of.Runbook == "":
				said.of, said.trust = &no.of, yes
			case yes:
				said.book = &no.of
			default:
				return nil
			}
			return s.start(env, no.start, said)
		})
		return true
	}
	f := sheets.StartForm(env, no.start.Runbook, env.Config.Params(no.start.Runbook), no.start.Given, "start", func(v map[string]string, text string) tea.Cmd {
		r := no.start
		if text != "" {
			r.Text = text
		}
		if r.Given = v; v["dir"] == no.start.Given["dir"] {
			said.of = &no.of // it is meant
		}
		return s.start(env, r, said)
	})
	f.RefuseAt("dir", ink.Say("No program can run there: %s. Correct dir, or press enter to go on without plans.", no.of.Wrong))
	env.Sheet = f
	return true
}

// alreadyOpen is why no incident was opened: others are open for the same thing.
type alreadyOpen struct{ same []screen.SameTarget }

func (e *alreadyOpen) Error() string {
	return "incident " + e.same[0].ID + " is open for the same " + e.same[0].What
}

// sameForm offers to resume what is open, which a second incident would only disturb.
func (s *Screen) sameForm(env *screen.Env, e *alreadyOpen) *form.Form {
	second := s.second
	f := &form.Form{Title: "An incident is open for this already", Intro: []ink.Text{ink.Say("Both would be about %s.", e.same[0].What)}, Does: "go on"}
	var cs []form.Choice
	for _, x := range e.same[:min(len(e.same), mostSame)] {
		about := ink.Say("%s: %s, in %s, open for %s", x.ID, x.Title, x.Phase, ink.Ago(env.Now.Sub(x.Opened)))
		if x.Who != "" {
			about += ink.Say(", %s at the keyboard", x.Who)
		}
		f.Intro = append(f.Intro, about+".")
		cs = append(cs, form.Choice{Value: "resume " + x.ID})
	}
	f.Intro = append(f.Intro, "Two calls about one thing can undo each other's work.")
	cs = append(cs, form.Choice{Value: "open a second one"})
	f.Fields = []form.Field{form.OneOf("next", "what next", cs)}
	f.Submit = func(map[string]string) tea.Cmd {
		if at := f.Fields[0].Pick; at < len(cs)-1 {
			return s.Resume(env, e.same[at].ID)
		}
		return second()
	}
	return f
}

// mostSame bounds the incidents that are offered.
const mostSame = 5

// takeOverForm asks for the reason for taking over. It is asked after the incident was
// opened and let go again, since only its journal knows who was there last.
func (s *Screen) takeOverForm(env *screen.Env, id string, who *session.HandoverError) *form.Form {
	return &form.Form{Title: ink.Say("%s was at the keyboard last", who.From),
		Intro:  []ink.Text{ink.Say("You would continue as %s. Both names and the reason are recorded.", who.To)},
		Fields: []form.Field{form.Named("why", "why", "why you take over, in one sentence", true)},
		Submit: func(v map[string]string) tea.Cmd { return s.resumeWith(env, id, v["why"]) }}
}

// tookOver opens that form where this is why an incident could not be opened.
func (s *Screen) tookOver(env *screen.Env, err error) bool {
	var who *session.HandoverError
	if !errors.As(err, &who) || s.resumes == "" {
		return false
	}
	env.Show(s.from)
	env.Sheet = s.takeOverForm(env, s.resumes, who)
	return true
}

// isOpen opens the sheet about those that are open already, where that is why.
func (s *Screen) isOpen(env *screen.Env, err error) bool {
	var other *alreadyOpen
	if !errors.As(err, &other) {
		return false
	}
	env.Show(s.from)
	env.Sheet = s.sameForm(env, other)
	return true
}
