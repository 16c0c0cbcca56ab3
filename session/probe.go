package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
	"handrail/triage/record"
)

// How long a probe may take before it is cut off and its facts are unknown.
const (
	probeTime = 60 * time.Second
	heavyTime = 15 * time.Minute
)

// startProbe records that a probe begins and runs it beside.
func (s *Session) startProbe(in triage.Intent) error {
	if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
		return r
	}
	refuse := func(why, cure string) error {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{Why: why, Cure: cure}}}
	}
	if s.flight[in.Step] != nil {
		return refuse("it is already running", "wait for it, or cancel it")
	}
	step, _ := s.state.Step(in.Step)
	if rs := s.scene().BarredBy(in.Step); len(rs) > 0 {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: rs}
	}
	if step.Kind == triage.CompareStep {
		if err := s.enter(in); err != nil {
			return err
		}
		return s.compare(step)
	}
	rb := s.books[journal.BookOf(in.Step)]
	kind, ok := rb.Kind(journal.Bare(in.Step), s.cfg.Catalog)
	if !ok || kind.Reads == nil {
		return refuse(fmt.Sprintf("this handrail has no probe %q", step.Uses), "use the handrail version that opened the incident")
	}
	params, err := rb.With(journal.Bare(in.Step), s.vars(rb.ID))
	moot := rb.Moot(journal.Bare(in.Step), s.vars(rb.ID))
	if rs := s.scene().Lacks(err); rs != nil && !moot {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: rs}
	}
	if err := s.enter(in); err != nil {
		return err
	}
	n := step.Attempts + 1
	switch {
	case moot:
		return s.unread(step, kind, n, steps.Observation{Summary: runbooks.NothingHere}, nil)
	case err != nil:
		return s.unread(step, kind, n, steps.Observation{}, err)
	}
	if !s.hold() {
		return ErrClosed
	}
	if err := s.record(triage.ProbeStart{Step: in.Step, N: n, Kind: kind.Name, With: params, Layers: layers(kind)}, nil); err != nil {
		s.work.Done()
		return err
	}
	span := Span(kind, params)
	ctx, cancel := context.WithTimeout(s.ctx, span)
	began := s.cfg.Now()
	s.flight[in.Step] = &flight{step: in.Step, kind: kind.Name, started: began, until: began.Add(span), log: s.live.Begin(), cancel: cancel, over: make(chan struct{})}
	asked := s.asking(in.Step)
	env := asked.env(s.cfg.Env)
	env.Runbook, env.ReadOnly = rb.Digest, s.readOnly()
	s.touch()
	finish := func(obs steps.Observation, blobs []evidence.Blob, err error) {
		_ = s.call(context.Background(), func() error { return s.finishProbe(ctx, in.Step, n, kind, obs, err, blobs, asked) })
	}
	go func() { // ends with the probe, which ctx bounds
		defer s.work.Done()
		defer cancel()
		defer fault.To(func(err error) { finish(steps.Observation{}, nil, err) })
		sink := &sink{s: s, step: in.Step}
		obs, err := observe(ctx, kind, env, params, sink)
		blobs, kept := sink.done()
		if err == nil {
			err = kept
		}
		finish(obs, blobs, err)
	}()
	return nil
}

// unread records a probe that is not sent: its parameters cannot be known, and why is evidence
// too; or it is a watch that has nothing to read here.
func (s *Session) unread(step triage.Step, kind steps.Kind, n int, obs steps.Observation, why error) error {
	if err := s.record(triage.ProbeStart{Step: step.ID, N: n, Kind: kind.Name, Layers: layers(kind)}, nil); err != nil {
		return err
	}
	return s.finishProbe(s.ctx, step.ID, n, kind, obs, why, nil, nil)
}

// Span is how long a probe may take.
func Span(k steps.Kind, in steps.Params) time.Duration {
	switch {
	case k.Takes != nil:
		return min(k.Takes(in), heavyTime)
	case k.Class == steps.Heavy:
		return heavyTime
	}
	return probeTime
}

// layers names what keeps a probe of this kind from writing.
func layers(k steps.Kind) []string {
	if k.Layers != nil {
		return k.Layers
	}
	if k.Class == steps.Heavy {
		return []string{"argv", "trusted directory"}
	}
	return []string{"read-only transport"}
}

// observe runs a probe and turns a panic in it into an error.
func observe(ctx context.Context, k steps.Kind, env steps.Env, in steps.Params, out steps.Sink) (obs steps.Observation, err error) {
	defer func() {
		if p := recover(); p != nil {
			out.Line(string(debug.Stack()))
			err = fmt.Errorf("%s: an internal error in handrail: %v", k.Name, p)
		}
	}()
	return k.Reads(env).Probe(ctx, in, out)
}

