package tui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/session/trial"
	"handrail/session/view"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
	"handrail/tui/screen"
)

// table is an incident of a runbook of the library: its real texts, conditions and laws,
// and reads that tell what a case of its tests records.
type table struct {
	mu      sync.Mutex
	rb      *runbooks.Runbook
	cat     steps.Catalog
	c       *trial.Case
	now     func() time.Time
	state   triage.State
	changed chan struct{}
	refuse  string // a step of which nothing is taken now
}

func (b *table) scene() *view.Scene {
	return &view.Scene{State: b.state, Now: b.now(), Books: map[string]*runbooks.Runbook{b.rb.ID: b.rb}, Catalog: b.cat}
}

func (b *table) vars() runbooks.Vars { return journal.Vars(b.state, b.rb.ID, b.now(), false) }

func (b *table) record(bodies ...triage.Body) error {
	for _, body := range bodies {
		next, err := triage.Fold(b.state, triage.Event{Seq: b.state.Seq + 1, At: b.now(), Actor: "ana", Body: body})
		if err != nil {
			return err
		}
		b.state = next
	}
	if d, ok := b.state.Owing(); ok {
		d.ID = fmt.Sprint("d", len(b.state.Debts)+1)
		if err := b.record(d); err != nil {
			return err
		}
	}
	return nil
}

func (b *table) Do(_ context.Context, in triage.Intent) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	sc := b.scene()
	switch in.Kind {
	case triage.DoConclude:
		in.Proposed, _, _ = sc.Propose(in.Topic)
	case triage.DoAnswer:
		in.Proposed = sc.ProposeAnswer(in.Step)
	}
	if no := triage.Check(b.state, in, b.now(), sc.Judge); no != nil {
		return no
	}
	switch to := b.state.PhaseOf(triage.Option{Kind: in.Kind, Step: in.Step, Topic: in.Topic}); in.Kind {
	case triage.DoProbe, triage.DoAnswer, triage.DoManual, triage.DoConclude, triage.DoPreview:
		if to != "" && to != b.state.Phase {
			if err := b.record(triage.PhaseSet{To: to}); err != nil {
				return err
			}
		}
	}
	st, _ := b.state.Step(in.Step)
	if in.Step != "" && in.Step == b.refuse {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{Why: "not now"}}}
	}
	switch in.Kind {
	case triage.DoProbe:
		if err := b.read(st); err != nil {
			return err
		}
		return b.setBeside()
	case triage.DoPreview:
		return b.record(triage.GateShown{Step: st.ID, Digest: "d", Class: st.Class, Effect: "nothing", Phrase: "act", Why: in.Text, ByItself: in.ByItself,
			Verdicts: b.scene().Judge(st.ID), Until: b.now().Add(time.Hour)})
	}
	body, ok := triage.Draft(b.state, in)
	if !ok {
		return errors.New("the table cannot do this")
	}
	if err := b.record(body); err != nil {
		return err
	}
	if in.Kind == triage.DoAnswer {
		return b.setBeside()
	}
	return nil
}

// read tells what the case records.
func (b *table) read(st triage.Step) error {
	id := journal.Bare(st.ID)
	n := st.Attempts + 1
	if st.Kind == triage.CompareStep {
		end := triage.ProbeEnd{Step: st.ID, N: n, Outcome: "ok", Rows: journal.Rows(b.rb, b.state, st.ID)}
		if len(end.Rows) > 0 {
			end.Facts = runbooks.ComparisonFacts(end.Rows)
		}
		return b.record(triage.ProbeStart{Step: st.ID, N: n, Kind: "compare"}, end)
	}
	k, _ := b.rb.Kind(id, b.cat)
	with, _ := b.rb.With(id, b.vars())
	told, ok := b.c.Told(id)
	end := triage.ProbeEnd{Step: st.ID, N: n, Outcome: "ok", Summary: "as the case records", Facts: map[string]steps.Value{}}
	if !ok {
		end.Outcome, end.Summary = "failed", "the case records nothing for it"
	}
	for _, f := range k.Facts {
		v, has := told[f.Name]
		if !ok || !has {
			v = steps.Unknown(f.Type, "the case does not record it")
		}
		end.Facts[f.Name] = v
	}
	if err := b.record(triage.ProbeStart{Step: st.ID, N: n, Kind: k.Name, With: with}); err != nil {
		return err
	}
	v := b.vars()
	v.Facts[id], v.Read[id] = end.Facts, b.now()
	if ok {
		end.Findings = b.rb.Findings(id, v)
	}
	if st.Kind == triage.WatchStep {
		green := b.rb.Green(id, v)
		end.Green = &green
	}
	return b.record(end)
}

