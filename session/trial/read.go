package trial

import (
	"slices"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// read gives the facts that the case records for a step, or that it could not be read.
func (s *stage) read(st triage.Step) error {
	id := journal.Bare(st.ID)
	s.tried[id]++
	if st.Kind == triage.CompareStep {
		return s.compare(st)
	}
	if s.tried[id] > 2+len(s.state.Hands)+len(s.armed) && st.Kind == triage.ProbeStep { // each change is worth another read
		s.stop = id + " could not be read: " + st.Summary
		return nil
	}
	if st.Kind == triage.WatchStep && !st.Ended.IsZero() {
		if apart, err := time.ParseDuration(st.Apart); err == nil {
			s.now = s.now.Add(apart)
		}
		if s.tried[id] > max(st.PlanStep.Greens, 1)*3 {
			s.stop = id + " did not turn green"
			return nil
		}
	}
	in := triage.Intent{Kind: triage.DoProbe, Step: st.ID}
	if r := triage.Check(s.state, in, s.now, s.scene().Judge); r != nil {
		return r
	}
	if rs := s.scene().BarredBy(st.ID); len(rs) > 0 {
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: st.ID, Text: rs[0].Why})
	}
	k, _ := s.rb.Kind(id, s.cat)
	with, missing := s.rb.With(id, s.vars())
	moot := s.rb.Moot(id, s.vars())
	if rs := s.scene().Lacks(missing); rs != nil && !moot {
		return &triage.Refused{Intent: in.Kind, Step: st.ID, Refusals: rs}
	}
	if err := s.enter(in); err != nil {
		return err
	}
	n := st.Attempts + 1
	if err := s.happen(triage.ProbeStart{Step: st.ID, N: n, Kind: k.Name, With: with}); err != nil {
		return err
	}
	if whole(k.Name, with) {
		s.plans[with.Text("dir")+" "+with.Text("workspace")]++
	}
	values := s.c.values
	if len(s.state.Hands) > 0 && s.c.after != nil {
		values = s.c.after
	}
	got, recorded := values[id]
	end := triage.ProbeEnd{Step: st.ID, N: n, Outcome: "ok", Summary: "as the test records", Facts: map[string]steps.Value{}}
	failed := s.c.Fails[id]
	switch {
	case moot:
		end.Summary, got, failed = runbooks.NothingHere, nil, ""
	case missing != nil:
		failed = missing.Error()
	case failed == "" && !recorded:
		failed = "the test records nothing for it"
	}
	if failed != "" {
		end.Outcome, end.Summary = "failed", failed
	}
	for _, f := range k.Facts {
		v, ok := got[f.Name]
		switch {
		case failed != "":
			v = steps.Unknown(f.Type, failed)
		case !ok:
			v = steps.Unknown(f.Type, "the test does not record it")
		}
		end.Facts[f.Name] = v
	}
	v := s.vars()
	v.Facts[id], v.Read[id] = end.Facts, s.now
	if failed == "" {
		end.Findings = s.rb.Findings(id, v)
	}
	if st.Kind == triage.WatchStep {
		green := s.rb.Green(id, v)
		end.Green = &green
	}
	if err := s.happen(end); err != nil {
		return err
	}
	return s.afterRead()
}

// whole reports whether a read makes a plan that reads every object of a module: it opens
// none that was made before, and looks at more than the record or a few objects.
func whole(kind string, with steps.Params) bool {
	switch kind {
	case "terraform/plan":
		return with.Text("file") == "" && !(with["refresh"].Known() && !with.Bool("refresh"))
	case "terraform/saved-plan":
		return len(with["targets"].Strings()) == 0
	}
	return false
}

// afterRead does what a session does with what was read by itself: it sets side by side
// what can be compared, and judges the findings again, which may stand on several reads.
func (s *stage) afterRead() error {
	for _, st := range s.state.Steps {
		if st.Kind == triage.CompareStep && !st.Retired && (st.Status == triage.Pending || st.Status == triage.Stale) && len(st.Refs) > 0 &&
			s.rb.Aside(journal.Bare(st.ID), s.vars()) == "" && s.settled(st.Refs) {
			if err := s.compare(st); err != nil {
				return err
			}
		}
	}
	for _, st := range s.state.Steps {
		now, gone, ok := journal.Findings(s.rb, s.state, st, s.now, func(text string) string { return text })
		if !ok || slices.EqualFunc(triage.Judged(st.Findings, now), st.Findings, journal.Same) {
			continue
		}
		if err := s.happen(triage.FindingsSet{Step: st.ID, N: st.Attempts, Findings: now, Gone: gone}); err != nil {
			return err
		}
	}
	return nil
}

// settled reports whether each step was tried, or does not apply.
func (s *stage) settled(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		st, ok := s.state.Step(id)
		done := st.Status == triage.Settled || st.Status == triage.CannotTell || st.Status == triage.Skipped
		return ok && !done && s.rb.Aside(journal.Bare(id), s.vars()) == ""
	})
}

func (s *stage) compare(st triage.Step) error {
	n := st.Attempts + 1
	if err := s.happen(triage.ProbeStart{Step: st.ID, N: n, Kind: "compare"}); err != nil {
		return err
	}
	end := triage.ProbeEnd{Step: st.ID, N: n, Outcome: "ok", Rows: journal.Rows(s.rb, s.state, st.ID)}
	if len(end.Rows) > 0 {
		end.Facts = runbooks.ComparisonFacts(end.Rows)
	}
	return s.happen(end)
}

// gate arms a gate with a preview that names nothing, and does its act where the case says
// so.
func (s *stage) gate(st triage.Step) error {
	id := journal.Bare(st.ID)
	if err := s.enter(triage.Intent{Kind: triage.DoPreview, Step: st.ID}); err != nil {
		return err
	}
	if _, err := s.rb.With(id, s.vars()); err != nil { // nothing could be previewed
		s.shut[id] = err.Error()
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: st.ID, Text: err.Error()})
	}
	const digest, phrase = "test", "test"
	shown := triage.GateShown{Step: st.ID, Digest: digest, Class: st.Class, Effect: "nothing: it is a test", Phrase: phrase, Why: "as the test says",
		Verdicts: s.scene().Judge(st.ID), Until: s.now.Add(time.Hour)}
	if err := s.happen(shown); err != nil {
		s.shut[id] = err.Error()
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: st.ID, Text: err.Error()})
	}
	s.armed[id], s.shut[id] = true, ""
	if !slices.Contains(s.c.Acts, id) {
		if err := s.happen(triage.GateClosed{Step: st.ID, Digest: digest, Why: "the test does not act"}); err != nil {
			return err
		}
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: st.ID, Text: "the test does not act"})
	}
	for _, body := range []triage.Body{
		triage.GateAnswered{Step: st.ID, Digest: digest, Typed: phrase},
		triage.ActStart{Step: st.ID, Digest: digest, Request: "none"},
		triage.ActEnd{Step: st.ID, Digest: digest, Outcome: "done", Response: "as the test says"},
	} {
		if err := s.happen(body); err != nil {
			return err
		}
	}
	return nil
}
