package triage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Standing says how an item of evidence stands.
type Standing string

// The standings of an item. An item is missing until something says otherwise.
const (
	Captured      Standing = "captured"
	Forgone       Standing = "waived"         // by a named person, for a reason
	NotApplicable Standing = "not applicable" // the runbook has no step for it
	Missing       Standing = "missing"
)

// Covered says how one item of evidence stands: E1 to E14, or a required
// capture of the runbook.
type Covered struct {
	Item     string    `json:"item"` // E1 to E14, or the id of a required capture
	Means    string    `json:"means"`
	Standing Standing  `json:"standing"`
	Step     string    `json:"step,omitempty"` // that captured it, or that should have
	Seq      int64     `json:"seq,omitempty"`  // the entry that captured or waived it
	At       time.Time `json:"at,omitzero"`
	Who      string    `json:"who,omitempty"` // of a waiver or a skip
	Why      string    `json:"why,omitempty"`
}

// EvidenceItem is one of the fourteen things that are evidence in every incident
// of a delivery path.
type EvidenceItem struct{ Code, Means string }

// EvidenceItems lists E1 to E14.
func EvidenceItems() []EvidenceItem {
	return []EvidenceItem{
		{"E1", "commit SHA"}, {"E2", "pull request"}, {"E3", "run ID"}, {"E4", "plan artifact"},
		{"E5", "policy result"}, {"E6", "approver identity"}, {"E7", "runner identity"}, {"E8", "state backend version"},
		{"E9", "lock ID"}, {"E10", "workspace or unit"}, {"E11", "provider error"}, {"E12", "controller event"},
		{"E13", "namespace and resource"}, {"E14", "live-state snapshot"},
	}
}

// Coverage says of E1 to E14 and then of each required capture, in the order of
// the loop, how it stands. What an earlier plan captured stays captured; what it
// left open is asked of the plan in force alone.
func Coverage(s State) []Covered {
	var out []Covered
	for _, item := range EvidenceItems() {
		c := Covered{Item: item.Code, Means: item.Means, Standing: NotApplicable}
		for i := range s.Steps {
			if st := &s.Steps[i]; slices.Contains(st.Covers, item.Code) {
				c = better(c, s.covers(c, st))
			}
		}
		out = append(out, c)
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; isCapture(st) {
			c := Covered{Item: st.ID, Means: st.Title, Standing: NotApplicable}
			if got := better(c, s.covers(c, st)); got.Standing != NotApplicable {
				out = append(out, got)
			}
		}
	}
	return out
}

// better prefers the newer of two equal standings, so that what is named is what
// was read last.
func better(a, b Covered) Covered {
	order := []Standing{NotApplicable, Missing, Forgone, Captured}
	x, y := slices.Index(order, a.Standing), slices.Index(order, b.Standing)
	if y > x || (y == x && b.Seq > a.Seq) {
		return b
	}
	return a
}

// covers says how an item stands by one step of those that should capture it.
func (s *State) covers(c Covered, st *Step) Covered {
	if recorded(s, st) && st.Kind == ManualStep && st.Gives != nil && slices.Contains(st.Covers, c.Item) {
		return c.given(st)
	}
	if recorded(s, st) {
		c.Standing, c.Step, c.Seq, c.At = Captured, st.ID, st.EndSeq, st.Ended
		if n := len(st.Gaps); n > 0 {
			c.Why = fmt.Sprintf("with gaps: %s", strings.Join(st.Gaps, "; "))
		}
		if removed(s, st) {
			c.Seq, c.At, c.Why = st.KeptSeq, st.KeptAt, because("read before it changed, and could not be read again", st.Summary)
		}
		return c
	}
	for _, w := range s.Waivers {
		if (w.Law == 1 || w.Law == 8) && w.Subject == st.ID {
			c.Standing, c.Step, c.Seq, c.At, c.Who, c.Why = Forgone, st.ID, w.Seq, w.At, w.Person, w.Why
		}
	}
	if c.Standing == Forgone || st.Retired {
		return c
	}
	c.Standing, c.Step = Missing, st.ID
	switch st.Status {
	case Skipped:
		c.Seq, c.At = st.EndSeq, st.Ended
		c.Who, c.Why = s.said(st.EndSeq)
	case CannotTell:
		c.Seq, c.At, c.Why = st.EndSeq, st.Ended, because("could not be read", st.Summary)
	case Stale:
		c.Why = "its target moved after it was read"
	case Running:
		c.Why = "it is being read"
	default:
		c.Why = "it was not captured"
	}
	return c
}

