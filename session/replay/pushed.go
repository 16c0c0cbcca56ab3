package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
)

// Copies is where the newest copy of a bundle that is being pushed comes from.
type Copies interface {
	// Newest fetches the newest copy where there is another one than before, and
	// says where it lies and when it was stored, zero where it is not known. The path
	// is "" where nothing is new. What it gave stays readable until the call after
	// the next one that gives something.
	Newest(ctx context.Context) (path string, stored time.Time, err error)
	// Close removes what was fetched.
	Close() error
}

// Freshness says how a pushed copy stands.
type Freshness struct {
	Place  string
	At     time.Time // when the place last answered
	Stored time.Time // when the newest copy was stored, by that place or else when it was fetched
	Err    string    // why the newest look failed, "" where it did not
}

// lookEvery bounds how often a place behind a network is asked.
const lookEvery = 5 * time.Second

// Pushed is an incident that another handrail has on another machine, and pushes:
// a live tape whose entries come with each copy. Close it.
type Pushed struct {
	cfg   Config
	from  Copies
	ctx   context.Context
	leave context.CancelFunc

	mu    sync.Mutex
	tape  *Tape
	heard Freshness
	next  time.Time
}

// ErrNotContinued: a copy does not go on from the one before.
var ErrNotContinued = errors.New("the copy there does not continue what was seen")

// FollowPushed opens the newest copy of an incident, placed at its newest entry.
func FollowPushed(ctx context.Context, from Copies, place string, c Config) (*Pushed, error) {
	path, stored, err := from.Newest(ctx)
	if err == nil && path == "" {
		err = errors.New("nothing was fetched")
	}
	if err != nil {
		return nil, fmt.Errorf("following %s: %w", place, err)
	}
	tape, err := Open(path, c)
	if err != nil {
		return nil, err
	}
	_, last := tape.Place()
	tape.Go(last)
	p := &Pushed{cfg: c, from: from, tape: tape, heard: Freshness{Place: place}}
	p.ctx, p.leave = context.WithCancel(context.WithoutCancel(ctx))
	p.hear(stored)
	return p, nil
}

// hear notes that the place answered.
func (p *Pushed) hear(stored time.Time) {
	now := p.cfg.Now()
	p.heard.At, p.heard.Err, p.next = now, "", now.Add(lookEvery)
	if stored.IsZero() {
		stored = now
	}
	p.heard.Stored = stored
}

// Grow asks the place, once in five seconds, and returns how many entries came. It
// may block as long as the network does.
func (p *Pushed) Grow() int {
	p.mu.Lock()
	if p.cfg.Now().Before(p.next) || p.ctx.Err() != nil || p.tape.last.Outcome != "" {
		p.mu.Unlock()
		return 0
	}
	p.next = p.cfg.Now().Add(lookEvery)
	p.mu.Unlock()
	path, stored, err := p.from.Newest(p.ctx) // without the lock: the screens go on
	var tape *Tape
	if err == nil && path != "" {
		tape, err = Open(path, p.cfg)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	if err == nil && tape != nil {
		n, err = p.swap(tape)
	}
	switch {
	case err != nil:
		p.heard.Err = err.Error()
	case path == "": // the same copy as before
		p.hear(p.heard.Stored)
	default:
		p.hear(stored)
	}
	return n
}

// swap puts a newer copy in the place of the present one, at the same entry.
func (p *Pushed) swap(tape *Tape) (int, error) {
	had, has := len(p.tape.tape), len(tape.tape)
	if has < had || tape.tape[had-1].Hash != p.tape.tape[had-1].Hash {
		return 0, fmt.Errorf("%w: %s", ErrNotContinued, p.heard.Place)
	}
	at, _ := p.tape.Place()
	tape.Go(at)
	p.tape = tape
	return has - had, nil
}

func (p *Pushed) now() *Tape {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tape
}

// Heard says when the place last answered, and how old the copy is.
func (p *Pushed) Heard() Freshness {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard
}

// Live reports that the tape grows.
func (p *Pushed) Live() bool { return true }

// Go shows the incident after the entry of that number.
func (p *Pushed) Go(to int) {
	tape := p.now()
	tape.Go(to)
}

// Place is the number of the entry that is shown, and of the last one.
func (p *Pushed) Place() (at, last int) { return p.now().Place() }

// Now is the time of the entry that is shown.
func (p *Pushed) Now() time.Time { return p.now().Now() }

// Wait is how long after the entry that is shown the next one was recorded.
func (p *Pushed) Wait() time.Duration { return p.now().Wait() }

// Ends says why the tape ends before the journal does, "" where it does not.
func (p *Pushed) Ends() string { return p.now().Ends() }

// Recorded is the entry that is shown.
func (p *Pushed) Recorded() Entry { return p.now().Recorded() }

// Snapshot is what the call saw after the entry that is shown.
func (p *Pushed) Snapshot() view.Snapshot { return p.now().Snapshot() }

// Changed never says anything: only Go changes what is shown.
func (p *Pushed) Changed() <-chan struct{} { return p.now().Changed() }

// OpenArtifact opens a stored blob of the newest copy.
func (p *Pushed) OpenArtifact(sha string) (journal.Artifact, error) { return p.now().OpenArtifact(sha) }

// Do refuses: another handrail has the incident.
func (p *Pushed) Do(_ context.Context, in triage.Intent) error {
	return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{
		Why: "this is a pushed copy: another handrail has the incident, on another machine", Cure: "leave it; the work continues on the other machine"}}}
}

// Close ends looking, and removes what was fetched.
func (p *Pushed) Close() error {
	p.leave()
	return p.from.Close()
}
