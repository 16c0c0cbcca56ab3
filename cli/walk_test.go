package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// walker is a person at the keyboard who does what stands beside ▸ enter, knows
// the answers, and types nothing else. What is pressed is counted as it is sent,
// so that the count cannot differ from the walk.
type walker struct {
	*screen
	p       *practice // whose incident is walked
	keys    int       // each enter, digit and letter that does something, and a paste
	armed   int       // keys from the pasted error to the first armed gate
	begun   int       // keys before the error was pasted
	screens int       // from the pasted error to the first armed gate: those on which a key was pressed
	seen    string    // the newest of them; "" before the paste
	typed   int       // characters of words: answers, proofs, phrases, commands
	answers []answered
	before  string          // the move that led to the sheet in front
	said    map[string]bool // the questions that were answered
	between func()          // called before each key, nil for nothing
}

// answered is what the person says where a screen asks for words.
type answered struct {
	to    string // found in what is asked
	value string // the choice, "" where there is none
	words []string
	first func() // what is done outside before it is said, nil for nothing
}

// The lines by which a walk is steered.
var (
	moveLine     = regexp.MustCompile(`(?m)^ ?▸ enter  (.*\S)`)
	sheetLine    = regexp.MustCompile(`(?m)^ ?── (.*?\S)(?: ─+)?\s*$`) // a long title has no line after it
	phraseAt     = regexp.MustCompile(`DANGER +· +ARMED`)
	moreLines    = regexp.MustCompile(`↓ \d+ more lines: pgdn`)
	practiceList = regexp.MustCompile(`PRACTISE +[1-9]`)
	gateOver     = regexp.MustCompile(`DONE +gate|gate +· +DONE`)
)

func (w *walker) key(keys string) {
	w.t.Helper()
	if w.between != nil {
		w.between()
	}
	if now := place(w.text()); w.seen != "" && w.armed == 0 && now != w.seen {
		w.seen = now
		w.screens++
	}
	w.keys++
	w.send(keys)
}

// place tells one screen from another: what is asked, and what enter would do.
func place(text string) string { return sheet(text) + "\n" + front(text) + "\n" + move(text) }

// says types words, and waits until they stand on the screen.
func (w *walker) says(words string) {
	w.t.Helper()
	if w.between != nil {
		w.between()
	}
	w.typed += utf8.RuneCountInString(words)
	tail := words[max(0, len(words)-20):]
	before := w.text()
	w.send(words)
	// It may stand in a line above, or in the hint that the line had.
	w.until("what was typed: "+tail, func(text string) bool {
		line := frontLine(text)
		return strings.Count(text, tail) > strings.Count(before, tail) || line != frontLine(before) && strings.Contains(line, tail)
	})
}

// frontLine is the line of a sheet that has the cursor: the last that is marked, below the steps.
func frontLine(text string) string {
	i := strings.LastIndex(text, "▸ ")
	line, _, _ := strings.Cut(text[max(0, i):], "\n")
	return line
}

// move is what enter would do, "" while the screen does not say.
func move(text string) string {
	all := moveLine.FindAllStringSubmatch(text, -1)
	if all == nil {
		return ""
	}
	return all[len(all)-1][1]
}

// practises goes to a drill on the home screen.
func (w *walker) practises(id string) {
	w.t.Helper()
	w.until("home", func(text string) bool { return strings.Contains(text, "command centre") })
	w.key("d")
	w.until("the drills", practiceList.MatchString)
	for {
		now := move(w.until("a drill", func(text string) bool { return strings.HasPrefix(move(text), "Practise ") }))
		if now == "Practise "+id || strings.HasPrefix(now, "Practise "+id+" ") || strings.HasPrefix(now, "Practise "+id+":") {
			return
		}
		w.key("j")
		w.until("the drill after "+now, func(text string) bool { return strings.HasPrefix(move(text), "Practise ") && move(text) != now })
	}
}

// begins reads what a drill is about, which is its first screen.
func (w *walker) begins() {
	w.t.Helper()
	w.until("what the drill is about", func(text string) bool {
		return strings.Contains(text, "WHAT HAPPENED") && strings.Contains(text, "enter begin")
	})
	w.key("\r")
}

// sheet is the title of the sheet that asks for words, "" without one.
func sheet(text string) string {
	if m := sheetLine.FindStringSubmatch(text); m != nil && (strings.Contains(text, "esc cancel") || strings.Contains(text, "esc close")) {
		return m[1]
	}
	return ""
}