// given says how an item stands by the proof of a manual step that covers it.
func (c Covered) given(st *Step) Covered {
	c.Standing, c.Step, c.Seq, c.At, c.Why = Missing, st.ID, st.EndSeq, st.Ended, "the proof does not name it"
	i := slices.IndexFunc(st.Gives, func(g Given) bool { return g.Item == c.Item })
	switch {
	case i < 0:
	case st.Gives[i].None:
		c.Standing, c.Why = NotApplicable, "there is none: "+st.Gives[i].Value
	default:
		c.Standing, c.Why = Captured, st.Gives[i].Value
	}
	return c
}

// said is who made an entry, and its line of the timeline.
func (s *State) said(seq int64) (who, text string) {
	i, ok := slices.BinarySearchFunc(s.Timeline, seq, func(m Moment, seq int64) int { return int(m.Seq - seq) })
	if !ok {
		return "", ""
	}
	return s.Timeline[i].Actor, s.Timeline[i].Text
}

// Wanted are the items that a step covers and that nothing else has captured without a gap:
// what a person is asked for.
func (s State) Wanted(step string) []EvidenceItem {
	st, _ := s.Step(step)
	var out []EvidenceItem
	for _, item := range EvidenceItems() {
		if !slices.Contains(st.Covers, item.Code) {
			continue
		}
		c := Covered{Item: item.Code, Standing: NotApplicable}
		for i := range s.Steps {
			if x := &s.Steps[i]; x.ID != step && slices.Contains(x.Covers, item.Code) {
				c = better(c, s.covers(Covered{Item: item.Code, Standing: NotApplicable}, x))
			}
		}
		if c.Standing != Captured || c.Why != "" {
			out = append(out, item)
		}
	}
	return out
}

// CoverageLine sums coverage up in one line: of E1 to E14 by their names, of the
// required captures by their number. It holds no text from outside.
func CoverageLine(list []Covered) string {
	codes := map[Standing][]string{}
	captures, got := 0, map[Standing]int{}
	for n, c := range list {
		if n < len(EvidenceItems()) {
			codes[c.Standing] = append(codes[c.Standing], c.Item)
			continue
		}
		captures++
		got[c.Standing]++
	}
	var parts []string
	for _, st := range []Standing{Captured, Forgone, Missing, NotApplicable} {
		if len(codes[st]) > 0 {
			parts = append(parts, string(st)+" "+strings.Join(codes[st], " "))
		}
	}
	line := strings.Join(parts, "; ")
	if captures > 0 {
		line += fmt.Sprintf("; required captures %d of %d", got[Captured], captures)
		if n := got[Forgone]; n > 0 {
			line += fmt.Sprintf(", %d waived", n)
		}
		if n := got[Missing]; n > 0 {
			line += fmt.Sprintf(", %d missing", n)
		}
	}
	return line
}

// recorded reports whether a capture is in the record. Reading it once more does
// not take it out; only the end of that attempt can.
func recorded(s *State, st *Step) bool {
	return st.Status == Settled || (st.Status == Running && st.Outcome == "ok") || removed(s, st)
}

// removed reports whether a capture was read, and could not be read again since an act that has ended, or a repair
// by hand: these often remove the object, and what it was is on record. Its facts are unknown.
func removed(s *State, st *Step) bool {
	if st.Status != CannotTell || st.KeptSeq == 0 {
		return false
	}
	between := func(seq int64) bool { return seq > st.KeptSeq && seq < st.EndSeq }
	for id := range s.Gates {
		if slices.ContainsFunc(s.Acts(id), func(a GateState) bool { return a.EndSeq > 0 && a.Phase != GateRefused && between(a.StartSeq) }) {
			return true
		}
	}
	return slices.ContainsFunc(s.Hands, func(h Hand) bool { return between(h.Seq) })
}

// onRemoved reports whether a condition is unknown since an act removed what it was read from: while
// that was known nothing was asked, and of what is gone nothing is asked.
func onRemoved(s *State, v Verdict) bool {
	gone := false
	for _, id := range v.Refs {
		switch x, ok := s.Step(id); {
		case ok && isCapture(&x) && removed(s, &x):
			gone = true
		case !ok || x.Status != Settled:
			return false
		}
	}
	return gone
}
