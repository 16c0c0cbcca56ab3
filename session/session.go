// Package session conducts one incident: it takes intents, runs steps, appends
// evidence, folds events and publishes snapshots.
//
// One goroutine, the owner, has the bundle and the state; what touches either is a
// call of it, one after the other. Probes, previews and acts run beside it. The
// order is always the same: the laws are asked ([triage.Check]), what is about to
// happen is recorded, it happens, what came of it is redacted, appended, synced and
// folded from the stored bytes, and only then shown. A call publishes once, as it
// returns, with all that follows from it. A write that may not have reached the disk
// ends recording: fsync is never tried again, and the snapshot says so.
//
// A gate goes preview, phrase, read again, act. [Session.Do] with DoPreview reads the
// target and arms the gate, or records why not; DoConfirm holds what was typed
// against the phrase, reads the target once more, asks the laws and the policy again,
// and disarms the gate where anything moved. act.go is the only caller of a gate's
// act. The act itself is carried out by an executor, which is [Carry] in a process of
// its own: it claims the slot that act.start names, previews again, has the last word
// on laws and policy, and leaves its outcome where this session or a later one finds
// it. What cannot be told is unknown, and never a success.
//
// [Start] opens an incident and [Resume] goes on with one: it ends what a crash left
// open, and finds acts again. Drivers (the terminal, the answers file) see nothing but
// Do, [Session.Snapshot] and [Session.Changed]; what a snapshot holds is
// session/view's business, what an entry means session/journal's.
package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/session/live"
	"handrail/session/pin"
	"handrail/session/report"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// ErrClosed is returned by Do after Close.
var ErrClosed = errors.New("the session is closed")

// Session is one incident, open for writing. It is safe for use by several
// goroutines.
type Session struct {
	cfg     Config
	calls   chan func()
	stop    chan struct{} // closed by Close: no further calls
	stopped chan struct{} // closed when the owner goroutine has ended
	closing sync.Once
	closeTo error
	snap    atomic.Pointer[view.Snapshot]
	changed chan struct{}
	work    sync.WaitGroup // probes, previews and acts; joined through hold
	doors   sync.Mutex     // guards shut
	shut    bool           // Close has begun: no more work begins
	ctx     context.Context
	cancel  context.CancelFunc // ends probes, not acts

	// Owned by the goroutine of own.
	bundle   *evidence.Bundle
	path     string
	state    triage.State
	books    map[string]*runbooks.Runbook
	actor    string
	flight   map[string]*flight
	front    *view.Front
	requests approval.Requests
	proven   []string // names of the operator that were asked for
	blobs    map[int64][]view.BlobRef
	texts    view.Texts // as of the newest facts, answers and plan
	touched  bool       // something changed since the newest snapshot
	retexted bool       // and facts, answers or the plan did
	header   []steps.KV
	around   map[string][]steps.KV // of the directories and workspaces that plans name
	dead     error
	live     live.Shelf             // what running steps print; guards itself
	asked    map[string]*asks       // by gate: the requests that no entry names yet
	counters map[string]*counter    // of Audit-IDs, by where a run began
	sealed   bool                   // nothing comes after the newest seal
	adopted  []func()               // begin to follow acts that an earlier session ordered
	waiting  map[triage.Reread]bool // targets of acts that are read again when their time comes
	pins     pin.Pins               // what the contexts of the incident lead to
	told     map[string]bool        // contexts whose cluster was asked what it is since this session began
	carrying bool                   // this is an executor: it has no owner and records nothing
	only     *string                // by what the incident is read-only, nil until it was asked
	due      string                 // why the anchor should be posted, "" while it need not be
}

// flight is a step that is running.
type flight struct {
	step, kind string
	started    time.Time
	until      time.Time // when it is cut off, zero for never
	lines      []string
	log        *live.Log
	cancel     context.CancelFunc
	act        bool
	over       chan struct{} // closed when a probe has landed; nil for an act
}

// newSession starts the owner of a bundle whose state is already folded.
func newSession(c Config, b *evidence.Bundle, path string) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	c.Env.Incident, c.Env.Private = strings.TrimSuffix(filepath.Base(path), ".hrb"), ""
	if c.Dir != "" {
		c.Env.Private = plansOf(c.Dir, c.Env.Incident)
	}
	s := &Session{
		cfg: c, calls: make(chan func()), stop: make(chan struct{}), stopped: make(chan struct{}),
		changed: make(chan struct{}, 1), ctx: ctx, cancel: cancel,
		bundle: b, path: path, books: map[string]*runbooks.Runbook{}, flight: map[string]*flight{},
		blobs: map[int64][]view.BlobRef{}, header: c.Header, asked: map[string]*asks{}, waiting: map[triage.Reread]bool{}, requests: approval.Requests{},
		told: map[string]bool{},
	}
	s.cfg.Env.Pin = s.pin
	s.actor = c.Actor.ID
	for _, v := range c.Secrets {
		b.Secret(v)
	}
	return s
}

