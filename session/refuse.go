package session

import (
	"slices"
	"strings"

	"handrail/session/journal"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

func refusal(in triage.Intent, rs ...triage.Refusal) *triage.Refused {
	return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: rs}
}

// refuse records a gate that was wanted and not opened.
func (s *Session) refuse(in triage.Intent, p steps.Preview, r *triage.Refused) error {
	step := in.Step
	s.front = &view.Front{Step: step, Preview: p, Refusals: r.Refusals, Verdicts: s.judge(step)}
	var why, params []string
	given := s.state.Params(journal.BookOf(step))
	for _, f := range r.Refusals {
		why = append(why, f.Why)
		for _, name := range f.Params {
			if v := given[name]; v.Known() && v.Text() != "" { // what was not given is not refused: the gate waits for it
				params = append(params, name)
			}
		}
	}
	slices.Sort(params)
	opens, _ := triage.Opens(r.Refusals)
	if err := s.record(triage.GateClosed{Step: step, Why: strings.Join(why, "; "), Refused: true, Audit: s.named(step), Opens: opens, ByItself: in.ByItself, Params: slices.Compact(params)}, nil); err != nil {
		return err
	}
	return r
}

// disarm closes a confirmed gate whose target is not what was confirmed.
func (s *Session) disarm(in triage.Intent, gate triage.GateState, why string, moved []string) error {
	if s.front != nil && s.front.Step == in.Step {
		s.front.Moved = moved
		s.front.Refusals = []triage.Refusal{{Law: 5, Why: why, Cure: "check what moved, then preview it again"}}
	}
	if err := s.record(triage.GateClosed{Step: in.Step, Digest: gate.Digest, Why: why, Moved: moved, Refused: true, Audit: s.named(in.Step)}, nil); err != nil {
		return err
	}
	return refusal(in, triage.Refusal{Law: 5, Why: why, Cure: "check what moved, then preview it again"})
}

func withCure(r *triage.Refused, cure string) *triage.Refused {
	for i := range r.Refusals {
		if r.Refusals[i].Cure == "" {
			r.Refusals[i].Cure = cure
		}
	}
	return r
}
