package session

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// plan stores a runbook as a blob and records its compiled skeleton.
func (s *Session) plan(rb *runbooks.Runbook, params steps.Params, from string) error {
	w, err := s.bundle.Blob("runbook", "application/yaml")
	if err != nil {
		return s.die(err)
	}
	if _, err := w.Write(rb.Source); err != nil {
		w.Abort()
		return s.die(err)
	}
	blob, err := w.Commit()
	if err != nil {
		return s.die(err)
	}
	p := rb.Plan(s.rooted(rb, params))
	p.Blob, p.From = blob.SHA256, from
	s.books[rb.ID] = rb
	if err := s.record(p, []evidence.Blob{blob}); err != nil {
		return err
	}
	s.retext()
	return s.passOver(rb, p)
}

// rooted has paths begin at the root. An incident may be resumed in another
// directory, where a relative one would mean other files.
func (s *Session) rooted(rb *runbooks.Runbook, params steps.Params) steps.Params {
	if s.cfg.Env.Dir == "" {
		return params
	}
	out := maps.Clone(params)
	for _, f := range rb.Params {
		v, ok := out[f.Name]
		if f.Type != steps.Path || !ok || !v.Known() || v.Text() == "" || filepath.IsAbs(v.Text()) {
			continue
		}
		out[f.Name] = steps.PathOf(filepath.Join(s.cfg.Env.Dir, v.Text()))
	}
	return out
}

// passOver skips the steps that the parameters alone rule out, so that no one
// is asked for them.
func (s *Session) passOver(rb *runbooks.Runbook, p triage.Plan) error {
	alone := runbooks.Vars{Params: s.vars(rb.ID).Params}
	for _, st := range p.Steps {
		if now, _ := s.state.Step(st.ID); st.Kind == triage.GateStep || st.Required || now.Status != triage.Pending && now.Status != triage.Stale {
			continue
		}
		for _, v := range rb.Judge(journal.Bare(st.ID), alone) {
			if v.Result != "false" || !v.Aside {
				continue
			}
			if err := s.record(triage.Skip{Step: st.ID, Why: "does not apply: only where " + view.Spoken(v.Expr)}, nil); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// takeUp goes on with another runbook in the same incident, or with other parameters
// of the one in force. A runbook that was in force keeps the parameters that are not
// given.
func (s *Session) takeUp(in triage.Intent) error {
	if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
		return r
	}
	rb, known, err := s.book(in.Value)
	if errors.Is(err, runbooks.ErrUntrusted) {
		return refusal(in, triage.Refusal{Why: err.Error(), Cure: "Look at what it does and trust it: handrail runbook trust " + in.Value})
	}
	if err != nil {
		return err
	}
	given := map[string]string{}
	if known {
		for name, v := range s.state.Params(rb.ID) {
			given[name] = v.Text()
		}
	}
	maps.Copy(given, in.Params)
	params, err := rb.Bind(given)
	if err != nil {
		return err
	}
	for _, f := range rb.Params {
		if _, bound := params[f.Name]; !bound && s.state.Params(rb.ID)[f.Name].Known() {
			if v, err := steps.ParseValue(f.Type, ""); err == nil {
				params[f.Name] = v // it was taken away
			}
		}
		if v := params[f.Name]; v.Known() && s.bundle.Redact(v.Text()) != v.Text() {
			return refusal(in, triage.Refusal{Why: "the value of " + f.Name + " looks like a secret, which the journal never keeps",
				Cure: "Put it where the tool finds it by itself, and give the name of that."})
		}
	}
	if params, err = s.keepPasted(params, in.Text); err != nil {
		return err
	}
	return s.plan(rb, params, s.state.Plan().Runbook)
}

// book is a runbook by its id: the one in force as the incident took it up, another
// as the library has it now. known says that the incident had it in force before.
func (s *Session) book(id string) (rb *runbooks.Runbook, known bool, err error) {
	known = slices.ContainsFunc(s.state.Plans, func(p triage.Plan) bool { return p.Runbook == id })
	if id == s.state.Plan().Runbook && s.books[id] != nil {
		return s.books[id], known, nil
	}
	rb, err = s.cfg.Library(id)
	return rb, known, err
}
