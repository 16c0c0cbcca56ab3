package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// append stores one event. What was seen or came of an act is recorded whatever
// its length: where it is over all bounds, by what of it is short.
func (s *Session) append(body triage.Body, blobs []evidence.Blob) (evidence.Entry, error) {
	body, blobs = fewer(body, blobs)
	d := evidence.Draft{Type: body.Type(), Actor: s.actor, Step: stepOf(body), Data: body, Blobs: blobs}
	e, err := s.bundle.Append(s.ctxForDisk(), d)
	if !errors.Is(err, evidence.ErrTooLarge) {
		return e, err
	}
	why := fmt.Sprintf("it is longer than an entry may be (%d MiB); its artifacts have it", evidence.MaxData>>20)
	switch b := body.(type) {
	case triage.ProbeEnd:
		d.Data = shortTexts(b, why)
		if e, err := s.bundle.Append(s.ctxForDisk(), d); !errors.Is(err, evidence.ErrTooLarge) {
			return e, err
		}
		d.Data = shortFacts(shortTexts(b, why), why)
	case triage.ActEnd:
		b.Response = clipped(b.Response) + "\nIts output is not recorded completely: " + why
		b.After = nil
		d.Data = b
	default:
		return e, err
	}
	return s.bundle.Append(s.ctxForDisk(), d)
}

// What an entry says of the artifacts that it names: how many, and in bytes.
const (
	mostNamed = 1000
	mostNames = 512 << 10
)

// fewer names no more artifacts than one entry can.
func fewer(body triage.Body, blobs []evidence.Blob) (triage.Body, []evidence.Blob) {
	n, size := 0, 0
	for _, b := range blobs {
		size += 6*len(b.Role) + 6*len(b.Media) + 256 // escaped, at the worst
		for _, rule := range b.Rules {
			size += len(rule) + 3
		}
		if n == mostNamed || size > mostNames {
			break
		}
		n++
	}
	if n == len(blobs) {
		return body, blobs
	}
	why := fmt.Sprintf("%d more artifacts are not listed, because an entry has no room for them", len(blobs)-n)
	switch b := body.(type) {
	case triage.ProbeEnd:
		b.Gaps = append(slices.Clone(b.Gaps), why)
		body = b
	case triage.ActEnd:
		b.Response += "\n" + why
		body = b
	}
	return body, blobs[:n]
}

// Of what is too long as a whole this much is kept.
const (
	keptText = 4 << 10
	keptList = 50
)

// shortTexts is a read without what is long beside its facts.
func shortTexts(b triage.ProbeEnd, why string) triage.ProbeEnd {
	b.Summary, b.Command = clipped(b.Summary), clipped(b.Command)
	b.Findings = slices.Clone(b.Findings[:min(len(b.Findings), keptList)])
	for i, f := range b.Findings {
		b.Findings[i].Say = clipped(f.Say)
	}
	gaps := []string{"the reading is not recorded completely: " + why}
	for _, g := range b.Gaps[:min(len(b.Gaps), keptList)] {
		gaps = append(gaps, clipped(g))
	}
	b.Gaps = gaps
	return b
}

// shortFacts is a read whose long facts are unknown for their length.
func shortFacts(b triage.ProbeEnd, why string) triage.ProbeEnd {
	facts := make(map[string]steps.Value, len(b.Facts))
	for name, v := range b.Facts {
		if len(v.Raw()) > keptText {
			v = steps.Unknown(v.Type(), "could not check: "+why)
		}
		facts[name] = v
	}
	b.Facts, b.Green = facts, nil
	return b
}

func clipped(text string) string {
	if len(text) <= keptText {
		return text
	}
	return strings.ToValidUTF8(text[:keptText], "") + " …"
}

// ctxForDisk is never cancelled: an entry is either written whole or its
// failure is known.
func (s *Session) ctxForDisk() context.Context { return context.Background() }

// stepOf returns the step of an event, "" for none.
func stepOf(b triage.Body) string {
	switch b := b.(type) {
	case triage.Skip:
		return b.Step
	case triage.Answer:
		return b.Step
	case triage.Manual:
		return b.Step
	case triage.ProbeStart:
		return b.Step
	case triage.ProbeEnd:
		return b.Step
	case triage.FindingsSet:
		return b.Step
	case triage.FindingAnswer:
		return b.Step
	case triage.GateShown:
		return b.Step
	case triage.SeverityAsk:
		return b.Step
	case triage.GateAnswered:
		return b.Step
	case triage.GateClosed:
		return b.Step
	case triage.ActStart:
		return b.Step
	case triage.ActEnd:
		return b.Step
	case triage.ActAgain:
		return b.Step
	case triage.HandAct:
		return b.Proof
	case triage.DebtOpened:
		return b.Of
	}
	return ""
}
