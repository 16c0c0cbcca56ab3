package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

const (
	// replayKeeps is after how many entries a state is kept, to go back from.
	replayKeeps = 64
	// replayEntries bounds what is read of a bundle: it may be a stranger's.
	replayEntries = 200_000
)

// Replay is a recorded incident that is looked at entry by entry: after each the
// snapshot is what the call saw then. There is no session behind it. It opens no
// bundle for writing, runs no step and refuses every intent.
type Replay struct {
	path    string
	cfg     Config // texts of kinds and runbooks; of its environment nothing is used
	tape    []evidence.Entry
	fronts  []*front       // the gate in front after each entry
	kept    []triage.State // before entry 0, 64, 128 and so on
	books   map[string]*runbooks.Runbook
	blobs   map[int64][]BlobRef
	header  []steps.KV
	ends    string
	changed chan struct{}
	live    *follow // nil when only what was there at the open is shown

	mu    sync.Mutex
	at    int
	last  triage.State // after the last entry that was read
	limit triage.Limit
	state triage.State // after entry at
	snap  Snapshot
}

// Recorded is one entry of a replay, in words.
type Recorded struct {
	Seq   int64
	Type  string
	At    time.Time
	Actor string
	Step  string
	Text  string
	Level string      // info, warning, critical or ""
	Typed string      // of a gate.answered
	Stay  triage.Stay // in the phase that the call was in then
}

// OpenReplay reads a bundle: open, sealed or a stranger's. What does not fold
// ends the replay, and Ends says why; the error means that nothing can be shown.
func OpenReplay(path string, c Config) (*Replay, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p := &Replay{path: path, cfg: c, books: map[string]*runbooks.Runbook{}, blobs: map[int64][]BlobRef{}, changed: make(chan struct{})}
	p.cfg.Env = steps.Env{}
	for e, err := range r.Entries() {
		if err == nil {
			err = p.read(r, e)
		}
		if err != nil {
			p.ends = err.Error()
			break
		}
	}
	if len(p.tape) == 0 {
		return nil, fmt.Errorf("replaying %s: nothing of it can be read: %s", path, p.ends)
	}
	p.Go(0)
	return p, nil
}

var errLongReplay = errors.New("the journal is longer than a replay reads")

// read adds an entry to the tape.
func (p *Replay) read(r *evidence.Reader, e evidence.Entry) error {
	limit := p.limit // an entry that is refused may come again
	if limit.Take(e.Data, p.last) != nil || len(p.tape) >= replayEntries {
		return errLongReplay
	}
	next, err := journal.Fold(p.last, e)
	if err != nil {
		return err
	}
	if len(p.tape)%replayKeeps == 0 {
		p.kept = append(p.kept, p.last)
	}
	p.last, p.limit = next, limit
	var cur *front
	if n := len(p.fronts); n > 0 {
		cur = p.fronts[n-1]
	}
	p.fronts = append(p.fronts, p.take(r, e, cur))
	p.tape = append(p.tape, e)
	return nil
}

// take notes what an entry brings besides the state: artifacts, runbooks, what
// the incident is about, and the gate in front.
func (p *Replay) take(r *evidence.Reader, e evidence.Entry, cur *front) *front {
	for _, b := range e.Blobs {
		p.blobs[e.Seq] = append(p.blobs[e.Seq], BlobRef{Role: b.Role, SHA: b.SHA256, Size: b.Size, Media: b.Media})
	}
	if e.Type == "env" {
		p.about(e)
	}
	body, err := triage.Decode(e.Type, e.Data)
	if err != nil {
		return cur
	}
	switch b := body.(type) {
	case triage.Plan:
		// A runbook that this handrail cannot read leaves the steps without texts.
		if rb, err := storedRunbook(r, b, p.cfg); err == nil {
			p.books[b.Runbook] = rb
		}
	case triage.GateShown:
		return &front{step: b.Step, digest: steps.Digest(b.Digest), verdicts: b.Verdicts, preview: shownAgain(b)}
	case triage.GateClosed:
		closed := &front{step: b.Step}
		if cur != nil && cur.step == b.Step && cur.refusals == nil {
			*closed = *cur
		}
		closed.moved, closed.refusals = b.Moved, []triage.Refusal{{Why: b.Why}}
		return closed
	}
	return cur
}