// secret keeps a value off the disk and the screen from now on.
func (s *Session) secret(value string) {
	s.bundle.Secret(value)
	s.live.Forget(value, s.bundle.Redact)
	if s.cfg.Learned != nil {
		s.cfg.Learned(value)
	}
}

// own runs calls one after the other until Close; nothing else touches the
// bundle or the state.
func (s *Session) own() {
	defer close(s.stopped)
	for {
		select {
		case f := <-s.calls:
			f()
		case <-s.stop:
			return
		}
	}
}

// call runs f on the owner and waits for it. Once f has begun its result is
// awaited even when ctx ends, since an event may already be durable.
func (s *Session) call(ctx context.Context, f func() error) error {
	reply := make(chan error, 1)
	select {
	case s.calls <- func() { reply <- s.survived(f) }:
		return <-reply
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stopped:
		return ErrClosed
	}
}

// survived turns a panic of the owner into the end of recording. The program
// must live on: an act may be running beside, and its outcome file is what the
// next handrail goes on from.
func (s *Session) survived(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("an internal error in handrail: %s", s.bundle.Redact(fmt.Sprint(v)))
			s.dead = fmt.Errorf("incident %s: nothing can be recorded any more: %w", s.state.Incident, err)
			last := s.Snapshot() // what was published last is whole; a new one may run into the fault again
			last.Dead = s.dead.Error()
			last.Running = slices.DeleteFunc(slices.Clone(last.Running), func(r view.Running) bool { return s.flight[r.Step] == nil })
			s.touched, s.retexted = false, false
			s.show(&last)
		}
	}()
	err = f()
	s.publish() // also after an error: what was recorded before it is shown
	return err
}

// hold makes Close wait until the work.Done that must follow. After Close has
// begun it is false, and nothing may be started: Close would not wait for it.
func (s *Session) hold() bool {
	s.doors.Lock()
	defer s.doors.Unlock()
	if s.shut {
		return false
	}
	s.work.Add(1)
	return true
}

// Do carries out one intent. A nil error means that what it recorded is
// durable; a probe goes on beside it, and an act too once its confirmation is
// recorded and its target was read again. *triage.Refused says that the loop
// does not allow the intent now.
func (s *Session) Do(ctx context.Context, in triage.Intent) error {
	switch in.Kind {
	case triage.DoProbe:
		return s.call(ctx, func() error { return s.startProbe(in) })
	case triage.DoCancel, triage.DoInterrupt:
		return s.call(ctx, func() error { return s.cancelStep(in) })
	case triage.DoPreview:
		return s.preview(ctx, in)
	case triage.DoConfirm:
		return s.confirm(ctx, in)
	case triage.DoApprove:
		return s.approve(ctx, in)
	case triage.DoSeverity:
		return s.severity(ctx, in)
	case triage.DoClose:
		return s.closeIncident(ctx, in)
	case triage.DoPlan:
		return s.call(ctx, func() error { return s.takeUp(in) })
	default:
		return s.call(ctx, func() error { return s.plain(in) })
	}
}

// Snapshot returns the newest published snapshot. The caller must not change
// it.
func (s *Session) Snapshot() view.Snapshot { return *s.snap.Load() }

// Changed is signalled after one or more publications; it has room for one
// signal, so a slow driver sees the newest state and misses nothing.
func (s *Session) Changed() <-chan struct{} { return s.changed }

// OpenArtifact opens the blob of that hash. Nothing of it is read by that.
func (s *Session) OpenArtifact(sha string) (journal.Artifact, error) {
	return journal.OpenArtifact(s.path, sha)
}

// Now is the time by which the session goes.
func (s *Session) Now() time.Time { return s.cfg.Now() }

// Close cancels probes and closes the bundle. The incident stays as it is. An act
// goes on in its own process, and the resume finds it there; one that runs
// in this process is waited for.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.doors.Lock()
		s.shut = true
		s.doors.Unlock()
		s.cancel()
		s.work.Wait()
		close(s.stop)
		<-s.stopped
		s.closeTo = errors.Join(s.bundle.Close(), report.Write(s.path, s.state))
	})
	return s.closeTo
}

