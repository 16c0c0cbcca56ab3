package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/evidence"
	"handrail/session/journal"
	"handrail/session/policy"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// How long a preview may be confirmed: by one person, and by two.
const (
	armedFor    = 5 * time.Minute
	armedForTwo = 30 * time.Minute
)

// previewTime bounds one preview: a busy API server takes its time over what looks alike.
const previewTime = 2 * time.Minute

// gater builds the gate of a step with its parameters.
func (s *Session) gater(step string) (steps.Gater, steps.Params, triage.Class, error) {
	a := s.asking(step)
	g, params, class, err := s.gaterAsking(step, a)
	if err == nil {
		s.asked[step] = a
	}
	return g, params, class, err
}

// gaterAsking is gater with the requests counted by a.
func (s *Session) gaterAsking(step string, a *asks) (steps.Gater, steps.Params, triage.Class, error) {
	st, ok := s.state.Step(step)
	if !ok {
		return nil, nil, "", fmt.Errorf("step %s: no such step", step)
	}
	kind, ok := s.cfg.Catalog.Lookup(st.Uses)
	if !ok || kind.Changes == nil {
		return nil, nil, "", fmt.Errorf("step %s: this handrail has no gate %q", step, st.Uses)
	}
	rb := s.books[journal.BookOf(step)]
	params, err := rb.With(journal.Bare(step), s.vars(rb.ID))
	if err != nil {
		return nil, nil, "", fmt.Errorf("step %s: %w", step, err)
	}
	return kind.Changes(a.env(s.cfg.Env)), params, kind.Class, nil
}

// behind are the parameters of a runbook on which an argument of one of its gates rests.
func (s *Session) behind(step, argument string) []string {
	if argument == "" {
		return nil
	}
	return s.books[journal.BookOf(step)].Behind(journal.Bare(step), argument)
}

// againOf is how long after its act the target of a gate is read again.
func (s *Session) againOf(step string) string {
	st, _ := s.state.Step(step)
	if kind, ok := s.cfg.Catalog.Lookup(st.Uses); ok && kind.Again > 0 {
		return kind.Again.String()
	}
	return ""
}

// preview shows what a gate would do, and arms it when no law and no floor
// stands in the way. A refusal is recorded: what was stopped is evidence too.
func (s *Session) preview(ctx context.Context, in triage.Intent) error {
	var g steps.Gater
	var params steps.Params
	var class triage.Class
	err := s.call(ctx, func() error {
		if s.state.Gates[in.Step].Phase == triage.GateUnknown {
			return nil
		}
		if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
			return s.refuse(in, steps.Preview{}, r)
		}
		if err := s.enter(in); err != nil {
			return err
		}
		var err error
		g, params, class, err = s.gater(in.Step)
		if err != nil {
			return s.refuse(in, steps.Preview{}, refusal(in, triage.Refusal{Why: err.Error(), Cure: view.MissingCure(err)}))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if g == nil {
		return s.findOut(ctx, in.Step)
	}
	// A policy that cannot be read is known before the target is asked for anything.
	if _, err := s.sought(ctx, in.Step, nil); err != nil {
		return s.unruled(ctx, in, steps.Preview{}, err)
	}
	p, _, blobs, err := s.read(ctx, in.Step, g, params)
	where := policy.Resolve(policy.Place(params, append(slices.Clone(p.Target), p.Shown...)))
	pair, policyErr := s.sought(ctx, in.Step, where)
	if policyErr != nil {
		return s.unruled(ctx, in, p, policyErr)
	}
	fragile := s.fragile(ctx)
	return s.call(ctx, func() error {
		if err != nil {
			return s.refuse(in, p, refusal(in, triage.Refusal{Law: 11, Why: "the target could not be read: " + err.Error(), Cure: "fix the read, then preview it again"}))
		}
		if len(p.Unmet) > 0 {
			r := refusal(in)
			for _, u := range p.Unmet {
				r.Refusals = append(r.Refusals, triage.Refusal{Why: u.Why, Cure: u.Cure, At: u.At, Params: s.behind(in.Step, u.Of)})
			}
			return s.refuse(in, p, r)
		}
		if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
			return s.refuse(in, p, r)
		}
		if fragile != "" && s.state.Drill == "" { // practice is over with its lab anyhow
			p.Shown = append(p.Shown, steps.KV{Key: "can be cut off", Value: fragile})
		}
		return s.arm(in, class, p, pair, where, blobs)
	})
}

// unruled refuses a gate while what policy asks is not known.
func (s *Session) unruled(ctx context.Context, in triage.Intent, p steps.Preview, err error) error {
	err = policyRefusal(in, err)
	return s.call(ctx, func() error {
		var r *triage.Refused
		if errors.As(err, &r) {
			return s.refuse(in, p, r)
		}
		return err
	})
}

// fragile says what ends an act that the end of its terminal does not.
func (s *Session) fragile(ctx context.Context) string {
	if s.cfg.Fragile == nil {
		return ""
	}
	return s.cfg.Fragile(ctx)
}

// read runs a preview beside the owner, redacts it and refuses it where the
// redaction touched what identifies the target: an approval must be of exactly
// what is shown. What the act would be undone from is kept as an artifact, and
// returned as it was read.
func (s *Session) read(ctx context.Context, step string, g steps.Gater, params steps.Params) (steps.Preview, *priorCopy, []evidence.Blob, error) {
	if !s.hold() {
		return steps.Preview{}, nil, nil, ErrClosed
	}
	defer s.work.Done()
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	stop := context.AfterFunc(s.ctx, cancel)
	defer stop()
	k := &sink{s: s, step: step}
	p, err := previewSafely(ctx, g, params, k)
	var prior *priorCopy
	if err == nil && len(p.Unmet) == 0 {
		prior, err = s.copyOf(&p, k)
	}
	blobs, kept := k.done()
	if err == nil {
		err = kept
	}
	if err != nil {
		return steps.Preview{}, nil, blobs, s.said(err)
	}
	return s.redacted(p), prior, blobs, nil
}

func previewSafely(ctx context.Context, g steps.Gater, params steps.Params, k steps.Sink) (p steps.Preview, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("an internal error in handrail: %v", v)
		}
	}()
	return g.Preview(ctx, params, k)
}

