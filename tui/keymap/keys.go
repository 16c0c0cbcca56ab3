package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// Map is every key of the program that does something. Letters are free on all
// screens but those in which a person types.
type Map struct {
	Enter, Esc, Leave, Abort, Suspend, Help, Palette     key.Binding
	Up, Down, PageUp, PageDown, Prev, Next, First, Last  key.Binding
	Paste, Practise, Library, Reload                     key.Binding
	Jump, Unknown, Waive, Read, Skip, Accept, Override   key.Binding
	Gate, Evidence, Facts, Note, Severity, Settle        key.Binding
	Anchor, Status, Request                              key.Binding
	Runbook, Close, Interrupt, Cancel, Search, Stay, Yes key.Binding
	ReadAll, CancelAll, View, ReadBefore, User, Back, On key.Binding
	Again, Against, Wrap, Line, Copy, CopyLine, Save     key.Binding
	BlobBefore, BlobAfter, Left, Right                   key.Binding
	Symptoms                                             key.Binding
	Kinds, Report, Seal, HandOver, Reopen, Story         key.Binding
	Params, People, ByHand                               key.Binding

	Screens []Command // those that open a screen of the program's table
}

// Area is where a key counts.
type Area int

const (
	Everywhere Area = iota
	AtLists
	OnHome
	OnStep
	OnIncident
	InIncident // on all screens of an incident
	OnEvidence // the list of entries
	OnText     // an artifact that is open
	OnQuestion // a question that stands in front of everything
)

// inForce are the areas that are in force together, whose keys must differ from one another.
func inForce() [][]Area {
	return [][]Area{{Everywhere, AtLists, OnHome}, {Everywhere, AtLists, OnStep, OnIncident, InIncident}, {Everywhere, AtLists, OnEvidence, OnIncident, InIncident}, {Everywhere, AtLists, OnText, InIncident}, {OnQuestion}}
}

// Command is one thing that a key does. Its name is what a key file and the
// palette call it.
type Command struct {
	Binding *key.Binding
	Name    string
	At      Area
	Keys    []string
	Short   string // in the footer
	Does    string // in the help and the palette
}