// setBeside compares what was read, and judges again what was found, as a session does.
func (b *table) setBeside() error {
	settled := func(id string) bool {
		st, _ := b.state.Step(id)
		return st.Status == triage.Settled || st.Status == triage.CannotTell || st.Status == triage.Skipped || b.rb.Aside(journal.Bare(id), b.vars()) != ""
	}
	for _, st := range b.state.Steps {
		open := st.Kind == triage.CompareStep && (st.Status == triage.Pending || st.Status == triage.Stale) && len(st.Refs) > 0
		if open && b.rb.Aside(journal.Bare(st.ID), b.vars()) == "" && !slices.ContainsFunc(st.Refs, func(id string) bool { return !settled(id) }) {
			if err := b.read(st); err != nil {
				return err
			}
		}
	}
	for _, st := range b.state.Steps {
		now, gone, ok := journal.Findings(b.rb, b.state, st, b.now(), func(text string) string { return text })
		if ok && !slices.EqualFunc(triage.Judged(st.Findings, now), st.Findings, journal.Same) {
			if err := b.record(triage.FindingsSet{Step: st.ID, N: st.Attempts, Findings: now, Gone: gone}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *table) Snapshot() view.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	sc := b.scene()
	return sc.Snapshot(sc.Texts())
}

func (b *table) Changed() <-chan struct{}                      { return b.changed }
func (b *table) OpenArtifact(string) (journal.Artifact, error) { return nil, errors.New("none") }
func (b *table) Close() error                                  { return nil }

// hand is a person who knows the answers, does what stands beside ▸ enter, and types
// nothing else. What it presses is counted, its words are not.
type hand struct {
	*stage
	b       *table
	keys    int
	lines   int // of words that were typed, each with the enter that ends it
	screens int
	seen    string
	wrote   string // the line of a sheet that was typed last
	trail   []string
}

func (h *hand) types(words string) {
	h.lines++
	h.stage.types(words)
}

func (h *hand) key(k string) {
	h.keys++
	now := h.run.Focus + "\n" + moveOf(h.screen())
	if h.Sheet != nil {
		now = string(h.Sheet.Title)
	}
	if now != h.seen {
		h.seen = now
		h.screens++
	}
	h.trail = append(h.trail, k+" at "+strings.ReplaceAll(now, "\n", " · "))
	_, cmd := h.Update(keyPress(k))
	h.runs(cmd)
	h.clock.at = h.clock.at.Add(2 * time.Second)
	h.hearAll()
}

// hearAll takes what the incident came to.
func (h *hand) hearAll() {
	h.model.Now = h.clock.at
	if h.Incident != nil {
		_, cmd := h.Update(changedMsg{h.Incident, h.Incident.Snapshot()})
		h.runs(cmd)
	}
	for range 20 {
		cmd := h.run.ReadOn(h.Env)
		if cmd == nil {
			break
		}
		h.runs(cmd)
	}
}

// runs does what was started, and all that follows from it.
func (h *hand) runs(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			h.runs(c)
		}
	default:
		_, cmd := h.Update(msg)
		h.runs(cmd)
	}
}

var moveIs = regexp.MustCompile(`(?m)^ ?▸ enter  (.*\S)`)

func moveOf(text string) string {
	if m := moveIs.FindAllStringSubmatch(text, -1); m != nil {
		return m[len(m)-1][1]
	}
	return ""
}

var rowIs = regexp.MustCompile(`(?m)^ *▸ (\S+)`)

// rowOf is the line of the sheet that has the cursor.
func rowOf(text string) string {
	if m := rowIs.FindAllStringSubmatch(text, -1); m != nil {
		return m[len(m)-1][1]
	}
	return ""
}

// proposed reports whether the facts propose something for a line of the sheet.
func (h *hand) proposed(step string) bool {
	card := h.run.Snap.Cards[h.b.rb.ID+"/"+step]
	return card.Proposed != "" && card.Proposed != triage.Unknown
}

// says is what a person says of a step.
func (h *hand) says(step string) string {
	st, ok := h.b.state.Step(h.b.rb.ID + "/" + step)
	switch {
	case !ok:
		return "as the case says"
	case st.Kind == triage.ManualStep:
		if proof := h.b.c.Manual[step]; proof != "" {
			return proof
		}
		return "done, as the case assumes"
	case st.Kind == triage.ConcludeStep:
		return h.b.c.Conclude[st.Uses] + ": @ana it was looked up"
	}
	value := h.b.c.Answers[step]
	if value == "" {
		value = triage.Unknown
	}
	return value + ": as the case says"
}

