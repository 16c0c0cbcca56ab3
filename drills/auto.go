package drills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"handrail/drills/stage"
	"handrail/session"
	"handrail/session/debrief"
	"handrail/session/journal"
	"handrail/session/walk"
	"handrail/triage"
)

// Report is what a headless drill came to.
type Report struct {
	Code      int                `json:"code"` // exit code of `drill run`
	Drill     string             `json:"drill"`
	Variant   string             `json:"variant,omitempty"`
	Backend   string             `json:"backend,omitempty"` // of the state, where it is not the one that the drill is written for
	Bundle    string             `json:"bundle"`
	Session   walk.Result        `json:"session"`
	Judgement Judgement          `json:"judgement"`
	Proof     Proof              `json:"proof"`
	Debrief   debrief.Debriefing `json:"debrief"`
	Failed    []string           `json:"failed,omitempty"` // what was not as the drill expects
}

// codeFailed is the exit code of a drill that was not walked as expected.
const codeFailed = walk.CodeRed

// RunAuto starts a drill, walks it by its script, judges it and stops it. The
// code is that of the session when the win conditions, the expectation and the
// audit proof hold, else 5. c is the session's configuration for a real
// incident; its environment is turned into the trainee's. The error is a fault
// of the program or the end of ctx, not a lost drill.
func RunAuto(ctx context.Context, o Options, c session.Config, s Scene, talk io.Writer) (rep Report, err error) {
	rb, err := c.Library(s.Drill.Runbook)
	if err != nil {
		return rep, err
	}
	if err := s.Check(rb); err != nil {
		return rep, err
	}
	r, err := Start(ctx, o, s)
	if err != nil {
		return rep, err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, r.Close(), Stop(clean, o, r.ID()))
	}()
	rep = Report{Drill: s.Drill.ID, Variant: s.Variant, Backend: s.Backend}
	if rep.Session, err = r.walk(ctx, c, talk, &rep.Judgement); err != nil {
		return rep, err
	}
	rep.Bundle = rep.Session.Path
	return r.settle(ctx, rep)
}

// walk opens the incident, plays the script and judges what it left behind.
func (r *Running) walk(ctx context.Context, c session.Config, talk io.Writer, j *Judgement) (res walk.Result, err error) {
	rb, err := c.Library(r.Runbook())
	if err != nil {
		return res, err
	}
	params, err := rb.Bind(r.Params())
	if err != nil {
		return res, err
	}
	secrets, err := r.Secrets()
	if err != nil {
		return res, err
	}
	c.Secrets = append(slices.Clone(c.Secrets), secrets...)
	c.Env = r.Env(c.Env)
	c = r.Undo(c)
	c.Execute = nil // an act here ends with its drill, and needs no process of its own
	s, err := session.Start(ctx, c, session.Begin{Runbook: rb, Params: params, Drill: r.ID()})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := r.SetBundle(s.Snapshot().Bundle); err != nil {
		return res, err
	}
	res, err = walk.Play(ctx, s, walk.Script{
		Answers: r.scene.Answers, Vars: r.Vars(), Talk: talk,
		Before: r.Before, Late: r.Late,
	})
	if res.Outcome == "" && s.Snapshot().State.Acting == "" {
		// The drill goes away, interrupted or not: no one can go on with this incident.
		err = errors.Join(err, s.Do(context.WithoutCancel(ctx), triage.Intent{Kind: triage.DoClose, Value: "open", Text: "the drill ended here"}))
	}
	if err != nil {
		return res, err
	}
	*j, err = r.Conclude(ctx, s)
	return res, err
}

// Conclude judges a drill whose incident is closed, and puts the judgement on
// record in the incident, for Score.
func (r *Running) Conclude(ctx context.Context, s Noter) (Judgement, error) {
	j, err := r.Judge(ctx)
	if err != nil {
		return j, err
	}
	return j, s.Do(ctx, triage.Intent{Kind: triage.DoNote, Text: j.Note(r.scene)})
}

// Noter is an incident that takes notes. A [session.Session] is one.
type Noter interface {
	Do(ctx context.Context, in triage.Intent) error
}

// settle judges what the walk left behind.
func (r *Running) settle(ctx context.Context, rep Report) (Report, error) {
	var err error
	if rep.Proof, err = r.AuditProof(ctx, rep.Bundle); err != nil {
		return rep, err
	}
	st, err := journal.LoadState(rep.Bundle)
	if err != nil {
		return rep, err
	}
	known, err := r.scene.Debriefing(&rep.Judgement)
	if err != nil {
		return rep, err
	}
	rep.Debrief = debrief.Of(st, known)
	want := r.scene.Expect
	fail := func(format string, args ...any) { rep.Failed = append(rep.Failed, fmt.Sprintf(format, args...)) }
	if rep.Session.Code != want.Exit {
		fail("the walk ended with %d, not %d: %s", rep.Session.Code, want.Exit, rep.Session.Why)
	}
	if got := stage.StepName(rep.Session.Refused); got != want.Refused {
		fail("refused was %q, not %q", got, want.Refused)
	}
	for _, c := range rep.Judgement.Conditions {
		if !c.Holds {
			fail("win condition does not hold: %s (%s)", c.Condition, cmp.Or(c.Why, "it is false"))
		}
	}
	if n := rep.Proof.Before; n > 0 {
		fail("%d writes by the operator came before any gate had acted", n)
	}
	for _, step := range rep.Proof.Silent {
		fail("%s ended done, and the audit log of the lab has no write of it", step)
	}
	for _, w := range rep.Proof.Unnamed() {
		fail("no act answers for: %s %s by %s at %s", w.Verb, w.Object, w.Agent, w.At)
	}
	rep.Code = rep.Session.Code
	if len(rep.Failed) > 0 {
		rep.Code = codeFailed
	}
	return rep, nil
}
