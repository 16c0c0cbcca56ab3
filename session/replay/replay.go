// Package replay shows a recorded incident entry by entry: after each one the
// snapshot is what the call saw then, worked out by the code of the session.
//
// [Open] reads a bundle that is there: open, sealed or a stranger's. [Follow] looks on
// while another handrail writes it: [Tape.Grow] reads what was added. [FollowPushed]
// looks on at copies that another machine pushes, and takes a newer copy only where
// it goes on from the one before. A bundle may be a stranger's, so that what is read
// of it is bounded; what does not fold ends the tape, and [Tape.Ends] says why.
// Nothing here has a session: it locks nothing, writes nothing, runs no step, asks no
// cluster, and refuses every intent.
package replay

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
	"handrail/session/pin"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

const (
	// replayKeeps is after how many entries a state is kept, to go back from.
	replayKeeps = 64
	// replayEntries bounds what is read of a bundle: it may be a stranger's.
	replayEntries = 200_000
)

// Config is what a replay needs of the program around it.
type Config struct {
	Catalog steps.Catalog                              // texts of kinds
	Library func(id string) (*runbooks.Runbook, error) // of this handrail; nil for none
	Now     func() time.Time                           // of who looks on, for what is pushed
}

// Tape is a recorded incident that is looked at entry by entry: after each the
// snapshot is what the call saw then. There is no session behind it. It opens no
// bundle for writing, runs no step and refuses every intent.
type Tape struct {
	path    string
	cfg     Config
	tape    []evidence.Entry
	fronts  []*view.Front  // the gate in front after each entry
	kept    []triage.State // before entry 0, 64, 128 and so on
	books   map[string]*runbooks.Runbook
	blobs   map[int64][]view.BlobRef
	header  []steps.KV
	ends    string
	changed chan struct{}
	live    *follow // nil when only what was there at the open is shown

	mu    sync.Mutex
	at    int
	last  triage.State // after the last entry that was read
	limit triage.Limit
	state triage.State // after entry at
	snap  view.Snapshot
}

// Entry is one entry of a replay, in words.
type Entry struct {
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

// Open reads a bundle: open, sealed or a stranger's. What does not fold
// ends the replay, and Ends says why; the error means that nothing can be shown.
func Open(path string, c Config) (*Tape, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p := &Tape{path: path, cfg: c, books: map[string]*runbooks.Runbook{}, blobs: map[int64][]view.BlobRef{}, changed: make(chan struct{})}
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
		return nil, fmt.Errorf("replaying %s: nothing can be read: %s", path, p.ends)
	}
	p.Go(0)
	return p, nil
}

var errLongReplay = errors.New("the journal is longer than a replay reads")

// read adds an entry to the tape.
func (p *Tape) read(r *evidence.Reader, e evidence.Entry) error {
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
	var cur *view.Front
	if n := len(p.fronts); n > 0 {
		cur = p.fronts[n-1]
	}
	p.fronts = append(p.fronts, p.take(r, e, cur))
	p.tape = append(p.tape, e)
	return nil
}

// take notes what an entry brings besides the state: artifacts, runbooks, what
// the incident is about, and the gate in front.
func (p *Tape) take(r *evidence.Reader, e evidence.Entry, cur *view.Front) *view.Front {
	for _, b := range e.Blobs {
		p.blobs[e.Seq] = append(p.blobs[e.Seq], view.BlobRef{Role: b.Role, SHA: b.SHA256, Size: b.Size, Media: b.Media})
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
		if rb, err := journal.Runbook(r, b, p.cfg.Catalog); err == nil {
			p.books[b.Runbook] = rb
		}
	case triage.GateShown:
		return &view.Front{Step: b.Step, Digest: steps.Digest(b.Digest), Verdicts: b.Verdicts, Preview: shownAgain(b)}
	case triage.GateClosed:
		closed := &view.Front{Step: b.Step}
		if cur != nil && cur.Step == b.Step && cur.Refusals == nil {
			*closed = *cur
		}
		closed.Moved, closed.Refusals = b.Moved, []triage.Refusal{{Why: b.Why, At: b.Opens}}
		return closed
	}
	return cur
}

// shownAgain is the preview that was recorded.
func shownAgain(b triage.GateShown) steps.Preview {
	return steps.Preview{Target: b.Target, Shown: b.Shown, Diff: b.Diff, Effect: b.Effect, Request: b.Request,
		Command: b.Command, Phrase: b.Phrase, Undo: b.Undo, Owners: b.Owners, Owes: b.Owes, Pays: b.Pays}
}