// toGate walks until a gate is armed, or says where it stopped.
func (h *hand) toGate() string {
	for range 40 {
		for id, g := range h.b.state.Gates {
			if g.Phase == triage.GateArmed {
				return journal.Bare(id)
			}
		}
		text := h.screen()
		switch st, _ := h.b.state.Step(h.run.Focus); {
		case h.Sheet != nil && strings.HasPrefix(string(h.Sheet.Title), "Say th"):
			if at := rowOf(text); !h.proposed(at) && h.wrote != at { // what is too long for the screen is read on
				h.types(h.says(at))
				h.wrote = at
			}
			h.key("enter")
		case h.Sheet != nil && h.Sheet.Title == "Answer: I do not know", h.Sheet != nil && strings.HasPrefix(string(h.Sheet.Title), "Answer: "), h.Sheet != nil && strings.HasPrefix(string(h.Sheet.Title), "Done: "):
			words := h.says(journal.Bare(h.run.Focus))
			h.types(words)
			h.key("enter")
		case h.Sheet != nil && strings.HasPrefix(string(h.Sheet.Title), "Decide: "):
			return "a decision that no fact proposes: " + string(h.Sheet.Title)
		case h.Sheet != nil:
			return "the sheet " + string(h.Sheet.Title)
		case strings.HasPrefix(moveOf(text), "Answer: "):
			value := h.b.c.Answers[journal.Bare(st.ID)]
			at := slices.IndexFunc(h.run.Snap.Cards[st.ID].Answers, func(c view.Choice) bool { return c.Value == value })
			k := "u"
			if at >= 0 {
				k = fmt.Sprint(at + 1)
			}
			h.key(k)
		case strings.HasPrefix(moveOf(text), "Sample now"), strings.HasPrefix(moveOf(text), "Take the first sample") && st.Attempts > 0:
			h.clock.at = h.clock.at.Add(time.Minute)
			h.key("enter")
		case moveOf(text) == "":
			return "nothing is proposed\n" + text
		default:
			h.key("enter")
		}
	}
	return "no gate after " + strings.Join(h.trail[len(h.trail)-4:], "; ") + "\n" + h.screen()
}

// begin pastes the error and begins the runbook with the parameters of the case.
func (h *hand) begin(t *testing.T) {
	t.Helper()
	h.keys++ // the paste
	h.screens++
	_, cmd := h.Update(tea.PasteMsg{Content: "the error that was pasted"})
	h.runs(cmd)
	if !strings.Contains(h.screen(), h.b.rb.ID) {
		t.Fatalf("no runbook:\n%s", h.screen())
	}
	h.key("enter")
	give := maps.Clone(h.b.c.Params)
	maps.DeleteFunc(give, func(name, v string) bool { // what stands there already is not typed
		i := slices.IndexFunc(h.b.rb.Params, func(p steps.Field) bool { return p.Name == name })
		return slices.Contains(inPaste, name) || v == "" || v == h.b.rb.Params[i].Default
	})
	for range 30 {
		if h.Sheet == nil {
			return
		}
		if h.Sheet.Title == "May programs run in this directory?" {
			if !strings.Contains(h.screen(), "enter read on") {
				h.key("1")
			}
			h.key("enter")
			continue
		}
		switch at := rowOf(h.screen()); {
		case len(give) == 1 && give[at] != "":
			h.types(give[at])
			delete(give, at)
		case len(give) > 0: // in one line
			var words []string
			for _, name := range slices.Sorted(maps.Keys(give)) {
				words = append(words, name+"="+give[name])
			}
			h.types(strings.Join(words, " "))
			clear(give)
			h.key("enter")
		}
		h.key("enter")
	}
	t.Fatalf("parameters that found no line: %v\n%s", give, h.screen())
}

// inPaste are the parameters that a pasted error gives: itself as the log, and what it names.
var inPaste = []string{"log", "kind", "name", "namespace", "resource", "address", "flag"}

// strokes counts the keys and screens of a case from the pasted error to its first armed gate.
func strokes(t *testing.T, rb *runbooks.Runbook, cat steps.Catalog, c *trial.Case) *hand {
	t.Helper()
	clock := &clockwork{trial.Start}
	b := &table{rb: rb, cat: cat, c: c, now: clock.now, changed: make(chan struct{})}
	close(b.changed) // what it came to is taken after each key
	conf := configFixture(clock.now, "")
	found := map[string]string{}
	for _, name := range inPaste {
		if v := c.Params[name]; v != "" {
			found[name] = v
		}
	}
	conf.Match = func(string) []screen.Hit {
		return []screen.Hit{{Runbook: rb.ID, Title: rb.Title, Score: 12, Params: found}}
	}
	conf.Params = func(string) []steps.Field { return rb.Params }
	trusted := !slices.ContainsFunc(rb.Steps, func(st runbooks.Step) bool { return st.Heavy && st.Gives("dir") })
	conf.Untrusted = func(context.Context, string, map[string]string) (*screen.Untrusted, error) {
		if of := untrustedFixture(); !trusted {
			return &of, nil
		}
		return nil, nil
	}
	conf.Trust = func(_ context.Context, of screen.Untrusted) error { trusted = of.Digest == "d1"; return nil }
	conf.Start = func(_ context.Context, in screen.Start) (screen.Incident, error) {
		params, err := rb.Bind(in.Given)
		if err != nil {
			return nil, err
		}
		return b, b.record(triage.Open{Incident: "i", Title: rb.Title, Severity: rb.Severity},
			triage.Person{ID: "ana", Name: "ana", Proof: "os", Roles: []string{"commander"}}, rb.Plan(params))
	}
	s := &stage{clock: clock}
	s.model = newModel(t.Context(), conf)
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.pass(0)
	return &hand{stage: s, b: b}
}

