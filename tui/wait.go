package tui

import (
	"context"
	"slices"
	"sync"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

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

// feed carries lines of progress to the loop: any number of writers, one signal.
type feed struct {
	mu    sync.Mutex
	lines []string
	news  chan struct{}
	done  <-chan struct{}
}

func (f *feed) line(s string) {
	f.mu.Lock()
	f.lines = append(f.lines, s)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *feed) drain() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.lines
	f.lines = nil
	return out
}

func (f *feed) wait() tea.Cmd {
	return func() tea.Msg {
		select {
		case <-f.news:
			return progressMsg{f}
		case <-f.done:
			return nil
		}
	}
}

// open runs how beside the loop and shows its progress meanwhile.
func (m *model) open(title ink.Text, how func(ctx context.Context, progress func(string)) (Incident, error)) tea.Cmd {
	// An incident outlives the wait for it: the program's end stops the opening,
	// and no longer anything once it is open.
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.crew.ctx))
	opening := context.AfterFunc(m.crew.ctx, cancel)
	done := make(chan struct{})
	f := &feed{news: make(chan struct{}, 1), done: done}
	from := m.at
	if from == atWait {
		from = atHome
	}
	m.wait = waitScreen{title: title, started: m.now, seq: m.wait.seq + 1, feed: f, cancel: cancel, from: from}
	m.at = atWait
	seq := m.wait.seq
	return tea.Batch(f.wait(), m.crew.start(func(context.Context) tea.Msg {
		defer close(done)
		inc, err := how(ctx, f.line)
		if opening(); err == nil {
			m.crew.keep(inc) // from here on it is let go whatever happens to the message
		}
		return openedMsg{seq, inc, err}
	}))
}

func (m *model) resume(id string) tea.Cmd { return m.resumeWith(id, "") }

// resumeWith is resume with the reason why somebody else goes on.
func (m *model) resumeWith(id, why string) tea.Cmd {
	cmd := m.open(ink.Say("Resuming %s", id), func(ctx context.Context, _ func(string)) (Incident, error) {
		return m.c.Resume(ctx, id, why)
	})
	m.wait.resumes = id
	return cmd
}

func (m *model) drill(id, variant string) tea.Cmd {
	return m.open(ink.Say("Preparing the drill %s", id), func(ctx context.Context, progress func(string)) (Incident, error) {
		return m.c.Drill(ctx, id, variant, progress)
	})
}

// startRunbook asks for the parameters first when one of them must be given.
func (m *model) startRunbook(id string) tea.Cmd { return m.startWith(id, nil, false) }

// startWith is startRunbook with parameters that are known; look asks for them
// all the same.
func (m *model) startWith(id string, given map[string]string, look bool) tea.Cmd {
	start := func(v map[string]string) tea.Cmd {
		return m.open(ink.Say("Opening an incident with %s", id), func(ctx context.Context, _ func(string)) (Incident, error) {
			return m.c.Start(ctx, id, v)
		})
	}
	var fs []steps.Field
	if m.c.Params != nil {
		fs = m.c.Params(id)
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
	m.form = paramsForm(id, fs, start)
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
	return w.feed.wait()
}

func (m *model) opened(msg openedMsg) tea.Cmd {
	if msg.seq != m.wait.seq || m.at != atWait {
		if msg.inc == nil {
			return nil
		}
		return m.crew.start(func(context.Context) tea.Msg { return releasedMsg{m.crew.release(msg.inc)} })
	}
	if msg.err != nil {
		if m.tookOver(msg.err) {
			return nil
		}
		m.wait.err = ink.Shown(msg.err.Error())
		return nil
	}
	m.enterIncident(msg.inc)
	return tea.Batch(m.listen(), m.lookAgain())
}

func (m *model) pressWait(msg tea.KeyPressMsg) tea.Cmd {
	leave := key.Matches(msg, m.keys.Esc, m.keys.Leave)
	if leave || m.wait.err != "" && key.Matches(msg, m.keys.Enter) {
		m.wait.cancel()
		m.wait.seq++ // what still arrives is late
		m.at = m.wait.from
	}
	return nil
}

func (s *waitScreen) draw(m *model, w, h int) []ink.Drawn {
	th := &m.th
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On(s.title))
	if s.err == "" {
		p.Add(th.Muted.On(ink.Say("%s so far. esc gives up.", ink.Ago(m.now.Sub(s.started)))))
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