// shownAgain is the preview that was recorded.
func shownAgain(b triage.GateShown) steps.Preview {
	p := steps.Preview{Target: journal.LoadedLines(b.Target), Shown: journal.LoadedLines(b.Shown), Diff: b.Diff, Effect: b.Effect, Request: b.Request,
		Command: b.Command, Phrase: b.Phrase, Undo: b.Undo}
	for _, o := range b.Owners {
		p.Owners = append(p.Owners, steps.Owner{Name: o.Name, Paused: o.Paused, How: o.How})
	}
	for _, o := range b.Owes {
		p.Owes = append(p.Owes, steps.Debt{Kind: o.Kind, Text: o.Text})
	}
	return p
}

// about takes what the surroundings tell for the header.
func (p *Replay) about(e evidence.Entry) {
	var told struct {
		Host    string                  `json:"host"`
		Context map[string]triage.Value `json:"context"`
	}
	if json.Unmarshal(e.Data, &told) != nil {
		return
	}
	_, other := told.Context[otherName]
	if _, pin := told.Context[pinName]; other || pin && !journal.Loaded(told.Context[pinOwn]).Bool() {
		return // another cluster than that of the incident
	}
	add := func(key, value string) {
		if value != "" && !slices.ContainsFunc(p.header, func(kv steps.KV) bool { return kv.Key == key }) {
			p.header = append(p.header, steps.KV{Key: key, Value: value})
		}
	}
	for _, kv := range [][2]string{{"cluster", "cluster.server"}, {"workspace", "terraform.workspace"}} {
		if v := told.Context[kv[1]]; v.Known() {
			add(kv[0], journal.Loaded(v).Text())
		}
	}
	add("host", told.Host)
}

// Go shows the incident after the entry of that number, the first or the last
// where there is none.
func (p *Replay) Go(to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to = max(0, min(to, len(p.tape)-1))
	from, st := to/replayKeeps*replayKeeps, p.kept[to/replayKeeps]
	if p.snap.Made.IsZero() || p.at > to || p.at < from {
		p.state = st
	} else {
		from = p.at + 1
	}
	for i := from; i <= to; i++ {
		next, err := journal.Fold(p.state, p.tape[i])
		if err != nil { // it folded when it was read
			return
		}
		p.state = next
	}
	p.at = to
	p.draw()
}

// draw makes the snapshot of the present place, by the same code that a session
// draws with.
func (p *Replay) draw() {
	now := p.time(p.at)
	c := p.cfg
	c.Now = func() time.Time { return now }
	view := &Session{cfg: c, state: p.state, books: p.books, front: p.fronts[p.at], requests: p.requests()}
	if c.Library == nil {
		view.cfg.Library = func(string) (*runbooks.Runbook, error) { return nil, errors.ErrUnsupported }
	}
	view.refreshCards()
	p.snap = Snapshot{State: p.state, Made: now, Cards: view.cards, Header: p.header, Where: view.where(), Next: view.leads, Blobs: p.blobs, Bundle: p.path,
		Options: triage.Options(p.state, now, view.judge), Gate: view.gateView(), Lowers: view.lowersView(), Sealed: p.tape[p.at].Type == "seal"}
	for _, st := range p.state.Steps {
		if st.Status == triage.Running {
			p.snap.Running = append(p.snap.Running, Running{Step: st.ID, Kind: st.Uses, Started: st.Started, Act: st.ID == p.state.Acting})
		}
	}
}

// requests are what the gates that are armed at the present place ask of a second
// person.
func (p *Replay) requests() map[string]approval.Request {
	out := map[string]approval.Request{}
	for _, g := range append(slices.Collect(maps.Values(p.state.Gates)), p.state.Lowering) {
		if g.Phase != triage.GateArmed || g.Shown.Second == nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(p.tape, g.ShownSeq, func(e evidence.Entry, seq int64) int { return cmp.Compare(e.Seq, seq) })
		if ok {
			keepRequest(out, p.state.Incident, p.tape[i])
		}
	}
	return out
}