// mostStrokes bounds the keys, words apart, and the screens of each walk at 80x24, in a directory
// that is not trusted yet. iac-init has no gate. Parameters that no pasted error names are words in
// one line.
var mostStrokes = map[string][2]int{
	"admission-denied": {10, 7}, "creates-that-exist": {11, 8}, "gitops-controller": {10, 6}, "gitops-sync-failed": {8, 7}, "hardening-cascade": {10, 6},
	"helm-pending": {10, 7}, "init-cascade": {11, 6}, "late-destroy": {12, 8}, "partial-apply": {12, 9}, "realm-overwrite": {10, 8}, "reverting-fixes": {12, 7},
	"secret-sync": {12, 8}, "split-hotfix": {10, 7}, "state-collision": {10, 7}, "state-corruption": {11, 7}, "state-lock": {9, 6}, "stuck-finalizer": {9, 6},
}

// aboveBar are the runbooks that need more keys than the bar has, with the reason: the enter that
// ends a line is a key too.
var aboveBar = map[string]struct {
	most [2]int
	why  string
}{
	"apply-before-mutation": {[2]int{14, 8}, "five lines are written, two of them witnesses that no probe reads, and the directory is trusted"},
	"flag-drift":            {[2]int{14, 10}, "two plans are read, four lines are written, and the directory is trusted"},
	"gitops-out-of-sync":    {[2]int{13, 10}, "the class of each line and the consent of the team are two decisions with words"},
	"hung-apply":            {[2]int{14, 9}, "two lists, the end of a process and its proof are written, and the directory is trusted"},
	"loose-type-trap":       {[2]int{17, 9}, "six lines are written, and the directory is trusted"},
	"provider-throttling":   {[2]int{13, 9}, "the plan of the rest is read, then approved in words, and the directory is trusted"},
	"stale-plan":            {[2]int{14, 9}, "six lines are written, two of them of the new plan alone, and the directory is trusted"},
}

// TestStrokes counts for each runbook the keys and screens from a pasted error to the first
// armed gate, on the first case of its tests that comes to one, and prints the table.
func TestStrokes(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range lib {
		t.Run(rb.ID, func(t *testing.T) {
			t.Parallel()
			file, src, err := runbooks.LibraryTest(rb.ID)
			if err != nil {
				t.Fatal(err)
			}
			d, err := trial.Parse(file, src, rb, cat)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(d.Cases, func(c trial.Case) bool { return len(c.Expect.Armed) > 0 })
			if at < 0 {
				t.Skip("no case comes to a gate")
			}
			h := strokes(t, rb, cat, &d.Cases[at])
			h.begin(t)
			gate := h.toGate()
			t.Logf("%-24s %2d keys, %2d besides those that end a line of words, %2d screens to %s", rb.ID, h.keys, h.keys-h.lines, h.screens, gate)
			if h.keys-h.lines > 12 || h.screens > 10 {
				t.Errorf("%d keys besides words on %d screens, at most 12 and 10 are allowed", h.keys-h.lines, h.screens)
			}
			if h.b.state.Gates[rb.ID+"/"+gate].Phase != triage.GateArmed {
				t.Fatal("it came to no gate")
			}
			most, own := mostStrokes[rb.ID]
			bar := [2]int{12, 10}
			if above, ok := aboveBar[rb.ID]; ok {
				if most = above.most; h.keys <= bar[0] && h.screens <= bar[1] {
					t.Errorf("it is within the bar by now: %d keys, %d screens", h.keys, h.screens)
				}
			} else if !own {
				most = bar
			} else if most[0] > bar[0] || most[1] > bar[1] {
				t.Errorf("%v is above the bar of %v", most, bar)
			}
			if h.keys > most[0] || h.screens > most[1] {
				t.Errorf("%d keys and %d screens, at most %d and %d are allowed:\n  %s", h.keys, h.screens, most[0], most[1], strings.Join(h.trail, "\n  "))
			}
			if testing.Verbose() && os.Getenv("TRAIL") != "" {
				t.Logf("%s", strings.Join(h.trail, "\n  "))
			}
		})
	}
}
