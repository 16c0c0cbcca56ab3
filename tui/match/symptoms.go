package match

import (
	"context"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// Symptoms is for who has no error text: symptoms are picked, and the
// runbooks that know them are ranked below.
type Symptoms struct {
	all       []screen.Symptom
	asked     bool
	picked    map[string]bool
	Hits      []screen.Hit
	Seq       int
	at        int // of the rows: the symptoms that are shown, then the runbooks
	find      form.Editor
	searching bool
	shown     []int
}

type (
	symptomsMsg struct{ all []screen.Symptom }
	FittingMsg  struct {
		Seq  int
		hits []screen.Hit
	}
)

// Open implements [screen.Opener].
func (s *Symptoms) Open(env *screen.Env) tea.Cmd {
	env.Show(screen.AtSymptoms)
	if s.asked || env.Config.Symptoms == nil {
		s.asked = true
		return nil
	}
	list := env.Config.Symptoms
	return env.Tasks.Start(func(context.Context) tea.Msg { return symptomsMsg{list()} })
}

func (s *Symptoms) take(all []screen.Symptom) {
	s.all, s.asked, s.picked = all, true, map[string]bool{}
	s.filter()
}

func (s *Symptoms) filter() {
	words := strings.Fields(strings.ToLower(s.find.Value()))
	s.shown = s.shown[:0]
	for i, x := range s.all {
		if form.HasWords(words, x.Text) {
			s.shown = append(s.shown, i)
		}
	}
	s.at = min(s.at, max(0, s.rows()-1))
}

func (s *Symptoms) rows() int { return len(s.shown) + len(s.Hits) }

// hit is the runbook that the cursor is on.
func (s *Symptoms) hit() (screen.Hit, bool) {
	if i := s.at - len(s.shown); i >= 0 && i < len(s.Hits) {
		return s.Hits[i], true
	}
	return screen.Hit{}, false
}

// pick takes a symptom, or gives it back, and ranks the runbooks again.
func (s *Symptoms) pick(env *screen.Env) tea.Cmd {
	if s.at >= len(s.shown) {
		return nil
	}
	text := s.all[s.shown[s.at]].Text
	if s.picked[text] {
		delete(s.picked, text)
	} else {
		s.picked[text] = true
	}
	s.Seq++
	seq, rank := s.Seq, env.Config.BySymptoms
	var seen []string
	for _, x := range s.all {
		if s.picked[x.Text] {
			seen = append(seen, x.Text)
		}
	}
	if rank == nil {
		return nil
	}
	return env.Tasks.Start(func(context.Context) tea.Msg { return FittingMsg{seq, rank(seen)} })
}

func (s *Symptoms) ranked(msg FittingMsg) {
	if msg.Seq != s.Seq {
		return
	}
	s.Hits = msg.hits
	s.at = min(s.at, max(0, s.rows()-1))
}

// Press implements [screen.Screen].
func (s *Symptoms) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	switch {
	case s.searching:
		return s.typeSymptom(env, msg)
	case key.Matches(msg, k.Help):
		return env.Ask(screen.OpenHelp{})
	case key.Matches(msg, k.Search):
		s.searching = true
	case key.Matches(msg, k.Esc) && s.find.Value() != "":
		s.find = form.Editor{}
		s.filter()
	case key.Matches(msg, k.Esc, k.Leave):
		env.Show(screen.AtHome)
	case key.Matches(msg, k.Paste), msg.String() == "tab":
		env.Show(screen.AtMatch)
	case key.Matches(msg, k.Up):
		s.at = max(0, s.at-1)
	case key.Matches(msg, k.Down):
		s.at = max(0, min(s.rows()-1, s.at+1))
	case key.Matches(msg, k.First):
		s.at = 0
	case key.Matches(msg, k.Last):
		s.at = max(0, s.rows()-1)
	case msg.String() == "space":
		return s.pick(env)
	case key.Matches(msg, k.Enter):
		if h, ok := s.hit(); ok {
			return env.Ask(screen.Start{Runbook: h.Runbook})
		}
		return s.pick(env)
	}
	return nil
}

// typeSymptom takes what is typed after /. Enter picks what the cursor is on.
func (s *Symptoms) typeSymptom(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		s.searching = false
		return s.pick(env)
	case "esc":
		s.searching, s.find = false, form.Editor{}
	case "up":
		s.at = max(0, s.at-1)
	case "down":
		s.at = max(0, min(len(s.shown)-1, s.at+1))
	default:
		s.find.Key(msg)
		s.at = 0
	}
	s.filter()
	return nil
}

// Draw implements [screen.Screen].
func (s *Symptoms) Draw(env *screen.Env, w, h int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On("What do you see?"))
	p.Add(th.Muted.On("Pick all that apply. If you are unsure, do not pick it."))
	if line := s.find.Search(th, w-4, s.searching); line != "" {
		p.Add(line)
	}
	p.Gap()
	rows, at := s.list(env, w)
	rows, _ = ink.Window(rows, at-(h-len(p.Rows))/2, h-len(p.Rows))
	return append(p.Rows, rows...)
}

