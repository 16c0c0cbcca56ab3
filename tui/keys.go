package tui

import "charm.land/bubbles/v2/key"

// keyMap is every key of the program. Letters are free on all screens but those
// in which a person types.
type keyMap struct {
	Enter, Esc, Leave, Abort, Help                       key.Binding
	Up, Down, PageUp, PageDown, Prev, Next               key.Binding
	Paste, Practise, Library, Reload                     key.Binding
	Jump, Unknown, Waive, Read, Skip, Accept, Override   key.Binding
	Gate, Evidence, Facts, Note, Severity, Settle        key.Binding
	Anchor                                               key.Binding
	Runbook, Close, Interrupt, Cancel, Search, Stay, Yes key.Binding
}

func bind(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

func newKeys() keyMap {
	return keyMap{
		Enter:    bind("enter", "do what stands beside ▸", "enter"),
		Esc:      bind("esc", "back", "esc"),
		Leave:    bind("q", "leave", "q"),
		Abort:    bind("ctrl+c", "leave the program", "ctrl+c"),
		Help:     bind("?", "help", "?"),
		Up:       bind("↑", "up", "up", "k"),
		Down:     bind("↓", "down", "down", "j"),
		PageUp:   bind("pgup", "scroll back", "pgup", "ctrl+b"),
		PageDown: bind("pgdn", "scroll on", "pgdown", "ctrl+f", "space"),
		Prev:     bind("[", "step before", "[", "left"),
		Next:     bind("]", "step after", "]", "right"),

		Paste:    bind("p", "paste an error", "p", "m"),
		Practise: bind("d", "practise", "d"),
		Library:  bind("l", "library", "l"),
		Reload:   bind("r", "look again", "r"),

		Jump:      bind("n", "next open", "n"),
		Unknown:   bind("u", "don't know", "u"),
		Waive:     bind("w", "waive", "w"),
		Read:      bind("r", "read again", "r"),
		Skip:      bind("s", "skip", "s"),
		Accept:    bind("a", "accept", "a"),
		Override:  bind("o", "decide otherwise", "o"),
		Gate:      bind("g", "gate", "g"),
		Evidence:  bind("e", "evidence", "e"),
		Facts:     bind("f", "facts", "f", "tab"),
		Note:      bind("t", "note", "t"),
		Severity:  bind("S", "severity", "S"),
		Anchor:    bind("A", "post the line", "A"),
		Settle:    bind("d", "debt", "d"),
		Runbook:   bind("b", "other runbook", "b"),
		Close:     bind("c", "close", "c"),
		Interrupt: bind("i", "interrupt the act", "i"),
		Cancel:    bind("x", "stop the probe", "x"),
		Search:    bind("/", "search", "/"),
		Stay:      bind("enter", "stay", "enter", "esc", "n"),
		Yes:       bind("y", "yes", "y"),
	}
}

// hint is one key in the footer: short words, so that a line holds many.
type hint struct{ key, does text }

func hints(bs ...key.Binding) []hint {
	var out []hint
	for _, b := range bs {
		h := b.Help()
		out = append(out, hint{shown(h.Key), shown(h.Desc)})
	}
	return out
}

// footer draws as many keys as fit, and always the last ones: help and the way
// out.
func (t theme) footer(w int, hs []hint, always ...hint) drawn {
	var end drawn
	if len(always) > 0 {
		end = "   " + t.footer(w, always)
	}
	var row drawn
	for _, h := range hs {
		part := t.key.on(h.key) + " " + t.muted.on(h.does)
		if cells(row)+cells(part)+3 > w-cells(end) {
			break
		}
		if row != "" {
			row += "   "
		}
		row += part
	}
	if end != "" {
		return spread(row, end, w)
	}
	return row
}
