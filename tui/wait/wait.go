package wait

import (
	"context"
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// Screen is shown while an incident is being opened, which for a drill means
// that a lab starts and something is broken in it.
type Screen struct {
	title   ink.Text
	started time.Time
	Seq     int
	Lines   []ink.Text
	feed    *screen.Feed
	Cancel  context.CancelFunc
	err     ink.Text
	from    screen.ID
	asked   *form.Form     // where its parameters were typed, nil where they were not
	told    bool           // a person saw what it is about and began it
	resumes string         // the incident that is resumed, "" for none
	second  func() tea.Cmd // opens it all the same
}

// OpenedMsg is an incident that was opened, or why it was not.
type OpenedMsg struct {
	Seq int
	Inc screen.Incident
	Err error
}

// progressMsg says that the feed has new lines.
type progressMsg struct{ feed *screen.Feed }

// Open runs how beside the loop and shows its progress meanwhile.
func (s *Screen) Open(env *screen.Env, title ink.Text, how func(ctx context.Context, progress func(string)) (screen.Incident, error)) tea.Cmd {
	// An incident outlives the wait for it: the program's end stops the opening,
	// and no longer anything once it is open.
	ctx, cancel := context.WithCancel(context.WithoutCancel(env.Tasks.Ctx))
	opening := context.AfterFunc(env.Tasks.Ctx, cancel)
	done := make(chan struct{})
	f := screen.NewFeed(done)
	from := env.At
	if from == screen.AtWait {
		from = screen.AtHome
	}
	*s = Screen{title: title, started: env.Now, Seq: s.Seq + 1, feed: f, Cancel: cancel, from: from}
	env.Show(screen.AtWait)
	seq := s.Seq
	return tea.Batch(f.Next(progressMsg{f}), env.Tasks.Start(func(context.Context) tea.Msg {
		defer close(done)
		inc, err := how(ctx, f.Line)
		if opening(); err == nil {
			env.Tasks.Keep(inc) // from here on it is let go whatever happens to the message
		}
		return OpenedMsg{Seq: seq, Inc: inc, Err: err}
	}))
}

// Resume opens an incident that is there already.
func (s *Screen) Resume(env *screen.Env, id string) tea.Cmd { return s.resumeWith(env, id, "") }

// resumeWith is resume with the reason for taking over.
func (s *Screen) resumeWith(env *screen.Env, id, why string) tea.Cmd {
	cmd := s.Open(env, ink.Say("Resuming %s", id), func(ctx context.Context, _ func(string)) (screen.Incident, error) {
		return env.Config.Resume(ctx, id, why)
	})
	s.resumes = id
	return cmd
}

// Drill starts a drill.
func (s *Screen) Drill(env *screen.Env, id, variant string) tea.Cmd {
	return s.Open(env, ink.Say("Preparing the drill %s", id), func(ctx context.Context, progress func(string)) (screen.Incident, error) {
		return env.Config.Drill(ctx, id, variant, progress)
	})
}

// StartWith opens an incident with a runbook. It asks for the parameters first where
// one must be given or one was found; its Look asks for them all the same. Where a
// program would run in a directory that is not trusted, that is settled before.
func (s *Screen) StartWith(env *screen.Env, r screen.Start) tea.Cmd {
	var fs []steps.Field
	if env.Config.Params != nil {
		fs = env.Config.Params(r.Runbook)
	}
	if !sheets.Asks(fs, r.Given, r.Seen) && (!r.Look || len(fs) == 0) {
		return s.start(env, r, settled{})
	}
	env.Sheet = s.ask(env, r, fs)
	return nil
}

func (s *Screen) ask(env *screen.Env, r screen.Start, fs []steps.Field) *form.Form {
	var f *form.Form
	f = sheets.StartForm(env, r.Runbook, fs, r.Given, "start", func(v map[string]string, text string) tea.Cmd {
		r.Given = v
		if text != "" {
			r.Text = text
		}
		return s.start(env, r, settled{asked: f})
	})
	return f
}

// settled is what a person said before an incident is opened.
type settled struct {
	asked  *form.Form        // for the parameters, nil where nothing was asked
	second bool              // another incident about the same is meant
	of     *screen.Untrusted // the directory that something was said of, nil for none
	trust  bool
	book   *screen.Untrusted // the runbook that is trusted, nil where nothing was said
}

// start opens the incident. Where an open one is about the same thing it says so first,
// unless a second one was asked for. What was asked for the parameters comes back where
// they are refused.
func (s *Screen) start(env *screen.Env, r screen.Start, said settled) tea.Cmd {
	c := env.Config
	cmd := s.Open(env, ink.Say("Opening an incident with %s", r.Runbook), func(ctx context.Context, _ func(string)) (screen.Incident, error) {
		if c.OpenFor != nil && !said.second {
			if same := c.OpenFor(r.Runbook, r.Given); len(same) > 0 {
				return nil, &alreadyOpen{same}
			}
		}
		if of, err := foreign(ctx, c, r.Runbook, said.book); err != nil {
			return nil, err
		} else if of != nil {
			return nil, &untrustedError{*of, r, said}
		}
		switch {
		case said.of != nil && said.trust:
			if err := c.Trust(ctx, *said.of); err != nil {
				return nil, err
			}
		case said.of == nil && c.Untrusted != nil:
			of, err := c.Untrusted(ctx, r.Runbook, r.Given)
			if err != nil {
				return nil, err
			}
			if of != nil {
				return nil, &untrustedError{*of, r, said}
			}
		}
		inc, err := c.Start(ctx, r)
		if err != nil || r.Continues == nil {
			return inc, err
		}
		if err := errors.Join(r.Continues.Link(ctx, inc), env.Tasks.Release(r.Continues.From)); err != nil {
			return nil, errors.Join(err, inc.Close())
		}
		return inc, nil
	})
	s.asked, s.told = said.asked, said.asked != nil || r.Seen
	s.second = func() tea.Cmd {
		said.second = true
		return s.start(env, r, said)
	}
	return cmd
}

// foreign settles whether a runbook may be begun with: it is trusted as a person said, or
// it is what they are asked about.
func foreign(ctx context.Context, c screen.Config, runbook string, trusted *screen.Untrusted) (*screen.Untrusted, error) {
	if trusted != nil {
		if err := c.Trust(ctx, *trusted); err != nil {
			return nil, err
		}
	}
	if c.Foreign == nil {
		return nil, nil
	}
	return c.Foreign(ctx, runbook)
}

func (w *Screen) take(msg progressMsg) tea.Cmd {
	if msg.feed != w.feed {
		return nil
	}
	for _, l := range w.feed.Drain() {
		w.Lines = append(w.Lines, ink.Shown(l))
	}
	if over := len(w.Lines) - 200; over > 0 {
		w.Lines = slices.Clone(w.Lines[over:])
	}
	return w.feed.Next(msg)
}

// Opened shows the incident, or lets go of one that is not waited for any more.
func (s *Screen) Opened(env *screen.Env, msg OpenedMsg) tea.Cmd {
	if msg.Seq != s.Seq || env.At != screen.AtWait {
		if msg.Inc == nil {
			return nil
		}
		return env.Tasks.Start(func(context.Context) tea.Msg { return screen.ReleaseMsg{Err: env.Tasks.Release(msg.Inc)} })
	}
	if msg.Err != nil {
		if s.tookOver(env, msg.Err) || s.isOpen(env, msg.Err) || s.offered(env, msg.Err) {
			return nil
		}
		if s.asked != nil { // nothing of what was typed is typed again
			env.Show(s.from)
			s.asked.Refuse(ink.Shown(msg.Err.Error()))
			env.Sheet = s.asked
			return nil
		}
		s.err = ink.Shown(msg.Err.Error())
		return nil
	}
	return env.Ask(screen.Enter{Incident: msg.Inc, Read: s.told})
}

// Press implements [screen.Screen].
func (s *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	leave := key.Matches(msg, env.Keys.Esc, env.Keys.Leave)
	if leave || s.err != "" && key.Matches(msg, env.Keys.Enter) {
		s.Cancel()
		s.Seq++ // what still arrives is late
		env.Show(s.from)
	}
	return nil
}

// Draw implements [screen.Screen].
func (s *Screen) Draw(env *screen.Env, w, h int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On(s.title))
	if s.err == "" {
		p.Add(th.Muted.On(ink.Say("%s so far. Press esc to give up.", ink.Ago(env.Now.Sub(s.started)))))
	}
	p.Gap()
	room := max(1, h-len(p.Rows)-1)
	if s.err != "" {
		room = max(1, room-5)
	}
	from := max(0, len(s.Lines)-room)
	for i, l := range s.Lines[from:] {
		i2, m := th.Muted, th.Faint.On("│ ")
		if from+i == len(s.Lines)-1 && s.err == "" {
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

// Paste implements [screen.Screen].
func (s *Screen) Paste(*screen.Env, string) tea.Cmd { return nil }

// Typing implements [screen.Screen].
func (s *Screen) Typing() bool { return false }

// Hear implements [screen.Screen].
func (s *Screen) Hear(env *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case progressMsg:
		return s.take(msg), true
	case OpenedMsg:
		return s.Opened(env, msg), true
	}
	return nil, false
}

// Hints implements [screen.Screen].
func (s *Screen) Hints(*screen.Env) screen.Hints {
	if s.err != "" {
		return screen.Hints{Move: "Back", Keys: []ink.Hint{{Key: "esc", Does: "back"}}}
	}
	return screen.Hints{Keys: []ink.Hint{{Key: "esc", Does: "give up"}}}
}