// list draws the symptoms and the runbooks, and says on which line the cursor is.
func (s *Symptoms) list(env *screen.Env, w int) (rows []ink.Drawn, cursor int) {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	switch {
	case !s.asked:
		p.Para(th.Muted, "loading …")
	case len(s.all) == 0:
		p.Para(th.Muted, "No runbook lists symptoms. Press tab and paste an error instead.")
	case len(s.shown) == 0:
		p.Para(th.Muted, "No match. Press esc to clear the search.")
	}
	for _, x := range s.all { // what was picked stays in sight while the list is narrowed
		if s.picked[x.Text] && !slices.ContainsFunc(s.shown, func(i int) bool { return s.all[i].Text == x.Text }) {
			p.Item("  "+th.Good.On("[✓] "), th.Muted, ink.Shown(x.Text))
		}
	}
	for n, i := range s.shown {
		x := s.all[i]
		lead, pen, box := ink.Drawn("  "), th.Plain, th.Muted.On("[ ] ")
		if s.picked[x.Text] {
			box = th.Good.On("[✓] ")
		}
		if n == s.at {
			cursor, lead, pen = len(p.Rows), th.Pick.On("▸ "), th.Pick
		}
		p.Item(lead+box, pen, ink.Shown(x.Text))
	}
	if len(s.picked) > 0 {
		p.Gap()
		p.Add(th.Title.On("MATCHING RUNBOOKS") + "  " + th.Muted.On(ink.Say("%d", len(s.Hits))))
	}
	for n, x := range s.Hits {
		lead, pen := ink.Drawn("  "), th.Strong
		if n+len(s.shown) == s.at {
			cursor, lead, pen = len(p.Rows), th.Pick.On("▸ "), th.Pick
		}
		p.Add(lead + pen.On(ink.Shown(x.Runbook)) + "  " + th.Plain.On(ink.Shown(x.Title)))
		p.Item(ink.Blank(4)+th.Muted.On("because of  "), th.Plain, ink.Shown(x.Line))
	}
	if len(s.Hits) > 0 {
		s.before(env, &p)
	}
	return p.Rows, cursor
}

// mostBefore bounds the incidents that are named.
const mostBefore = 3

// before names the newest incidents that were worked on with the first runbook.
func (s *Symptoms) before(env *screen.Env, p *ink.Page) {
	th := p.Theme
	var rows []screen.IncidentRow
	for _, r := range env.Known.Incidents {
		if r.Runbook == s.Hits[0].Runbook && r.Drill == "" {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b screen.IncidentRow) int { return b.Opened.Compare(a.Opened) })
	p.Gap()
	p.Add(th.Title.On(ink.Say("EARLIER INCIDENTS WITH %s", strings.ToUpper(s.Hits[0].Runbook))) + "  " + th.Muted.On(ink.Say("%d", len(rows))))
	for _, r := range rows[:min(len(rows), mostBefore)] {
		p.Add(ink.Spread("  "+th.Strong.On(ink.Shown(r.ID))+"  "+th.Plain.On(ink.Shown(r.Title))+" ", "  "+th.Muted.On(ink.Aged(env.Now, r.Opened, ink.Or(ink.Shown(r.Outcome), "ongoing"))), p.W))
	}
}

func (s *Symptoms) move() ink.Text {
	if h, ok := s.hit(); ok && !s.searching {
		return ink.Say("Start an incident with %s", h.Runbook)
	}
	switch {
	case s.at >= len(s.shown):
		return ""
	case s.picked[s.all[s.shown[s.at]].Text]:
		return "Remove this symptom"
	}
	return "I see this"
}

// Paste implements [screen.Screen].
func (s *Symptoms) Paste(env *screen.Env, t string) tea.Cmd {
	if !s.searching {
		return env.Ask(screen.Match{Text: t})
	}
	s.find.Paste(strings.Join(strings.Fields(t), " "))
	s.filter()
	return nil
}

// Typing implements [screen.Screen].
func (s *Symptoms) Typing() bool { return s.searching }

// Hear implements [screen.Screen].
func (s *Symptoms) Hear(_ *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case symptomsMsg:
		s.take(msg.all)
	case FittingMsg:
		s.ranked(msg)
	default:
		return nil, false
	}
	return nil, true
}

// Hints implements [screen.Screen].
func (s *Symptoms) Hints(env *screen.Env) screen.Hints {
	k := &env.Keys
	if s.searching {
		return screen.Hints{Move: s.move(), Keys: []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "clear"}}}
	}
	return screen.Hints{Move: s.move(), Always: keymap.Hints(k.Help, k.Esc),
		Keys: append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "space", Does: "pick"}}, append(keymap.Hints(k.Search), ink.Hint{Key: "tab", Does: "paste an error"})...)}
}