// after presses enter and waits until the screen proposes something else.
func (w *walker) after(text string) string {
	w.t.Helper()
	before := move(text)
	w.key("\r")
	text = w.until("something after "+before, func(text string) bool {
		return move(text) != before && !recording(text) && (move(text) != "" || sheet(text) != "" || phraseAt.MatchString(text))
	})
	if sheet(text) != "" || phraseAt.MatchString(text) {
		return text
	}
	// The next step may want what this one is still reading, and a watch is waited
	// for, as a person does who has nothing else to do.
	watched := strings.HasPrefix(before, "Take the first sample")
	w.p.until("the end of "+before, w.ended, w.text, func(j []byte) bool {
		return bytes.Count(j, []byte(`"type":"probe.start"`)) == bytes.Count(j, []byte(`"type":"probe.end"`)) && (!watched || settled(j))
	})
	return w.read()
}

// settled says that the step that was read last has had the greens that it needs.
func settled(journal []byte) bool {
	need, greens := map[string]int{}, map[string]int{}
	last := ""
	for l := range bytes.Lines(journal) {
		var e struct {
			Type string
			Data struct {
				Step  string
				Steps []struct {
					ID     string
					Greens int
				}
				Green struct{ V string }
			}
		}
		if json.Unmarshal(l, &e) != nil {
			continue
		}
		for _, st := range e.Data.Steps {
			need[st.ID] = max(1, st.Greens)
		}
		if e.Type != "probe.end" {
			continue
		}
		last = e.Data.Step
		greens[last]++
		if e.Data.Green.V != "true" {
			greens[last] = 0
		}
	}
	return greens[last] >= need[last]
}

// recorded is how many bytes the journal has, 0 while there is no bundle.
func (p *practice) recorded() int {
	p.t.Helper()
	if path := p.bundle(); path != "" {
		return len(journalOf(p.t, path))
	}
	return 0
}

// read looks at the screen for as long as a person does before the next key, so
// that it shows what was recorded a moment ago.
func (w *walker) read() string {
	w.t.Helper()
	w.pause(200 * time.Millisecond)
	w.heard() // on a busy machine the program may not have come to it yet
	return w.until("a move or a sheet", func(text string) bool {
		return !inFlight(text) && (move(text) != "" || sheet(text) != "" || phraseAt.MatchString(text))
	})
}

// inFlight says that a screen shows a step at work.
func inFlight(text string) bool {
	return recording(text) || strings.HasPrefix(move(text), "Reading; ") || strings.Contains(text, "● reading") || strings.Contains(text, "ALSO RUNNING")
}

// recording says that an answer is on its way into the journal, so that no key
// decides.
func recording(text string) bool { return strings.HasPrefix(move(text), "Recording ") }

// front is the title of the step in front: what stands below the line of its kind, put
// together again.
func front(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "│")
		if len(cells) < 2 {
			continue
		}
		cell := strings.TrimSpace(cells[1])
		switch {
		case len(out) == 0 && !kindLine.MatchString(cell):
		case cell == "" && len(out) > 0:
			return strings.Join(out[1:], " ")
		default:
			out = append(out, cell)
		}
	}
	return ""
}

var kindLine = regexp.MustCompile(`^[a-z]+ · (?:ask|manual|conclude|gate|probe|watch|compare)\b`)

// finds the words for what is asked; the newest title that was gone to helps
// where the sheet does not say what it is about.
func (w *walker) finds(asked ...string) answered {
	w.t.Helper()
	for _, q := range asked {
		for _, a := range w.answers {
			if strings.Contains(q, a.to) {
				return a
			}
		}
	}
	w.t.Fatalf("no answer to %q\n%s", asked, w.text())
	return answered{}
}

// counts takes back what an answer cost that was given before: on a machine under
// load a reading grows old, and its question is asked again.
func (w *walker) counts(question string) func() {
	if !w.said[question] {
		if w.said == nil {
			w.said = map[string]bool{}
		}
		w.said[question] = true
		return func() {}
	}
	keys, typed := w.keys, w.typed
	return func() { w.keys, w.typed = keys, typed }
}

// findingsSheet asks for a line of words for each critical finding.
const findingsSheet = "Before the close: what was found and not answered"

// emptyAnswer is the line of that sheet that has the cursor, with nothing in it yet.
var emptyAnswer = regexp.MustCompile(`(?m)^ *▸ answer +how it was resolved`)

// fill answers the fields of a sheet, each with its line, and waits for what
// comes after it.
func (w *walker) fill(words ...string) string {
	w.t.Helper()
	title, before := sheet(w.text()), w.before
	for i, field := range words {
		if field != "" {
			w.says(field)
		}
		if i < len(words)-1 {
			w.key("\r")
		}
	}
	for title == findingsSheet && strings.Contains(w.text(), "enter next line") {
		w.key("\r")
		w.until("the next finding", emptyAnswer.MatchString)
		w.says(words[0]) // which stand in the line before already
		w.until("the answer in its line", func(text string) bool { return !emptyAnswer.MatchString(text) })
	}
	// Two debts may be told apart by what a narrow screen cuts off.
	entries := w.p.recorded()
	w.key("\r")
	w.until("what comes after the sheet "+title, func(text string) bool {
		return !recording(text) && sheet(text) != title && (sheet(text) != "" || phraseAt.MatchString(text) || move(text) != "" && (move(text) != before || w.p.recorded() > entries))
	})
	return w.read()
}

