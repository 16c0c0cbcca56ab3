package tui

import (
	"context"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
)

// evidenceScreen lists every entry, finds some, and shows one with its raw
// artifacts.
type evidenceScreen struct {
	snap   session.Snapshot
	found  []int // into the timeline, newest last
	at     int   // into found
	find   editor
	typing bool
	detail bool
	blob   int
	pager  pager
	loaded string // sha of what the pager shows
	err    text
	cover  text // how the fourteen items of evidence stand
}

type artifactMsg struct {
	sha, body string
	err       error
}

func (e *evidenceScreen) open(s session.Snapshot) {
	find := e.find
	*e = evidenceScreen{snap: s, find: find, blob: -1, cover: coverage(s.State)}
	e.filter()
	e.at = max(0, len(e.found)-1)
}

// coverage sums up in a line what evidence is there and what is not.
func coverage(st triage.State) text {
	n := map[triage.Standing]int{}
	var missing []string
	codes := len(triage.EvidenceItems())
	captures, got := 0, 0
	for i, c := range triage.Coverage(st) {
		switch {
		case i >= codes:
			captures++
			if c.Standing == triage.Captured {
				got++
			}
			continue
		case c.Standing == triage.Missing:
			missing = append(missing, c.Item)
		}
		n[c.Standing]++
	}
	t := say("%d of %d captured", n[triage.Captured], codes-n[triage.NotApplicable])
	if w := n[triage.Forgone]; w > 0 {
		t += say(", %d waived", w)
	}
	if len(missing) > 0 {
		t += say(", missing %s", strings.Join(missing, " "))
	}
	return t + say("; required captures %d/%d", got, captures)
}

func (e *evidenceScreen) filter() {
	want := strings.ToLower(e.find.value())
	e.found = e.found[:0]
	for i, m := range e.snap.State.Timeline {
		if want == "" || strings.Contains(strings.ToLower(m.Text+" "+m.Type+" "+m.Step+" "+m.Actor), want) {
			e.found = append(e.found, i)
		}
	}
	e.at = min(e.at, max(0, len(e.found)-1))
}

// gist is the text of an entry without the runbook's name before the step's.
func gist(m triage.Moment) text {
	if rest, ok := strings.CutPrefix(m.Text, m.Step); ok && m.Step != "" {
		return short(m.Step) + inline(rest)
	}
	return shown(m.Text)
}

func (e *evidenceScreen) moment() (triage.Moment, bool) {
	if len(e.found) == 0 {
		return triage.Moment{}, false
	}
	return e.snap.State.Timeline[e.found[e.at]], true
}

func (m *model) pressEvidence(msg tea.KeyPressMsg) tea.Cmd {
	e, k := &m.evidence, &m.keys
	switch {
	case e.typing:
		e.search(msg)
	case key.Matches(msg, k.Help):
		m.openHelp()
	case e.detail:
		return m.pressDetail(msg)
	case key.Matches(msg, k.Esc, k.Leave, k.Evidence):
		m.at = atRun
	case key.Matches(msg, k.Search):
		e.typing = true
	case key.Matches(msg, k.Up):
		e.at = max(0, e.at-1)
	case key.Matches(msg, k.Down):
		e.at = max(0, min(len(e.found)-1, e.at+1))
	case key.Matches(msg, k.PageUp):
		e.at = max(0, e.at-10)
	case key.Matches(msg, k.PageDown):
		e.at = max(0, min(len(e.found)-1, e.at+10))
	case key.Matches(msg, k.Enter):
		if _, ok := e.moment(); ok {
			e.detail, e.blob, e.loaded, e.err = true, -1, "", ""
			e.pager = pager{}
			return m.nextBlob(1)
		}
	}
	return nil
}

func (e *evidenceScreen) search(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		e.typing = false
	case "esc":
		e.typing = false
		e.find = editor{}
	default:
		e.find.key(msg)
	}
	e.filter()
}

func (e *evidenceScreen) paste(s string) {
	if e.typing {
		e.find.paste(strings.Join(strings.Fields(s), " "))
		e.filter()
	}
}

func (m *model) pressDetail(msg tea.KeyPressMsg) tea.Cmd {
	e, k := &m.evidence, &m.keys
	h := max(1, m.h-16)
	switch {
	case key.Matches(msg, k.Esc, k.Leave, k.Enter):
		e.detail = false
	case key.Matches(msg, k.Up):
		e.pager.scroll(-1, h)
	case key.Matches(msg, k.Down):
		e.pager.scroll(1, h)
	case key.Matches(msg, k.PageUp):
		e.pager.scroll(-h, h)
	case key.Matches(msg, k.PageDown):
		e.pager.scroll(h, h)
	case key.Matches(msg, k.Next):
		return m.nextBlob(1)
	case key.Matches(msg, k.Prev):
		return m.nextBlob(-1)
	}
	return nil
}