// cancelStep stops a running probe, or sends one interrupt to a running act.
func (s *Session) cancelStep(in triage.Intent) error {
	f := s.flight[in.Step]
	if f == nil {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{Why: "nothing is running in this step"}}}
	}
	if f.act && in.Kind != triage.DoInterrupt {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{
			Why: "an act is running, and leaving it half done is worse", Cure: "wait, or interrupt it explicitly"}}}
	}
	f.cancel()
	return nil
}

// plain records an intent that is one event and nothing else.
func (s *Session) plain(in triage.Intent) error {
	var grounds []string
	switch in.Kind {
	case triage.DoConclude:
		in.Proposed, grounds, _ = s.scene().Propose(in.Topic)
	case triage.DoAnswer:
		in.Proposed = s.scene().ProposeAnswer(in.Step)
	}
	if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
		return r
	}
	if r := s.scene().Words(in); r != nil {
		return r
	}
	if err := s.enter(in); err != nil {
		return err
	}
	body, ok := triage.Draft(s.state, in)
	if !ok {
		return fmt.Errorf("intent %q is not known to this session", in.Kind)
	}
	if c, ok := body.(triage.Conclude); ok {
		c.Grounds = grounds
		body = c
	}
	if in.Kind == triage.DoDisarm {
		s.front = nil
	}
	if err := s.record(body, nil); err != nil {
		return err
	}
	if in.Kind == triage.DoClose {
		return errors.Join(report.Write(s.path, s.state), s.forgetPlans())
	}
	if in.Kind == triage.DoConclude || in.Kind == triage.DoWaive {
		s.retext() // the owner follows the domain, and the class what cannot be had any more
	}
	if in.Kind == triage.DoAnswer {
		s.retext()
		if err := s.compareRead(); err != nil {
			return err
		}
	}
	return s.oweRest()
}

// enter moves the call to the phase of what is about to be done, so that the
// journal says where the call was at any moment.
func (s *Session) enter(in triage.Intent) error {
	switch in.Kind {
	case triage.DoProbe, triage.DoAnswer, triage.DoManual, triage.DoConclude, triage.DoPreview:
	default:
		return nil
	}
	to := s.state.PhaseOf(triage.Option{Kind: in.Kind, Step: in.Step, Topic: in.Topic})
	if to == "" || to == s.state.Phase {
		return nil
	}
	if err := s.record(triage.PhaseSet{To: to}, nil); err != nil {
		return err
	}
	return s.oweRest()
}

// oweRest records what an unfinished change leaves owing, if nothing did yet.
func (s *Session) oweRest() error {
	d, ok := s.state.Owing()
	if !ok {
		return nil
	}
	return s.openDebt(d.Of, steps.Debt{Kind: d.Kind, Text: d.Text})
}

// record appends one event and folds the bytes that were stored; the call that it
// is part of shows them. An event that would not fold is refused before anything is written.
func (s *Session) record(body triage.Body, blobs []evidence.Blob) error {
	if s.dead != nil {
		return s.dead
	}
	if err := triage.Follows(s.state, triage.Event{Seq: s.state.Seq + 1, At: s.cfg.Now(), Actor: s.actor, Body: body}); err != nil {
		return fmt.Errorf("recording %s: %w", body.Type(), err)
	}
	e, err := s.append(body, blobs)
	switch {
	case errors.Is(err, evidence.ErrTooLarge):
		return err // nothing was written
	case err != nil:
		return s.die(err)
	}
	if err := s.fold(e); err != nil {
		return s.die(err)
	}
	s.touch()
	return nil
}

// ctxForDisk is never cancelled: an entry is either written whole or its
// failure is known.
func (s *Session) ctxForDisk() context.Context { return context.Background() }

// die marks the session read-only after a write that may not have reached the
// disk; fsync is never tried again.
func (s *Session) die(err error) error {
	s.dead = fmt.Errorf("incident %s: nothing can be recorded any more: %w", s.state.Incident, err)
	s.touch()
	return s.dead
}

// fold applies one stored entry.
func (s *Session) fold(e evidence.Entry) error {
	st, err := journal.Fold(s.state, e)
	if err != nil {
		return err
	}
	s.state = st
	s.requests.Note(st.Incident, e)
	s.pins.Note(e)
	s.due = anchorDue(s.due, e)
	s.sealed = e.Type == "seal"
	if len(e.Blobs) > 0 && s.snap.Load() != nil {
		s.blobs = maps.Clone(s.blobs) // snapshots share the old one
	}
	for _, b := range e.Blobs {
		s.blobs[e.Seq] = append(s.blobs[e.Seq], view.BlobRef{Role: b.Role, SHA: b.SHA256, Size: b.Size, Media: b.Media})
	}
	return nil
}
