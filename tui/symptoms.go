package tui

import (
	"context"
	"handrail/tui/ink"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// symptomScreen is for who has no error text: symptoms are picked, and the
// runbooks that know them are ranked below.
type symptomScreen struct {
	all       []Symptom
	asked     bool
	picked    map[string]bool
	hits      []Hit
	seq       int
	at        int // of the rows: the symptoms that are shown, then the runbooks
	find      editor
	searching bool
	shown     []int
}

type (
	symptomsMsg struct{ all []Symptom }
	fittingMsg  struct {
		seq  int
		hits []Hit
	}
)

func (s *symptomScreen) open(env *Env) tea.Cmd {
	env.show(atSymptoms)
	if s.asked || env.c.Symptoms == nil {
		s.asked = true
		return nil
	}
	list := env.c.Symptoms
	return env.crew.start(func(context.Context) tea.Msg { return symptomsMsg{list()} })
}

func (s *symptomScreen) take(all []Symptom) {
	s.all, s.asked, s.picked = all, true, map[string]bool{}
	s.filter()
}

func (s *symptomScreen) filter() {
	words := strings.Fields(strings.ToLower(s.find.value()))
	s.shown = s.shown[:0]
	for i, x := range s.all {
		if hasWords(words, x.Text) {
			s.shown = append(s.shown, i)
		}
	}
	s.at = min(s.at, max(0, s.rows()-1))
}

func (s *symptomScreen) rows() int { return len(s.shown) + len(s.hits) }

// hit is the runbook that the cursor is on.
func (s *symptomScreen) hit() (Hit, bool) {
	if i := s.at - len(s.shown); i >= 0 && i < len(s.hits) {
		return s.hits[i], true
	}
	return Hit{}, false
}

// pick takes a symptom, or gives it back, and ranks the runbooks again.
func (s *symptomScreen) pick(env *Env) tea.Cmd {
	if s.at >= len(s.shown) {
		return nil
	}
	text := s.all[s.shown[s.at]].Text
	if s.picked[text] {
		delete(s.picked, text)
	} else {
		s.picked[text] = true
	}
	s.seq++
	seq, rank := s.seq, env.c.BySymptoms
	var seen []string
	for _, x := range s.all {
		if s.picked[x.Text] {
			seen = append(seen, x.Text)
		}
	}
	if rank == nil {
		return nil
	}
	return env.crew.start(func(context.Context) tea.Msg { return fittingMsg{seq, rank(seen)} })
}

func (s *symptomScreen) ranked(msg fittingMsg) {
	if msg.seq != s.seq {
		return
	}
	s.hits = msg.hits
	s.at = min(s.at, max(0, s.rows()-1))
}

func (s *symptomScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	switch {
	case s.searching:
		return s.typeSymptom(env, msg)
	case key.Matches(msg, k.Help):
		return env.Ask(OpenHelp{})
	case key.Matches(msg, k.Search):
		s.searching = true
	case key.Matches(msg, k.Esc) && s.find.value() != "":
		s.find = editor{}
		s.filter()
	case key.Matches(msg, k.Esc, k.Leave):
		env.show(atHome)
	case key.Matches(msg, k.Paste), msg.String() == "tab":
		env.show(atMatch)
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
			return env.Ask(Start{Runbook: h.Runbook})
		}
		return s.pick(env)
	}
	return nil
}

// typeSymptom takes what is typed after /. Enter picks what the cursor is on.
func (s *symptomScreen) typeSymptom(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		s.searching = false
		cmd := s.pick(env)
		s.find = editor{}
		s.filter()
		return cmd
	case "esc":
		s.searching, s.find = false, editor{}
	case "up":
		s.at = max(0, s.at-1)
	case "down":
		s.at = max(0, min(len(s.shown)-1, s.at+1))
	default:
		s.find.key(msg)
		s.at = 0
	}
	s.filter()
	return nil
}