// nextBlob loads another raw artifact of the entry.
func (m *model) nextBlob(by int) tea.Cmd {
	e, inc := &m.evidence, m.inc
	mo, _ := e.moment()
	blobs := e.snap.Blobs[mo.Seq]
	if len(blobs) == 0 {
		return nil
	}
	e.blob = (max(e.blob+by, -len(blobs)) + len(blobs)) % len(blobs)
	sha := blobs[e.blob].SHA
	return m.crew.start(func(context.Context) tea.Msg {
		body, err := inc.Artifact(sha)
		return artifactMsg{sha, body, err}
	})
}

func (e *evidenceScreen) take(msg artifactMsg, w int) {
	e.loaded, e.err = msg.sha, ""
	if msg.err != nil {
		e.err = shown(msg.err.Error())
		e.pager.set("", w)
		return
	}
	e.pager.set(block(msg.body), w)
}

func (e *evidenceScreen) draw(th *theme, w, h int) []drawn {
	p := page{w: w, th: th}
	p.add("")
	if e.detail {
		e.drawDetail(&p, h)
		return p.rows
	}
	total := len(e.snap.State.Timeline)
	head := th.title.on("EVIDENCE") + "  " + th.muted.on(say("%d of %d entries", len(e.found), total))
	p.add(head)
	p.add(th.muted.on("E1-E14  ") + th.plain.on(e.cover))
	if e.typing || e.find.value() != "" {
		row, _ := e.find.draw(th.strong, w-10)
		caret := drawn("")
		if e.typing {
			caret = th.accent.on("▏")
		}
		p.add(th.accent.on("/ ") + row + caret)
	}
	p.gap()
	if len(e.found) == 0 {
		p.para(th.muted, "Nothing matches. esc clears the search.")
		return p.rows
	}
	room := max(1, h-len(p.rows))
	from := max(0, min(e.at-room/2, len(e.found)-room))
	for i := from; i < min(len(e.found), from+room); i++ {
		p.add(e.row(th, e.snap.State.Timeline[e.found[i]], w, i == e.at))
	}
	return p.rows
}

func (e *evidenceScreen) row(th *theme, m triage.Moment, w int, on bool) drawn {
	lead, ink := drawn("  "), th.plain
	if m.Type == "probe.start" {
		ink = th.muted
	}
	if on {
		lead, ink = th.pick.on("▸ "), th.pick
	}
	sym := drawn("  ")
	if m.Level != "" {
		k := th.level(m.Level)
		sym = k.ink.on(k.symbol) + " "
	}
	raw := drawn("")
	if n := len(e.snap.Blobs[m.Seq]); n > 0 {
		raw = "  " + th.muted.on(say("%d raw", n))
	}
	left := lead + th.muted.on(say("%4d  ", m.Seq)) + th.muted.on(clock(m.At)) + "  " + fit(th.accent.on(shown(m.Type)), 13) + "  " + sym + ink.on(gist(m)) + " "
	return spread(left, raw, w)
}

func (e *evidenceScreen) drawDetail(p *page, h int) {
	th := p.th
	m, _ := e.moment()
	p.add(th.title.on(say("ENTRY %d", m.Seq)) + "  " + th.accent.on(shown(m.Type)) + "  " + th.muted.on(text(m.At.UTC().Format("2006-01-02 15:04:05Z"))))
	p.para(th.strong, shown(m.Text))
	rows := []pair{{"by", or(shown(m.Actor), "handrail"), th.plain}}
	if m.Step != "" {
		rows = append(rows, pair{"step", shown(m.Step), th.plain})
	}
	p.gap()
	p.pairs(0, 0, 8, rows)
	blobs := e.snap.Blobs[m.Seq]
	if len(blobs) == 0 {
		p.gap()
		p.para(th.muted, "This entry has no raw artifact.")
		return
	}
	p.head("RAW ARTIFACTS")
	for i, b := range blobs {
		lead := drawn("  ")
		if i == e.blob {
			lead = th.pick.on("▸ ")
		}
		p.add(lead + th.plain.on(shown(b.Role)) + "  " + th.muted.on(say("%d bytes  %s  sha256 %.12s", b.Size, b.Media, b.SHA)))
	}
	p.gap()
	if e.err != "" {
		p.item(th.bad.on("✗ "), th.plain, e.err)
	}
	for _, r := range e.pager.draw(th.plain, max(1, h-len(p.rows))) {
		p.add(th.faint.on("│ ") + r)
	}
}

func (e *evidenceScreen) moveAndKeys() (text, []hint) {
	switch {
	case e.typing:
		return "Keep this search", []hint{{"esc", "clear it"}}
	case e.detail:
		return "Back to the list", []hint{{"↑ ↓ pgup pgdn", "scroll"}, {"[ ]", "other artifact"}, {"esc", "back"}}
	case len(e.found) == 0:
		return "", []hint{{"/", "search"}, {"esc", "back"}}
	}
	return "Open this entry", []hint{{"↑ ↓", "choose"}, {"/", "search"}, {"?", "help"}, {"esc", "back to the step"}}
}
