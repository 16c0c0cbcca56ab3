package wait

import (
	"context"
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/steps"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
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
	resumes string // the incident that is resumed, "" for none
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
	ctx, cancel := context.WithCancel(context.WithoutCancel(env.Crew.Ctx))
	opening := context.AfterFunc(env.Crew.Ctx, cancel)
	done := make(chan struct{})
	f := screen.NewFeed(done)
	from := env.At
	if from == screen.AtWait {
		from = screen.AtHome
	}
	*s = Screen{title: title, started: env.Now, Seq: s.Seq + 1, feed: f, Cancel: cancel, from: from}
	env.Show(screen.AtWait)
	seq := s.Seq
	return tea.Batch(f.Next(progressMsg{f}), env.Crew.Start(func(context.Context) tea.Msg {
		defer close(done)
		inc, err := how(ctx, f.Line)
		if opening(); err == nil {
			env.Crew.Keep(inc) // from here on it is let go whatever happens to the message
		}
		return OpenedMsg{Seq: seq, Inc: inc, Err: err}
	}))
}

// Resume opens an incident that is there already.
func (s *Screen) Resume(env *screen.Env, id string) tea.Cmd { return s.resumeWith(env, id, "") }

// resumeWith is resume with the reason why somebody else goes on.
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

// StartWith opens an incident with a runbook. It asks for the parameters first
// where one must be given that is not known; look asks for them all the same.
func (s *Screen) StartWith(env *screen.Env, id string, given map[string]string, look bool) tea.Cmd {
	start := func(v map[string]string) tea.Cmd {
		return s.Open(env, ink.Say("Opening an incident with %s", id), func(ctx context.Context, _ func(string)) (screen.Incident, error) {
			return env.Config.Start(ctx, id, v)
		})
	}
	var fs []steps.Field
	if env.Config.Params != nil {
		fs = env.Config.Params(id)
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
	env.Sheet = paramsForm(id, fs, start)
	return nil
}

func paramsForm(id string, fs []steps.Field, start func(map[string]string) tea.Cmd) *form.Form {
	f := &form.Form{Title: ink.Say("Start %s", id), Intro: []ink.Text{"What is it about?"}}
	for _, p := range fs {
		fl := form.Named(p.Name, ink.Shown(p.Name), ink.Shown(p.Doc), p.Required)
		if p.Type == steps.Enum {
			fl.Choices, fl.Pick = []form.Choice{}, slices.Index(p.Values, p.Default)
			for _, v := range p.Values {
				fl.Choices = append(fl.Choices, form.Choice{Value: v, Help: ""})
			}
		} else {
			fl.Edit.Set(p.Default)
			fl.Check = func(s string) ink.Text {
				if _, err := steps.ParseValue(p.Type, s); err != nil {
					return ink.Shown(err.Error())
				}
				return ""
			}
		}
		f.Fields = append(f.Fields, fl)
	}
	f.Submit = func(v map[string]string) tea.Cmd {
		for k, s := range v {
			if s == "" {
				delete(v, k) // absent, so that the default counts
			}
		}
		return start(v)
	}
	return f
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
		return env.Crew.Start(func(context.Context) tea.Msg { return screen.ReleaseMsg{Err: env.Crew.Release(msg.Inc)} })
	}
	if msg.Err != nil {
		if s.tookOver(env, msg.Err) {
			return nil
		}
		s.err = ink.Shown(msg.Err.Error())
		return nil
	}
	return env.Ask(screen.Enter{Incident: msg.Inc})
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
		p.Add(th.Muted.On(ink.Say("%s so far. esc gives up.", ink.Ago(env.Now.Sub(s.started)))))
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

// takeOverForm asks why somebody else goes on. It is asked after the incident was
// opened and let go again, since only its journal knows who was there last.
func (s *Screen) takeOverForm(env *screen.Env, id string, who *session.HandoverError) *form.Form {
	return &form.Form{Title: ink.Say("%s was at the keyboard last", who.From),
		Intro:  []ink.Text{ink.Say("You would go on as %s. Both names and the reason are recorded, for everybody to see.", who.To)},
		Fields: []form.Field{form.Named("why", "why", "why you go on, in one sentence", true)},
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