func (s *symptomScreen) draw(env *Env, w, h int) []ink.Drawn {
	th := &env.th
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On("What do you see?"))
	p.Add(th.Muted.On("Pick all that is true. Unsure is a reason not to pick it."))
	if s.searching || s.find.value() != "" {
		row, _ := s.find.draw(th.Strong, w-4)
		caret := ink.Drawn("")
		if s.searching {
			caret = th.Accent.On("▏")
		}
		p.Add(th.Accent.On("/ ") + row + caret)
	}
	p.Gap()
	rows, at := s.list(env, w)
	rows, _ = ink.Window(rows, at-(h-len(p.Rows))/2, h-len(p.Rows))
	return append(p.Rows, rows...)
}

// list draws the symptoms and the runbooks, and says on which line the cursor is.
func (s *symptomScreen) list(env *Env, w int) (rows []ink.Drawn, cursor int) {
	th := &env.th
	p := ink.Page{W: w, Theme: th}
	switch {
	case !s.asked:
		p.Para(th.Muted, "looking …")
	case len(s.all) == 0:
		p.Para(th.Muted, "No runbook says what it looks like. tab, and paste an error instead.")
	case len(s.shown) == 0:
		p.Para(th.Muted, "Nothing here has these words. esc clears them.")
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
		p.Add(th.Title.On("RUNBOOKS THAT FIT") + "  " + th.Muted.On(ink.Say("%d", len(s.hits))))
	}
	for n, x := range s.hits {
		lead, pen := ink.Drawn("  "), th.Strong
		if n+len(s.shown) == s.at {
			cursor, lead, pen = len(p.Rows), th.Pick.On("▸ "), th.Pick
		}
		p.Add(lead + pen.On(ink.Shown(x.Runbook)) + "  " + th.Plain.On(ink.Shown(x.Title)))
		p.Item(ink.Blank(4)+th.Muted.On("because of  "), th.Plain, ink.Shown(x.Line))
	}
	if len(s.hits) > 0 {
		s.before(env, &p)
	}
	return p.Rows, cursor
}

// mostBefore bounds the incidents that are named.
const mostBefore = 3

// before names the newest incidents that were worked on with the first runbook.
func (s *symptomScreen) before(env *Env, p *ink.Page) {
	th := p.Theme
	var rows []IncidentRow
	for _, r := range env.known.Incidents {
		if r.Runbook == s.hits[0].Runbook {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b IncidentRow) int { return b.Opened.Compare(a.Opened) })
	p.Gap()
	p.Add(th.Title.On(ink.Say("INCIDENTS WITH %s BEFORE", strings.ToUpper(s.hits[0].Runbook))) + "  " + th.Muted.On(ink.Say("%d", len(rows))))
	for _, r := range rows[:min(len(rows), mostBefore)] {
		p.Add(ink.Spread("  "+th.Strong.On(ink.Shown(r.ID))+"  "+th.Plain.On(ink.Shown(r.Title))+" ", "  "+th.Muted.On(ink.Aged(env.now, r.Opened, ink.Or(ink.Shown(r.Outcome), "ongoing"))), p.W))
	}
}

func (s *symptomScreen) move() ink.Text {
	if h, ok := s.hit(); ok && !s.searching {
		return ink.Say("Start an incident with %s", h.Runbook)
	}
	switch {
	case s.at >= len(s.shown):
		return ""
	case s.picked[s.all[s.shown[s.at]].Text]:
		return "It is not so: give it back"
	}
	return "I see this"
}

func (s *symptomScreen) paste(env *Env, t string) tea.Cmd {
	if !s.searching {
		return env.Ask(Match{Text: t})
	}
	s.find.paste(strings.Join(strings.Fields(t), " "))
	s.filter()
	return nil
}

func (s *symptomScreen) typing() bool { return s.searching }

func (s *symptomScreen) hear(_ *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case symptomsMsg:
		s.take(msg.all)
	case fittingMsg:
		s.ranked(msg)
	default:
		return nil, false
	}
	return nil, true
}

func (s *symptomScreen) hints(env *Env) hintLine {
	k := &env.keys
	if s.searching {
		return hintLine{move: s.move(), keys: []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "clear"}}}
	}
	return hintLine{move: s.move(), always: hints(k.Help, k.Esc),
		keys: append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "space", Does: "pick"}}, append(hints(k.Search), ink.Hint{Key: "tab", Does: "paste an error"})...)}
}
