package tui

func (m *model) evidenceKeys() (text, []hint) {
	e, k := &m.evidence, &m.keys
	switch {
	case e.typing:
		return "Keep this search", []hint{{"esc", "clear it"}}
	case e.report && (e.view == nil || e.view.file == nil):
		return "", nil
	case e.detail && e.view != nil:
		return m.textKeys()
	case e.detail:
		return "Back to the list", nil
	case len(e.found) == 0:
		return "", []hint{{"/", "search"}, {"esc", "everything"}}
	}
	return "Open this entry", append([]hint{{"↑ ↓", "choose"}}, hints(k.Search, k.Kinds, k.Report, k.Seal)...)
}

// textKeys are what enter does in an artifact, and the keys that do something.
func (m *model) textKeys() (text, []hint) {
	e, k := &m.evidence, &m.keys
	v := e.view
	switch {
	case v.find.typing:
		return "Keep what was found", []hint{{"esc", "back to where it began"}}
	case v.asking:
		return "Go to this line", []hint{{"0-9", "its number"}, {"esc", "stay here"}}
	}
	keys := []hint{{"↑ ↓ pgup pgdn", "scroll"}}
	if v.find.typed != "" {
		keys = []hint{{shown(k.Again.Help().Key + " " + k.Against.Help().Key), "next, before"}, keys[0]}
	}
	if v.live != nil && !v.follow && !v.printed.Over {
		keys = append([]hint{{shown(k.Last.Help().Key), "follow"}}, keys...)
	}
	if e.report {
		return "Back", append(keys, hints(k.Search, k.Copy, k.Save, k.Seal)...)
	}
	keys = append(keys, hints(k.Search, k.Wrap, k.Line, k.Copy, k.Save)...)
	if mo, _ := e.moment(); len(e.snap.Blobs[mo.Seq]) > 1 {
		keys = append(keys, hint{shown(k.BlobBefore.Help().Key + " " + k.BlobAfter.Help().Key), "other artifact"})
	}
	if v.live != nil {
		return "Back to the step; it goes on", keys
	}
	if e.full {
		return "Back to the entry", keys
	}
	return "Give it the whole screen", keys
}
