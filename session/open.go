package session

import (
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
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
	s := newSession(c, bundle, path)
	if err := s.reload(); err != nil {
		_ = bundle.Close()
		return nil, fmt.Errorf("resuming %s: %w", filepath.Base(path), err)
	}
	if s.state.Outcome == "" {
		if err := s.mend(); err != nil {
			_ = bundle.Close()
			return nil, fmt.Errorf("resuming %s: %w", filepath.Base(path), err)
		}
	}
	s.run()
	return s, nil
}

func (c Config) evidence() evidence.Options {
	return evidence.Options{Now: c.Now, Keys: c.Keys, Version: c.Version, Team: c.Redaction}
}

// run publishes the first snapshot and starts the owner.
func (s *Session) run() {
	s.refreshCards()
	s.publish()
	if s.state.Outcome == "" {
		s.custody()
	}
	go s.own()
}

// identify asks who acts and records the answer; where it cannot be asked, the
// identity of the operating system stands.
func (s *Session) identify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	p, err := s.cfg.Identify(ctx)
	if err != nil || p.ID == "" {
		return
	}
	_ = s.call(s.ctx, func() error {
		for _, known := range s.state.People {
			if known.ID == p.ID && known.Subject == p.Subject {
				return nil
			}
		}
		return s.record(p, nil)
	})
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
	if err := s.record(triage.Open{Incident: id, Title: title, Severity: sev, Drill: b.Drill}, nil); err != nil {
		return err
	}
	if err := s.record(s.cfg.Actor, nil); err != nil {
		return err
	}
	return s.plan(b.Runbook, b.Params, "")
}

// reload folds the whole journal.
func (s *Session) reload() error {
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
	}
	// The incident names the directory of its acts, so a journal may not choose it.
	if got := s.state.Incident; got != "" && got != s.bundle.ID() {
		return fmt.Errorf("its journal tells of incident %q: read it with bundle show, and do not act from it", got)
	}
	for _, p := range s.state.Plans {
		rb, err := storedRunbook(r, p, s.cfg)
		if err != nil {
			return err
		}
		s.books[p.Runbook] = rb
	}
	return nil
}

// storedRunbook reads a runbook as it was when the incident took it up, never
// today's embedded file.
func storedRunbook(r *evidence.Reader, p triage.Plan, c Config) (*runbooks.Runbook, error) {
	f, err := r.OpenBlob(p.Blob)
	if err != nil {
		return nil, fmt.Errorf("runbook %s: %w", p.Runbook, err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("runbook %s: %w", p.Runbook, err)
	}
	rb, err := runbooks.Parse(p.Runbook+".yaml", src, c.Catalog)
	if err != nil {
		return nil, fmt.Errorf("runbook %s as stored in the bundle: %w", p.Runbook, err)
	}
	return rb, nil
}

// mend ends what a crash left open: probes are cancelled, gates disarmed, an
// act without an end is unknown unless its executor left an outcome.
func (s *Session) mend() error {
	for _, st := range s.state.Steps {
		if st.Status != triage.Running {
			continue
		}
		end := triage.ProbeEnd{Step: st.ID, N: st.Attempts, Outcome: "cancelled", Summary: "cut off when handrail ended", Facts: s.unknownFacts(st.Uses, "handrail ended during the read")}
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
		if g.Phase != triage.GateDone {
			continue
		}
		for _, o := range g.Shown.Owes {
			if slices.ContainsFunc(s.state.Debts, func(d triage.Debt) bool { return d.Of == id && d.Kind == o.Kind && d.Text == o.Text }) {
				continue
			}
			due, _ := time.ParseDuration(o.Due) // "" means no time
			if err := s.openDebt(id, steps.Debt{Kind: o.Kind, Text: o.Text, Due: due}); err != nil {
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
