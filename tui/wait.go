package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/steps"
	"handrail/tui/ink"
)

// waitScreen is shown while an incident is being opened, which for a drill means
// that a lab starts and something is broken in it.
type waitScreen struct {
	title   ink.Text
	started time.Time
	seq     int
	lines   []ink.Text
	feed    *feed
	cancel  context.CancelFunc
	err     ink.Text
	from    screenID
	resumes string // the incident that is resumed, "" for none
}

type openedMsg struct {
	seq int
	inc Incident
	err error
}

// progressMsg says that the feed has new lines.
type progressMsg struct{ feed *feed }

// open runs how beside the loop and shows its progress meanwhile.
func (s *waitScreen) open(env *Env, title ink.Text, how func(ctx context.Context, progress func(string)) (Incident, error)) tea.Cmd {
	// An incident outlives the wait for it: the program's end stops the opening,
	// and no longer anything once it is open.
	ctx, cancel := context.WithCancel(context.WithoutCancel(env.crew.ctx))
	opening := context.AfterFunc(env.crew.ctx, cancel)
	done := make(chan struct{})
	f := newFeed(done)
	from := env.at
	if from == atWait {
		from = atHome
	}
	*s = waitScreen{title: title, started: env.now, seq: s.seq + 1, feed: f, cancel: cancel, from: from}
	env.show(atWait)
	seq := s.seq
	return tea.Batch(f.next(progressMsg{f}), env.crew.start(func(context.Context) tea.Msg {
		defer close(done)
		inc, err := how(ctx, f.line)
		if opening(); err == nil {
			env.crew.keep(inc) // from here on it is let go whatever happens to the message
		}
		return openedMsg{seq, inc, err}
	}))
}

func (s *waitScreen) resume(env *Env, id string) tea.Cmd { return s.resumeWith(env, id, "") }

// resumeWith is resume with the reason why somebody else goes on.
func (s *waitScreen) resumeWith(env *Env, id, why string) tea.Cmd {
	cmd := s.open(env, ink.Say("Resuming %s", id), func(ctx context.Context, _ func(string)) (Incident, error) {
		return env.c.Resume(ctx, id, why)
	})
	s.resumes = id
	return cmd
}

func (s *waitScreen) drill(env *Env, id, variant string) tea.Cmd {
	return s.open(env, ink.Say("Preparing the drill %s", id), func(ctx context.Context, progress func(string)) (Incident, error) {
		return env.c.Drill(ctx, id, variant, progress)
	})
}

// startRunbook asks for the parameters first when one of them must be given.
func (s *waitScreen) startRunbook(env *Env, id string) tea.Cmd {
	return s.startWith(env, id, nil, false)
}

// startWith is startRunbook with parameters that are known; look asks for them
// all the same.
func (s *waitScreen) startWith(env *Env, id string, given map[string]string, look bool) tea.Cmd {
	start := func(v map[string]string) tea.Cmd {
		return s.open(env, ink.Say("Opening an incident with %s", id), func(ctx context.Context, _ func(string)) (Incident, error) {
			return env.c.Start(ctx, id, v)
		})
	}
	var fs []steps.Field
	if env.c.Params != nil {
		fs = env.c.Params(id)
	}
	fs = slices.Clone(fs)
	for i := range fs {
		if v, ok := given[fs[i].Name]; ok {
			fs[i].Default = v
		}
	}
	must := slices.ContainsFunc(fs, func(f steps.Field) bool { return f.Required && f.Default == "" })
	if !must && (!look || len(fs) == 0) {
		return start(given)
	}
	env.form = paramsForm(id, fs, start)
	return nil
}

func paramsForm(id string, fs []steps.Field, start func(map[string]string) tea.Cmd) *form {
	f := &form{title: ink.Say("Start %s", id), intro: []ink.Text{"What is it about?"}}
	for _, p := range fs {
		fl := named(p.Name, ink.Shown(p.Name), ink.Shown(p.Doc), p.Required)
		if p.Type == steps.Enum {
			fl.choices, fl.pick = []choice{}, slices.Index(p.Values, p.Default)
			for _, v := range p.Values {
				fl.choices = append(fl.choices, choice{value: v, help: ""})
			}
		} else {
			fl.edit.set(p.Default)
			fl.check = func(s string) ink.Text {
				if _, err := steps.ParseValue(p.Type, s); err != nil {
					return ink.Shown(err.Error())
				}
				return ""
			}
		}
		f.fields = append(f.fields, fl)
	}
	f.submit = func(v map[string]string) tea.Cmd {
		for k, s := range v {
			if s == "" {
				delete(v, k) // absent, so that the default counts
			}
		}
		return start(v)
	}
	return f
}

func (w *waitScreen) take(msg progressMsg) tea.Cmd {
	if msg.feed != w.feed {
		return nil
	}
	for _, l := range w.feed.drain() {
		w.lines = append(w.lines, ink.Shown(l))
	}
	if over := len(w.lines) - 200; over > 0 {
		w.lines = slices.Clone(w.lines[over:])
	}
	return w.feed.next(msg)
}

func (s *waitScreen) opened(env *Env, msg openedMsg) tea.Cmd {
	if msg.seq != s.seq || env.at != atWait {
		if msg.inc == nil {
			return nil
		}
		return env.crew.start(func(context.Context) tea.Msg { return releasedMsg{env.crew.release(msg.inc)} })
	}
	if msg.err != nil {
		if s.tookOver(env, msg.err) {
			return nil
		}
		s.err = ink.Shown(msg.err.Error())
		return nil
	}
	return env.Ask(Enter{Incident: msg.inc})
}

func (s *waitScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	leave := key.Matches(msg, env.keys.Esc, env.keys.Leave)
	if leave || s.err != "" && key.Matches(msg, env.keys.Enter) {
		s.cancel()
		s.seq++ // what still arrives is late
		env.show(s.from)
	}
	return nil
}

func (s *waitScreen) draw(env *Env, w, h int) []ink.Drawn {
	th := &env.th
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On(s.title))
	if s.err == "" {
		p.Add(th.Muted.On(ink.Say("%s so far. esc gives up.", ink.Ago(env.now.Sub(s.started)))))
	}
	p.Gap()
	room := max(1, h-len(p.Rows)-1)
	if s.err != "" {
		room = max(1, room-5)
	}
	from := max(0, len(s.lines)-room)
	for i, l := range s.lines[from:] {
		i2, m := th.Muted, th.Faint.On("│ ")
		if from+i == len(s.lines)-1 && s.err == "" {
			i2, m = th.Plain, th.Accent.On("│ ")
		}
		p.Add(m + i2.On(l))
	}
	if s.err != "" {
		p.Gap()
		p.Item(th.Bad.On("✗ "), th.Plain, s.err)
	}
	return p.Rows
}

func (s *waitScreen) paste(*Env, string) tea.Cmd { return nil }

func (s *waitScreen) typing() bool { return false }

func (s *waitScreen) hear(env *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case progressMsg:
		return s.take(msg), true
	case openedMsg:
		return s.opened(env, msg), true
	}
	return nil, false
}

func (s *waitScreen) hints(*Env) hintLine {
	if s.err != "" {
		return hintLine{move: "Back", keys: []ink.Hint{{Key: "esc", Does: "back"}}}
	}
	return hintLine{keys: []ink.Hint{{Key: "esc", Does: "give up"}}}
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
