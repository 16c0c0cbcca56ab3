package triage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Check says why an intent may not be carried out in a state, nil when it may:
// the option must be available and what the intent itself says must be whole.
// An intent that [Draft] turns into an event passes only if that event folds.
// For a conclude the session fills in Proposed first.
func Check(s State, in Intent, now time.Time, judge func(step string) []Verdict) *Refused {
	// Only the gate that is asked for needs its conditions judged, and for a close all.
	only := func(step string) []Verdict {
		if judge == nil || step != in.Step && in.Kind != DoClose {
			return nil
		}
		return judge(step)
	}
	if s.GivenOver() {
		return &Refused{Intent: in.Kind, Step: in.Step, Refusals: []Refusal{{Why: s.Handed.From + " handed this incident over to " + s.Handed.For, Cure: "Resume it to take over."}}}
	}
	rs := optionRefusals(Options(s, now, only), in)
	rs = append(rs, contentRefusals(&s, in)...)
	if body, ok := Draft(s, in); ok && len(rs) == 0 {
		err := Follows(s, Event{Seq: s.Seq + 1, At: now, Body: body})
		var bad *FoldError
		if errors.As(err, &bad) {
			rs = append(rs, Refusal{Law: bad.Law, Why: bad.Why})
		}
	}
	if len(rs) == 0 {
		return nil
	}
	return &Refused{Intent: in.Kind, Step: in.Step, Refusals: rs}
}

// optionRefusals finds the option that an intent asks for.
func optionRefusals(options []Option, in Intent) []Refusal {
	same := func(o Option) bool {
		if o.Kind != in.Kind {
			return false
		}
		switch in.Kind {
		case DoConclude:
			return o.Topic == in.Topic
		case DoClose:
			return o.Value == in.Value
		case DoSettle:
			return o.Subject == in.Debt.Debt
		case DoResolve:
			return o.Step == in.Finding.Step && o.Subject == in.Finding.Finding
		case DoApprove:
			return o.Subject == in.Digest
		case DoWaive:
			return o.Subject == in.Step && o.Value == strconv.Itoa(in.Law)
		case DoPhase, DoNote, DoCorrect, DoPerson, DoSeverity, DoPlan, DoHand, DoDrift:
			return true
		}
		return o.Step == in.Step
	}
	if i := slices.IndexFunc(options, same); i >= 0 {
		return options[i].Refusals
	}
	switch in.Kind {
	case DoHandOver:
		return handingRefusals(options)
	case DoWaive, DoPhase:
		return nil // what was settled may be waived all the same, and any phase revisited; Fold has the say
	}
	return []Refusal{{Why: fmt.Sprintf("there is nothing to %s here", in.Kind), Cure: "Choose one of the available options."}}
}

// handingRefusals says why no hand-over is possible now: what a gate or an act wants next
// is for the one who began it. It is no option of the loop, which never proposes it.
func handingRefusals(options []Option) []Refusal {
	for _, o := range options {
		if o.Kind == DoDisarm && o.Available() {
			return []Refusal{{Why: o.Step + " is armed", Cure: "Disarm it or finish it, then hand over."}}
		}
	}
	return nil
}

// contentRefusals says what the intent itself lacks, beyond what Fold asks of
// its event.
func contentRefusals(s *State, in Intent) []Refusal {
	needs := func(what, cure string) []Refusal { return []Refusal{{Why: "it needs " + what, Cure: cure}} }
	switch in.Kind {
	case DoSeverity:
		if blank(in.Text) {
			return needs("a reason", "Say in one sentence why the severity changes.")
		}
	case DoHandOver:
		switch {
		case s.Outcome != "":
			return []Refusal{{Why: "the incident is closed", Cure: "There is nothing to hand over."}}
		case blank(in.Person):
			return needs("a name", "Say who continues.")
		case blank(in.Text):
			return needs("a reason", "Say in one sentence why, and what comes next.")
		}
	case DoPerson:
		if blank(in.Who.Name) {
			return needs("a name", "Name the person.")
		}
	case DoPlan:
		if blank(in.Value) {
			return needs("a runbook", "Name the runbook to switch to.")
		}
		old := s.Params(in.Value)
		for name, text := range in.Params {
			if worded(old[name]) != text {
				return paramLaws(s, in.Value)
			}
		}
	case DoConfirm:
		if blank(in.Typed) {
			return needs("the phrase", "Type the phrase that the preview shows.")
		}
		if g := s.Gates[in.Step]; in.Seen != 0 && in.Seen < g.ShownSeq {
			return []Refusal{{Law: 5, Why: "the preview is newer than what was on the screen", Cure: "Look at it again, then confirm."}}
		}
	case DoPreview:
		if i := slices.IndexFunc(s.Steps, func(st Step) bool { return st.ID == in.Step }); i >= 0 && s.Gates[in.Step].Phase != GateUnknown {
			return wideningLaws(s, &s.Steps[i], in.Text)
		}
	}
	return nil
}