// Commands is the one table of keys: the footer, the help, the palette and the
// key file are all made from it.
func (k *Map) Commands() []Command {
	all := []Command{
		{&k.Enter, "go", Everywhere, []string{"enter"}, "do what is shown at ▸", "do what is shown at ▸, the safest next step"},
		{&k.Esc, "back", Everywhere, []string{"esc"}, "back", "back, close a form, disarm a gate"},
		{&k.Palette, "palette", Everywhere, []string{":", "ctrl+k"}, "commands", "find a command, a step or a runbook by its name"},
		{&k.Help, "help", Everywhere, []string{"?"}, "help", "this help"},
		{&k.Copy, "copy", Everywhere, []string{"y"}, "copy", "copy what the cursor is on; of a text the lines on the screen"},
		{&k.Leave, "leave", Everywhere, []string{"q"}, "leave", "leave; the incident stays open and acts continue"},
		{&k.Abort, "abort", Everywhere, []string{"ctrl+c"}, "quit", "quit at once; this never stops an act"},
		{&k.Suspend, "suspend", Everywhere, []string{"ctrl+z"}, "to the shell", "to the shell, and back with fg; running steps continue"},

		{&k.Up, "up", AtLists, []string{"up", "k"}, "up", "up"},
		{&k.Down, "down", AtLists, []string{"down", "j"}, "down", "down"},
		{&k.PageUp, "page-up", AtLists, []string{"pgup", "ctrl+b"}, "scroll back", "page up"},
		{&k.PageDown, "page-down", AtLists, []string{"pgdown", "ctrl+f", "space"}, "scroll on", "page down"},
		{&k.First, "first", AtLists, []string{"home"}, "first", "to the first line"},
		{&k.Last, "last", AtLists, []string{"end", "G"}, "last", "to the last line"},
		{&k.Search, "search", AtLists, []string{"/"}, "search", "search what is shown; esc clears the search"},

		{&k.Paste, "paste", OnHome, []string{"p", "m"}, "paste an error", "paste an error; pasting right away works too"},
		{&k.Symptoms, "symptoms", OnHome, []string{"s"}, "pick symptoms", "no error text: pick what you see"},
		{&k.Practise, "practise", OnHome, []string{"d"}, "practise", "go to the drills"},
		{&k.Library, "library", OnHome, []string{"l"}, "library", "go to the runbooks"},
		{&k.Reload, "reload", OnHome, []string{"r"}, "refresh", "refresh"},

		{&k.Unknown, "unknown", OnStep, []string{"u"}, "don't know", "answer with \"I do not know\": who was asked, and when again"},
		{&k.Read, "read", OnStep, []string{"r"}, "read again", "read again"},
		{&k.ReadAll, "read-all", OnStep, []string{"R"}, "read all", "start all reads of this phase that are ready and not tried yet"},
		{&k.Cancel, "cancel", OnStep, []string{"x"}, "stop", "stop the probe of this step"},
		{&k.CancelAll, "cancel-all", OnStep, []string{"X"}, "stop all", "stop all running probes"},
		{&k.View, "view", OnStep, []string{"v"}, "output", "the output of this step while it runs, then its raw artifact"},
		{&k.ReadBefore, "reading-before", OnStep, []string{"V"}, "previous reading", "the previous reading"},
		{&k.User, "needed-by", OnStep, []string{">"}, "needed by", "go to the question or gate that uses this step"},
		{&k.Accept, "accept", OnStep, []string{"a"}, "accept", "show what the facts propose; enter accepts it"},
		{&k.Override, "override", OnStep, []string{"o"}, "override", "decide against the proposal"},
		{&k.Waive, "waive", OnStep, []string{"w"}, "waive", "waive with a name and a reason"},
		{&k.Skip, "skip", OnStep, []string{"s"}, "skip", "skip with a reason"},
		{&k.Jump, "next-open", OnStep, []string{"n"}, "next open", "go to the next required open item"},
		{&k.Prev, "step-before", OnStep, []string{"[", "left"}, "previous step", "go to the previous step"},
		{&k.Next, "step-after", OnStep, []string{"]", "right"}, "next step", "go to the next step"},

		{&k.Gate, "gate", OnIncident, []string{"g"}, "gate", "look at the gate; this reads and records nothing"},
		{&k.Evidence, "evidence", OnIncident, []string{"e"}, "evidence", "all evidence, with its raw artifacts"},
		{&k.Facts, "facts", OnIncident, []string{"f", "tab"}, "facts", "what is known"},
		{&k.Anchor, "anchor", OnIncident, []string{"A"}, "post the line", "copy the line that proves the journal, and record where you post it"},
		{&k.Status, "status", OnIncident, []string{"U"}, "status update", "copy a short status update for the channel"},
		{&k.Request, "request", OnIncident, []string{"C"}, "copy the request", "copy a gate's request to a second person, who answers with handrail approve"},
		{&k.Params, "parameters", OnIncident, []string{"P"}, "parameters", "see and change what the incident is about: directory, object, log"},
		{&k.People, "people", OnIncident, []string{"W"}, "people", "who is on the call, and in which role"},
		{&k.Severity, "severity", OnIncident, []string{"S"}, "severity", "change the severity; SEV-1 asks for the commander"},
		{&k.Settle, "settle", OnIncident, []string{"d"}, "debt", "settle a debt: paid, carried or waived"},
		{&k.ByHand, "by-hand", OnIncident, []string{"M"}, "by hand", "record a repair that was made by hand, outside of handrail"},
		{&k.Interrupt, "interrupt", OnIncident, []string{"i"}, "interrupt the act", "interrupt a running act, after a confirmation"},
		{&k.Runbook, "runbook", OnIncident, []string{"b"}, "other runbook", "switch to another runbook; facts and answers are kept"},
		{&k.Close, "close", OnIncident, []string{"c"}, "close", "close the incident, after its outcome is typed"},
		{&k.HandOver, "hand-over", OnIncident, []string{"H"}, "hand over", "hand over to another person, with a note, and leave"},
		{&k.Report, "report", OnIncident, []string{"p"}, "report", "show the report as of now"},
		{&k.Seal, "seal", OnIncident, []string{"z"}, "seal", "seal a closed incident; explains first what that means"},

		{&k.Story, "drill", OnIncident, []string{"D"}, "the drill", "what a drill is about, and what winning takes"},
		{&k.Reopen, "continue", OnIncident, []string{"O"}, "continue", "continue a closed incident in a new one that names it"},

		{&k.Kinds, "kinds", OnEvidence, []string{"v"}, "kinds", "show one kind of entry only, then the next kind"},

		{&k.Note, "note", InIncident, []string{"t", "ctrl+t"}, "note", "note for the timeline; with ctrl while you type text"},
		{&k.Back, "history-back", InIncident, []string{"ctrl+o", "backspace"}, "where I was", "go back to where you were; this changes nothing"},
		{&k.On, "history-on", InIncident, []string{"ctrl+n"}, "forward", "go forward again"},

		{&k.Again, "next-match", OnText, []string{"n"}, "next match", "go to the next match, from the top after the last"},
		{&k.Against, "match-before", OnText, []string{"N"}, "previous match", "go to the previous match"},
		{&k.Line, "line", OnText, []string{"g"}, "line", "go to a line by its number"},
		{&k.Wrap, "wrap", OnText, []string{"w"}, "wrap", "wrap long lines, or cut them"},
		{&k.Left, "left", OnText, []string{"left"}, "left", "scroll left, where long lines are cut"},
		{&k.Right, "right", OnText, []string{"right"}, "right", "scroll right, where long lines are cut"},
		{&k.CopyLine, "copy-line", OnText, []string{"Y"}, "copy line", "copy the matching line, or the first on the screen"},
		{&k.Save, "save", OnText, []string{"s"}, "save", "save everything to a new file"},
		{&k.BlobBefore, "artifact-before", OnText, []string{"["}, "previous artifact", "go to the previous artifact of this entry"},
		{&k.BlobAfter, "artifact-after", OnText, []string{"]"}, "next artifact", "go to the next artifact of this entry"},

		{&k.Stay, "stay", OnQuestion, []string{"enter", "esc", "n"}, "stay", "stay"},
		{&k.Yes, "yes", OnQuestion, []string{"y"}, "yes", "yes"},
	}
	return append(all, k.Screens...)
}