// finishProbe records what a probe saw, or that it could not find out.
func (s *Session) finishProbe(ctx context.Context, step string, n int, k steps.Kind, obs steps.Observation, err error, blobs []evidence.Blob, asked *asks) error {
	defer s.landed(step)
	end := triage.ProbeEnd{Step: step, N: n, Outcome: "ok", Summary: obs.Summary, Command: obs.Command, Gaps: obs.Gaps}
	facts := map[string]steps.Value{}
	if err != nil {
		end.Outcome = outcomeOf(ctx, err)
		end.Summary = err.Error()
		end.Gaps = append(end.Gaps, "could not check: "+err.Error())
		for _, f := range k.Facts {
			facts[f.Name] = steps.Unknown(f.Type, err.Error())
		}
	} else {
		facts = declared(k, obs.Facts)
		for _, name := range k.Undeclared(obs.Facts) {
			end.Gaps = append(end.Gaps, fmt.Sprintf("could not record the fact %s, which %s does not declare: a fault in handrail itself", name, k.Name))
		}
	}
	end.Facts = facts
	end.Audit = asked.ids()
	end.Gaps = append(end.Gaps, asked.gap()...)
	rb := s.books[journal.BookOf(step)]
	v := s.vars(rb.ID)
	v.Facts[journal.Bare(step)], v.Read[journal.Bare(step)] = facts, s.cfg.Now().UTC()
	end.Findings = found(rb, journal.Bare(step), v, obs.Findings)
	if n := len(end.Findings); err != nil && n > 0 {
		// None of them can be told, all for the one reason that the summary gives.
		say := "what the runbook looks for here could not be checked"
		if n > 1 {
			say = fmt.Sprintf("none of the %d things that the runbook looks for here could be checked", n)
		}
		end.Findings = []steps.Finding{{Level: steps.Warning, Say: say}}
	}
	if st, ok := s.state.Step(step); ok && st.Kind == triage.WatchStep {
		green := rb.Green(journal.Bare(step), v)
		end.Green = &green
	}
	if err := s.record(end, blobs); err != nil {
		return err
	}
	s.readAgain() // a proof that turned red has the acts before it read again
	if len(s.flight) > 1 {
		return nil // the last of the round judges for all
	}
	if err := s.compareRead(); err != nil {
		return err
	}
	return s.judgeRound()
}

// judgeRound judges what was read once more with what was read beside it: a finding
// may stand on the facts of several steps, and these come one by one.
func (s *Session) judgeRound() error {
	for i := range s.state.Steps {
		st := s.state.Steps[i]
		rb := s.books[journal.BookOf(st.ID)]
		if rb == nil || st.Retired && len(st.Telling()) == 0 {
			continue
		}
		now, gone, ok := journal.Findings(rb, s.state, st, s.cfg.Now(), s.bundle.Redact)
		if !ok || slices.EqualFunc(triage.Judged(st.Findings, now), st.Findings, journal.Same) {
			continue
		}
		if err := s.record(triage.FindingsSet{Step: st.ID, N: st.Attempts, Findings: now, Gone: gone}, nil); err != nil {
			return err
		}
		s.retext()
	}
	return nil
}

// found is what a read found by itself, and what its runbook finds in its facts,
// each with what it speaks against.
func found(rb *runbooks.Runbook, step string, v runbooks.Vars, own []steps.Finding) []steps.Finding {
	var out []steps.Finding
	for _, f := range own {
		x := steps.Finding{Level: f.Level, Say: f.Say, Rule: record.ByKind}
		if f.Level == steps.Critical {
			x.Against = rb.Opposes(step)
		}
		out = append(out, x)
	}
	return append(out, rb.Findings(step, v)...)
}

// landed shows a step as no longer running, only once all that follows from its
// end is recorded and said: a script goes on as soon as nothing runs.
func (s *Session) landed(step string) {
	if f := s.flight[step]; f != nil {
		s.live.End(f.log)
		if f.over != nil {
			close(f.over)
		}
	}
	delete(s.flight, step)
	s.retext()
}

func outcomeOf(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, steps.ErrDenied):
		return "denied"
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return "failed"
}

// declared keeps the facts that the kind declares, each of its declared type;
// what is missing, of another type or outside an enumeration is unknown.
func declared(k steps.Kind, got map[string]steps.Value) map[string]steps.Value {
	out := make(map[string]steps.Value, len(k.Facts))
	for _, f := range k.Facts {
		v, ok := got[f.Name]
		switch {
		case !ok:
			v = steps.Unknown(f.Type, "the probe gave no value")
		case v.Type() != f.Type:
			v = steps.Unknown(f.Type, fmt.Sprintf("the probe gave a %s", v.Type()))
		case f.Type == steps.Enum && v.Known() && !contains(f.Values, v.Text()):
			v = steps.Unknown(f.Type, fmt.Sprintf("%q is none of its values", v.Text()))
		}
		out[f.Name] = v
	}
	return out
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// unknownFacts gives every fact that a step declares as unknown.
func (s *Session) unknownFacts(step, why string) map[string]steps.Value {
	rb := s.books[journal.BookOf(step)]
	if rb == nil {
		return nil
	}
	k, ok := rb.Kind(journal.Bare(step), s.cfg.Catalog)
	if !ok {
		return nil
	}
	out := make(map[string]steps.Value, len(k.Facts))
	for _, f := range k.Facts {
		out[f.Name] = steps.Unknown(f.Type, why)
	}
	return out
}
