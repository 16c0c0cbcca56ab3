package session

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Start opens a new incident: a bundle with the events open, person and plan.
// It waits for no network; who acts is asked of the API server beside.
func Start(ctx context.Context, c Config, b Begin) (*Session, error) {
	now := c.Now()
	id, err := incidentID(now, b.Runbook.ID, c.Rand)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{c.Dir, c.Keys, c.Acts} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("opening incident %s: %w", id, err)
		}
	}
	bundle, err := evidence.Create(c.Dir, id, c.evidence())
	if err != nil {
		return nil, fmt.Errorf("opening incident %s: %w", id, err)
	}
	s := newSession(c, bundle, filepath.Join(c.Dir, id+".hrb"))
	if err := s.begin(id, b); err != nil {
		_ = bundle.Close()
		return nil, fmt.Errorf("opening incident %s: %w", id, err)
	}
	s.run()
	return s, nil
}

// Resume opens an incident again, in the state its journal tells: an act that
// began and never ended has an unknown outcome, a probe that was cut off is
// recorded as cancelled, an armed gate is disarmed.
func Resume(ctx context.Context, c Config, path string) (*Session, error) {
	bundle, err := evidence.Open(path, c.evidence())
	if err != nil {
		return nil, fmt.Errorf("resuming %s: %w", filepath.Base(path), err)
	}
	if err := named(path, bundle.ID()); err != nil {
		return nil, errors.Join(fmt.Errorf("resuming %s: %w", filepath.Base(path), err), bundle.Close())
	}
	s := newSession(c, bundle, path)
	s.relearn()
	if err := s.reload(); err != nil {
		_ = bundle.Close()
		return nil, fmt.Errorf("resuming %s: %w", filepath.Base(path), err)
	}
	if s.state.Outcome == "" {
		err := errors.Join(s.takeOver(), s.sayForgot())
		if err == nil {
			err = s.mend()
		}
		if err != nil {
			_ = bundle.Close()
			return nil, fmt.Errorf("resuming %s: %w", filepath.Base(path), err)
		}
	}
	s.run()
	return s, nil
}

// ErrRenamed: the folder of a bundle is not named by its incident. Its acts, keys
// and plans are found by that name, so it could only be resumed as another one.
var ErrRenamed = errors.New("the folder is not named by its incident")

// RenamedError is an ErrRenamed with the name that the folder has to have.
type RenamedError struct{ Path, Want string }

func (e *RenamedError) Error() string {
	return fmt.Sprintf("%v: %q is incident %s", ErrRenamed, e.Path, strings.TrimSuffix(e.Want, ".hrb"))
}

func (e *RenamedError) Unwrap() error { return ErrRenamed }

func named(path, id string) error {
	if filepath.Base(path) != id+".hrb" {
		return &RenamedError{Path: path, Want: id + ".hrb"}
	}
	return nil
}

// ErrHandover: the last operator was another person, and nothing says why this one
// goes on.
var ErrHandover = errors.New("another person was at the keyboard")

// HandoverError is an ErrHandover with the names: who was at the keyboard, and who
// is now.
type HandoverError struct{ From, To string }

func (e *HandoverError) Error() string {
	return fmt.Sprintf("%v: %s, and now it is %s", ErrHandover, e.From, e.To)
}

func (e *HandoverError) Unwrap() error { return ErrHandover }

// takeOver records that another person goes on. What was given over needs no
// further reason.
func (s *Session) takeOver() error {
	from, to, why := s.state.Operator, s.cfg.Actor, strings.TrimSpace(s.cfg.Takeover)
	given := s.state.GivenOver()
	switch {
	case from == "" && !given, from == to.ID:
		return nil
	case why == "" && given:
		why = fmt.Sprintf("as %s handed it over: %s", s.state.Handed.From, s.state.Handed.Why)
	case why == "":
		return &HandoverError{From: from, To: to.ID}
	}
	if !slices.ContainsFunc(s.state.People, func(p triage.Person) bool { return p.ID == to.ID && p.Subject == to.Subject }) {
		if err := s.record(to, nil); err != nil {
			return err
		}
	}
	return s.record(triage.Handover{From: from, To: to.ID, Why: why}, nil)
}

func (c Config) evidence() evidence.Options {
	return evidence.Options{Now: c.Now, Keys: c.Keys, Version: c.Version, Team: c.Redaction, Types: triage.IsEvent, Recipients: c.Recipients, KeepKey: c.KeepKey}
}

// run publishes the first snapshot and starts the owner.
func (s *Session) run() {
	s.retext()
	s.publish()
	if s.state.Outcome == "" {
		s.custody()
	}
	s.readAgain() // before the owner has the state
	go s.own()
	for _, f := range s.adopted {
		f()
	}
	s.adopted = nil
}