// lines is a copy of the lines of a target. The journal has [] where there are none.
func lines(kvs []steps.KV) []steps.KV { return append([]steps.KV{}, kvs...) }

// arm records the preview that was shown.
func (s *Session) arm(in triage.Intent, class triage.Class, p steps.Preview, pair *policy.Pair, where []steps.KV, blobs []evidence.Blob) error {
	step := in.Step
	verdicts := s.judge(step)
	digest := p.Digest(s.state.Incident, step)
	shown := triage.GateShown{
		Step: step, Digest: string(digest), Class: class, Effect: p.Effect, Target: lines(p.Target), Shown: p.Shown, Diff: p.Diff, Owners: p.Owners, Owes: p.Owes, Pays: p.Pays,
		Request: p.Request, Command: p.Command, Phrase: p.Phrase, Undo: p.Undo, Verdicts: verdicts, Why: in.Text, Until: s.cfg.Now().Add(armedFor).UTC(),
		Audit: s.named(step), Second: s.second(pair, step, verdicts, where), Again: s.againOf(step),
		Where: append(slices.Clone(s.header), where...), Rules: s.rules(), ByItself: in.ByItself,
	}
	if pair != nil {
		shown.Until = s.cfg.Now().Add(armedForTwo).UTC()
	}
	s.front = &view.Front{Step: step, Preview: p, Digest: digest, Verdicts: verdicts}
	if err := s.record(shown, blobs); err != nil || pair == nil {
		return err
	}
	return s.sendable(in)
}

// confirm takes the typed phrase, reads the target again and starts the act.
func (s *Session) confirm(ctx context.Context, in triage.Intent) error {
	pair, policyErr := s.soughtAsShown(ctx, in.Step)
	err := s.call(ctx, func() error {
		if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
			return r
		}
		if why := alone(s.state.Gates[in.Step].Shown, pair, policyErr); why != "" {
			return s.disarm(in, s.state.Gates[in.Step], why, nil)
		}
		f := s.front
		if f == nil || f.Step != in.Step || string(f.Digest) != s.state.Gates[in.Step].Digest {
			return refusal(in, triage.Refusal{Law: 5, Why: "this gate has no open preview", Cure: "preview it again"})
		}
		typed := in.Typed
		if in.Pasted {
			typed = strings.TrimRight(typed, " \t\r\n")
		}
		if at := steps.PhraseDiffers(f.Preview.Phrase, typed); at > 0 {
			return s.wrongPhrase(in, f, at)
		}
		return s.record(triage.GateAnswered{Step: in.Step, Digest: string(f.Digest), Typed: typed, Pasted: in.Pasted}, nil)
	})
	if err != nil {
		return err
	}
	return s.act(ctx, in)
}

func (s *Session) wrongPhrase(in triage.Intent, f *view.Front, at int) error {
	f.Wrong++
	f.WrongAt = at
	left := view.Tries - f.Wrong
	r := refusal(in, triage.Refusal{Why: fmt.Sprintf("the phrase differs at character %d", at), Cure: fmt.Sprintf("type it exactly; attempts left: %d", left)})
	if left > 0 {
		s.touch()
		return r
	}
	s.front = nil
	if err := s.record(triage.GateClosed{Step: in.Step, Digest: string(f.Digest), Why: "three wrong phrases", Refused: true}, nil); err != nil {
		return err
	}
	r.Refusals[0].Cure = "the gate is closed: preview it again"
	return r
}
