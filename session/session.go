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
	"slices"
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
	if no := (*triage.Refused)(nil); errors.As(err, &no) {
		s.touch() // time alone may have closed what was offered
	}
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