// about takes what the surroundings tell for the header.
func (p *Tape) about(e evidence.Entry) {
	var told struct {
		pin.Surroundings
		Host string `json:"host"`
	}
	if json.Unmarshal(e.Data, &told) != nil {
		return
	}
	if told.Foreign() {
		return
	}
	add := func(key, value string) {
		if value != "" && !slices.ContainsFunc(p.header, func(kv steps.KV) bool { return kv.Key == key }) {
			p.header = append(p.header, steps.KV{Key: key, Value: value})
		}
	}
	for _, kv := range [][2]string{{"cluster", "cluster.server"}, {"workspace", "terraform.workspace"}} {
		if v := told.Context[kv[1]]; v.Known() {
			add(kv[0], v.Text())
		}
	}
	add("host", told.Host)
}

// Go shows the incident after the entry of that number, the first or the last
// where there is none.
func (p *Tape) Go(to int) {
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
func (p *Tape) draw() {
	scene := view.Scene{State: p.state, Now: p.time(p.at), Books: p.books, Library: p.cfg.Library, Catalog: p.cfg.Catalog, Front: p.fronts[p.at], Requests: p.requests()}
	p.snap = scene.Snapshot(scene.Texts())
	p.snap.Header, p.snap.Blobs, p.snap.Bundle, p.snap.Sealed = p.header, p.blobs, p.path, p.tape[p.at].Type == "seal"
	for _, st := range p.state.Steps {
		if st.Status == triage.Running {
			p.snap.Running = append(p.snap.Running, view.Running{Step: st.ID, Kind: st.Uses, Started: st.Started, Act: st.ID == p.state.Acting})
		}
	}
}

// requests are what the gates that are armed at the present place ask of a second
// person.
func (p *Tape) requests() approval.Requests {
	out := approval.Requests{}
	for _, g := range append(slices.Collect(maps.Values(p.state.Gates)), p.state.Lowering) {
		if g.Phase != triage.GateArmed || g.Shown.Second == nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(p.tape, g.ShownSeq, func(e evidence.Entry, seq int64) int { return cmp.Compare(e.Seq, seq) })
		if ok {
			out.Note(p.state.Incident, p.tape[i])
		}
	}
	return out
}

// Requests lists, at the newest entry that was read, what the armed gates ask of a
// second person.
func (p *Tape) Requests() []approval.Request {
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

func (p *Tape) time(i int) time.Time {
	at, _ := p.tape[i].Time() // it was read once
	return at
}

// Place is the number of the entry that is shown, and of the last one.
func (p *Tape) Place() (at, last int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, len(p.tape) - 1
}

// Now is the time of the entry that is shown.
func (p *Tape) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.time(p.at)
}

// Wait is how long after the entry that is shown the next one was recorded; 0 at
// the last.
func (p *Tape) Wait() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at+1 >= len(p.tape) {
		return 0
	}
	return max(0, p.time(p.at+1).Sub(p.time(p.at)))
}

// Ends says why the replay ends before the journal does, "" where it does not.
func (p *Tape) Ends() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ends
}

// Recorded is the entry that is shown.
func (p *Tape) Recorded() Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.tape[p.at]
	out := Entry{Stay: p.state.Here(), Seq: e.Seq, Type: e.Type, At: p.time(p.at), Actor: e.Actor, Step: e.Step}
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
		if v, ok := told.Context[pin.Name]; ok {
			what = "context " + v.Text() + " is pinned to its cluster"
		} else if v, ok := told.Context[pin.Other]; ok {
			what = "the surroundings of context " + v.Text()
		}
		for _, name := range slices.Sorted(maps.Keys(told.Context)) {
			v := told.Context[name]
			if !v.Known() {
				unknown++
				continue
			}
			parts = append(parts, name+"="+v.Text())
		}
		return fmt.Sprintf("%s: %d known, %d could not be checked; %s", what, len(parts), unknown, strings.Join(parts, " "))
	case e.Type == "env":
		return "the bundle was opened for writing"
	case e.Type == "seal":
		return "the bundle was sealed"
	case e.Type == "reopen":
		return "the bundle was reopened after a seal"
	case e.Type == "checkpoint":
		return fmt.Sprintf("the line %q was posted: %s", told.Line, told.Where)
	case e.Type == "recover":
		return "damaged bytes went to quarantine: " + told.Why
	}
	return e.Type
}

// Do refuses: what is shown happened long ago.
func (p *Tape) Do(_ context.Context, in triage.Intent) error {
	why := "this is a replay, and cannot act"
	if p.live != nil {
		why = "this view only follows: another handrail has the incident"
	}
	return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{
		Why: why, Cure: "leave it; continue an open incident with handrail resume"}}}
}

// Snapshot is what the call saw after the entry that is shown.
func (p *Tape) Snapshot() view.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snap
}

// Changed never says anything: only Go changes what is shown.
func (p *Tape) Changed() <-chan struct{} { return p.changed }

// OpenArtifact opens a stored blob, as [Session.OpenArtifact].
func (p *Tape) OpenArtifact(sha string) (journal.Artifact, error) {
	return journal.OpenArtifact(p.path, sha)
}

// Close ends reading.
func (p *Tape) Close() error {
	if p.live == nil {
		return nil
	}
	return p.live.reader.Close()
}