// Requests lists, at the newest entry that was read, what the armed gates ask of a
// second person.
func (p *Replay) Requests() []approval.Request {
	p.Go(len(p.tape) - 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	byStep := p.requests()
	var out []approval.Request
	for _, step := range slices.Sorted(maps.Keys(byStep)) {
		out = append(out, byStep[step])
	}
	return out
}

func (p *Replay) time(i int) time.Time {
	at, _ := p.tape[i].Time() // it was read once
	return at
}

// Place is the number of the entry that is shown, and of the last one.
func (p *Replay) Place() (at, last int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, len(p.tape) - 1
}

// Now is the time of the entry that is shown.
func (p *Replay) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.time(p.at)
}

// Wait is how long after the entry that is shown the next one was recorded; 0 at
// the last.
func (p *Replay) Wait() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at+1 >= len(p.tape) {
		return 0
	}
	return max(0, p.time(p.at+1).Sub(p.time(p.at)))
}

// Ends says why the replay ends before the journal does, "" where it does not.
func (p *Replay) Ends() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ends
}

// Recorded is the entry that is shown.
func (p *Replay) Recorded() Recorded {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.tape[p.at]
	out := Recorded{Stay: p.state.Here(), Seq: e.Seq, Type: e.Type, At: p.time(p.at), Actor: e.Actor, Step: e.Step}
	if n := len(p.state.Timeline); n > 0 && p.state.Timeline[n-1].Seq == e.Seq {
		m := p.state.Timeline[n-1]
		out.Text, out.Level, out.Step = m.Text, m.Level, m.Step
	} else {
		out.Text = storeText(e)
	}
	if body, err := triage.Decode(e.Type, e.Data); err == nil {
		if b, ok := body.(triage.GateAnswered); ok {
			out.Typed = b.Typed
		}
	}
	return out
}

// storeText says in words what an entry of the store's own is.
func storeText(e evidence.Entry) string {
	var told struct {
		Context map[string]triage.Value `json:"context"`
		Line    string                  `json:"line"`
		Where   string                  `json:"where"`
		Why     string                  `json:"why"`
	}
	_ = json.Unmarshal(e.Data, &told) // what is not there is not said
	switch {
	case e.Type == "env" && told.Context != nil:
		var parts []string
		unknown, what := 0, "the surroundings"
		if v, ok := told.Context[pinName]; ok {
			what = "context " + journal.Loaded(v).Text() + " is held to what it leads to"
		} else if v, ok := told.Context[otherName]; ok {
			what = "the surroundings of context " + journal.Loaded(v).Text()
		}
		for _, name := range slices.Sorted(maps.Keys(told.Context)) {
			v := told.Context[name]
			if !v.Known() {
				unknown++
				continue
			}
			parts = append(parts, name+"="+journal.Loaded(v).Text())
		}
		return fmt.Sprintf("%s: %d known, %d could not be checked; %s", what, len(parts), unknown, strings.Join(parts, " "))
	case e.Type == "env":
		return "the bundle was opened for writing"
	case e.Type == "seal":
		return "the bundle was sealed"
	case e.Type == "reopen":
		return "the bundle was continued after a seal"
	case e.Type == "checkpoint":
		return fmt.Sprintf("the line %q was posted: %s", told.Line, told.Where)
	case e.Type == "recover":
		return "damaged bytes went to quarantine: " + told.Why
	}
	return e.Type
}

// Do refuses: what is shown happened long ago.
func (p *Replay) Do(_ context.Context, in triage.Intent) error {
	why := "this is a replay, and nothing can be done in it"
	if p.live != nil {
		why = "this only follows: another handrail has the incident"
	}
	return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{
		Why: why, Cure: "leave it; an incident that is open goes on with handrail resume"}}}
}

// Snapshot is what the call saw after the entry that is shown.
func (p *Replay) Snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snap
}

// Changed never says anything: only Go changes what is shown.
func (p *Replay) Changed() <-chan struct{} { return p.changed }

// OpenArtifact opens a stored blob, as [Session.OpenArtifact].
func (p *Replay) OpenArtifact(sha string) (journal.Artifact, error) {
	return journal.OpenArtifact(p.path, sha)
}

// Close ends reading.
func (p *Replay) Close() error {
	if p.live == nil {
		return nil
	}
	return p.live.reader.Close()
}