// choose presses the number that stands beside a choice.
func (w *walker) choose(value string) {
	w.t.Helper()
	number := regexp.MustCompile(`(?m)\b([1-9]) +(?:[▸●✓] +)?` + regexp.QuoteMeta(value) + `\b`)
	m := number.FindStringSubmatch(w.text())
	for m == nil {
		below := moreLines.FindString(w.text())
		if below == "" {
			w.t.Fatalf("no number stands beside %q\n%s", value, w.text())
		}
		w.key("\x1b[6~")
		m = number.FindStringSubmatch(w.until("what is below", func(text string) bool { return moreLines.FindString(text) != below }))
	}
	w.key(m[1])
}

// walk follows the screen from the run screen on until the incident is closed.
func (w *walker) walk(gate func(text string) (phrase string)) {
	w.t.Helper()
	text, title := w.until("a move", func(text string) bool { return move(text) != "" }), ""
	for {
		now := move(text)
		if now != "" {
			w.before = now
		}
		if to, ok := strings.CutPrefix(now, "Next: "); ok {
			title = to
		}
		switch {
		case strings.HasPrefix(now, "Leave: the incident is closed"):
			return
		case phraseAt.MatchString(text):
			if w.armed == 0 {
				w.armed = w.keys - w.begun
			}
			text = w.pass(gate(text))
		case strings.HasPrefix(now, "Answer"):
			title = front(text) // what was answered before brings it here without a key
			a := w.finds(title, text)
			count := w.counts(title)
			w.choose(a.value)
			w.until("the sheet of the answer", func(text string) bool { return sheet(text) != "" })
			text = w.fill(a.words...)
			count()
		case strings.HasPrefix(now, "Sample now"):
			text = w.until("the end of the watch", func(text string) bool { return move(text) != now })
		case strings.HasPrefix(sheet(text), wordsSheet):
			text = w.line(text)
		case sheet(text) != "":
			a := w.finds(sheet(text), title, text)
			count := w.counts(sheet(text))
			if a.first != nil {
				a.first()
			}
			if a.value != "" {
				w.choose(a.value)
			}
			text = w.fill(a.words...)
			count()
		default:
			text = w.after(text)
		}
	}
}

// wordsSheet asks for all that can be said before something is read again: "Say these 3", "Say this".
const wordsSheet = "Say th"

// wordsOf is that sheet alone.
func wordsOf(text string) string { return text[strings.LastIndex(text, wordsSheet):] }

// line says what stands in front on that sheet, the value before its words, or takes what is
// proposed.
func (w *walker) line(text string) string {
	w.t.Helper()
	name := fieldName(text)
	_, of, there := strings.Cut(text, "▸ "+name)
	if name == "" || !there {
		w.t.Fatalf("the sheet does not show which line is in front:\n%s", text)
	}
	if lines := strings.SplitN(of, "\n", 5); !strings.Contains(lines[0], "  proposed") {
		a := w.finds(strings.Join(strings.Fields(strings.Join(lines[1:len(lines)-1], " ")), " "), name)
		if a.first != nil {
			a.first()
		}
		said := strings.Join(a.words, " ")
		if a.value != "" {
			said = a.value + ": " + said
		}
		w.says(said)
		text = w.text()
	}
	entries := w.p.recorded()
	for {
		before := wordsOf(text)
		w.key("\r")
		text = w.until("what comes after "+name, func(text string) bool {
			if strings.HasPrefix(sheet(text), wordsSheet) {
				return wordsOf(text) != before
			}
			return !recording(text) && w.p.recorded() > entries && (sheet(text) != "" || move(text) != "" || phraseAt.MatchString(text))
		})
		// Enter first reads on where the line says more than the screen holds.
		if !strings.HasPrefix(sheet(text), wordsSheet) || fieldName(text) != "" && fieldName(text) != name {
			return text
		}
	}
}

// pass types the phrase of an armed gate and puts the gate away when it acted.
func (w *walker) pass(phrase string) string {
	w.t.Helper()
	if w.between != nil {
		w.between()
	}
	w.typed += utf8.RuneCountInString(phrase)
	w.phrase(phrase)
	w.key("\r")
	w.until("the end of the act", gateOver.MatchString)
	w.key("\r")
	w.until("the screen below the gate", func(text string) bool { return move(text) != "" && !gateOver.MatchString(text) })
	return w.read()
}