// fixed cannot be changed: these must work for every operator.
var fixed = map[string]bool{"go": true, "back": true, "abort": true, "stay": true, "yes": true}

// Commands lists the commands whose keys can be changed.
func Commands(screens ...Command) []string {
	k := Map{Screens: screens}
	var out []string
	for _, c := range k.Commands() {
		if !fixed[c.Name] {
			out = append(out, c.Name)
		}
	}
	return out
}

// New is the key map with what a person changed in it; CheckKeys says whether
// a change can be.
func New(change map[string][]string, screens ...Command) Map {
	k := Map{Screens: slices.Clone(screens)}
	for i := range k.Screens {
		k.Screens[i].Binding = new(key.Binding)
	}
	for _, c := range k.Commands() {
		keys := c.Keys
		if own, ok := change[c.Name]; ok && !fixed[c.Name] {
			keys = own
		}
		*c.Binding = key.NewBinding(key.WithKeys(keys...), key.WithHelp(keyName(keys[0]), c.Short))
	}
	return k
}

// CheckKeys says what is wrong with a change of the key map: a command that there
// is not, a key that cannot be one, two commands of one screen on one key.
func CheckKeys(change map[string][]string, screens ...Command) error {
	k := Map{Screens: screens}
	all := k.Commands()
	for _, name := range slices.Sorted(maps.Keys(change)) {
		i := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
		switch {
		case i < 0:
			return fmt.Errorf("there is no command %q", name)
		case fixed[name]:
			return fmt.Errorf("the keys of %q cannot be changed: they must work for every operator", name)
		case len(change[name]) == 0:
			return fmt.Errorf("%q has no key", name)
		}
		for _, s := range change[name] {
			if s == "" || strings.ContainsAny(s, " \t") || len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
				return fmt.Errorf("%q: %q is not a valid key; write it as x, ctrl+x or f5; digits are reserved for answers", name, s)
			}
		}
		all[i].Keys = change[name]
	}
	for _, together := range inForce() {
		taken := map[string]string{}
		for _, c := range all {
			if !slices.Contains(together, c.At) {
				continue
			}
			for _, s := range c.Keys {
				if c.At == InIncident && len([]rune(s)) == 1 && slices.Contains(together, OnText) {
					continue // in a text, a letter is first of all a key of the text
				}
				if other, ok := taken[s]; ok {
					return fmt.Errorf("key %q is used by both %q and %q", s, other, c.Name)
				}
				taken[s] = c.Name
			}
		}
	}
	return nil
}

// keyName is a key as people call it.
func keyName(k string) string {
	if name, ok := map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→", "pgdown": "pgdn"}[k]; ok {
		return name
	}
	return k
}

// Digits are the keys from 1 to n.
func Digits(n int) ink.Text {
	if n == 1 {
		return "1"
	}
	return ink.Say("1-%d", n)
}

// Hints are the hints of some keys.
func Hints(bs ...key.Binding) []ink.Hint {
	var out []ink.Hint
	for _, b := range bs {
		h := b.Help()
		out = append(out, ink.Hint{Key: ink.Shown(h.Key), Does: ink.Shown(h.Desc)})
	}
	return out
}

// NoteKey is the key of a note where letters are text, "" where there is none.
func (k *Map) NoteKey() ink.Text {
	for _, name := range k.Note.Keys() {
		if len([]rune(name)) > 1 && name != "space" {
			return ink.Shown(keyName(name))
		}
	}
	return ""
}

// KeysOf are all keys of a binding, as people call them.
func KeysOf(b key.Binding) ink.Text {
	var out []string
	for _, k := range b.Keys() {
		out = append(out, keyName(k))
	}
	return ink.Shown(strings.Join(out, "  "))
}

// OfText says that a key does something in a text.
func (k *Map) OfText(msg tea.KeyPressMsg) bool {
	return slices.ContainsFunc(k.Commands(), func(c Command) bool { return c.At == OnText && key.Matches(msg, *c.Binding) })
}

// KeyFor is the press of a key that is named as in the key map.
func KeyFor(name string) tea.KeyPressMsg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"tab": tea.KeyTab, "space": tea.KeySpace, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}
	msg := tea.KeyPressMsg{}
	for {
		mod, rest, ok := strings.Cut(name, "+")
		by, known := map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		if !ok || !known || rest == "" {
			break
		}
		msg.Mod, name = msg.Mod|by, rest
	}
	if r, ok := named[name]; ok {
		msg.Code = r
		return msg
	}
	runes := []rune(name)
	switch {
	case len(runes) == 1:
		msg.Code = runes[0]
		if msg.Mod == 0 {
			msg.Text = name
		}
	case runes[0] == 'f' && len(runes) <= 3:
		n, _ := strconv.Atoi(name[1:])
		msg.Code = tea.KeyF1 + rune(n) - 1
	}
	return msg
}