// identify asks who acts and records the answer; where it cannot be asked, the
// identity of the operating system stands.
func (s *Session) identify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	p, err := s.whoActs(ctx)
	if err != nil || p.ID == "" {
		return
	}
	_ = s.call(s.ctx, func() error {
		s.proven = append(s.proven, p.ID)
		for _, known := range s.state.People {
			if known.ID == p.ID && known.Subject == p.Subject {
				return nil
			}
		}
		return s.record(p, nil)
	})
}

func (s *Session) whoActs(ctx context.Context) (p triage.Person, err error) {
	defer fault.Into(&err)
	return s.cfg.Identify(ctx, s.cfg.Env)
}

func (s *Session) begin(id string, b Begin) error {
	if err := s.reload(); err != nil { // the store's own first entry
		return err
	}
	title, sev := b.Title, b.Severity
	if title == "" {
		title = b.Runbook.Title
	}
	if sev == "" {
		sev = b.Runbook.Severity
	}
	if err := s.record(triage.Open{Incident: id, Title: title, Severity: sev, Drill: b.Drill, Kind: b.Kind, Rules: s.rules()}, nil); err != nil {
		return err
	}
	if err := s.record(s.cfg.Actor, nil); err != nil {
		return err
	}
	for _, c := range b.Parts {
		if err := s.record(c, nil); err != nil {
			return err
		}
	}
	params, err := s.keepPasted(b.Params, b.Pasted)
	if err != nil {
		return err
	}
	return s.plan(b.Runbook, params, "")
}

// reload folds the whole journal.
func (s *Session) reload() error { return s.readUpTo(math.MaxInt64) }

// readUpTo folds the journal up to an entry. What comes after it is not looked at:
// it may be being written.
func (s *Session) readUpTo(last int64) error {
	r, err := evidence.OpenReadOnly(s.path)
	if err != nil {
		return err
	}
	defer r.Close()
	for e, err := range r.Entries() {
		if err != nil {
			return err
		}
		if err := s.fold(e); err != nil {
			return err
		}
		if e.Seq >= last {
			break
		}
	}
	// The incident names the directory of its acts, so a journal may not choose it.
	if got := s.state.Incident; got != "" && got != s.bundle.ID() {
		return fmt.Errorf("its journal is of incident %q: read it with bundle show, and do not act from it", got)
	}
	for _, p := range s.state.Plans {
		rb, err := journal.Runbook(r, p, s.cfg.Catalog)
		if err != nil {
			return err
		}
		s.books[p.Runbook] = rb
	}
	return nil
}

// mend ends what a crash left open: probes are cancelled, gates disarmed, an
// act without an end is unknown unless its executor left an outcome.
func (s *Session) mend() error {
	for _, st := range s.state.Steps {
		if st.Status != triage.Running {
			continue
		}
		end := triage.ProbeEnd{Step: st.ID, N: st.Attempts, Outcome: "cancelled", Summary: "cut off when handrail ended", Facts: s.unknownFacts(st.ID, "handrail ended during the read")}
		if err := s.record(end, nil); err != nil {
			return err
		}
	}
	for id, g := range s.state.Gates {
		if g.Phase != triage.GateArmed && g.Phase != triage.GateConfirmed {
			continue
		}
		if err := s.record(triage.GateClosed{Step: id, Digest: g.Digest, Why: "handrail ended while the gate was armed"}, nil); err != nil {
			return err
		}
	}
	if s.state.Acting != "" {
		if err := s.recoverAct(s.state.Acting); err != nil {
			return err
		}
	}
	return s.owe()
}

// owe records the debts of acts that were done, where a crash came between the
// end of the act and its debts.
func (s *Session) owe() error {
	for id, g := range s.state.Gates {
		var owes []steps.Debt
		if g.Phase == triage.GateDone {
			owes = slices.Clone(g.Shown.Owes)
		}
		if g.Again.Outcome == triage.Undone {
			owes = append(owes, undoneDebt(id))
		}
		for _, o := range owes {
			if slices.ContainsFunc(s.state.Debts, func(d triage.Debt) bool { return d.Of == id && d.Kind == o.Kind && d.Text == o.Text }) {
				continue
			}
			if err := s.openDebt(id, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// incidentID is <yyyymmdd-hhmmss>-<runbook>-<4 base32>.
func incidentID(now time.Time, runbook string, rand io.Reader) (string, error) {
	var b [3]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("naming the incident: %w", err)
	}
	tail := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])[:4])
	return now.UTC().Format("20060102-150405") + "-" + runbook + "-" + tail, nil
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
