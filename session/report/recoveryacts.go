package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"handrail/evidence/visible"
)

// acts are the gates that were acted on.
func (r *recovery) acts(fits func(kind string) bool) []Gate {
	var out []Gate
	for _, g := range r.d.Gates {
		if s, _ := r.st.Step(string(g.Step)); !g.ActedAt.IsZero() && (fits == nil || fits(s.Uses)) {
			out = append(out, g)
		}
	}
	return out
}

func applies(kind string) bool { return strings.HasPrefix(kind, "terraform/apply-") }

func acted(r *recovery) bool { return len(r.acts(nil)) > 0 }

// began is the entry of a gate's act, and ended that of its end, 0 for none.
func (g Gate) began() int64 {
	if len(g.Entries) < 2 {
		return 0
	}
	return g.Entries[1]
}

func (g Gate) ended() int64 {
	if len(g.Entries) < 3 {
		return 0
	}
	return g.Entries[2]
}

// act is one act through a gate.
func (r *recovery) act(g Gate) Stand {
	out := Stand{What: line(string(g.Title) + ": " + string(g.Phase)), Says: g.Effect, Step: g.Step, Entry: cmp.Or(g.ended(), g.began()), Artifacts: g.Artifacts}
	for _, v := range []struct {
		name  string
		value visible.Text
	}{{"command", visible.Line(string(g.Command))}, {"response", visible.Line(string(g.Response))}, {"confirmed by", g.Actor}, {"as", g.As}, {"digest of the preview", g.Digest}} {
		if v.value != "" {
			out.Values = append(out.Values, given(v.name, v.value))
		}
	}
	return out
}

func actsOf(fits func(string) bool) func(*recovery) []Stand {
	return func(r *recovery) []Stand {
		var out []Stand
		for _, g := range r.acts(fits) {
			out = append(out, r.act(g))
		}
		return out
	}
}

var digests = regexp.MustCompile(`(?i)digest|sha256|checksum`)

// appliedDigests are the plans that gates applied, by the digest that the target names.
func appliedDigests(r *recovery) []Stand {
	var out []Stand
	for _, g := range r.acts(applies) {
		s := Stand{What: line(string(g.Title) + ": the plan that was confirmed"), Step: g.Step, Entry: g.began(), Actor: g.Actor}
		for _, side := range slices.Concat(g.Sides, g.Shown) {
			if digests.MatchString(string(side.Key)) {
				s.Values = append(s.Values, given(string(side.Key), side.Before))
			}
		}
		s.Values = append(s.Values, given("digest of the preview", g.Digest), given("phrase", g.Phrase))
		out = append(out, s)
	}
	return out
}

// confirmed are who opened each gate, with the conditions as they were judged.
func confirmed(r *recovery) []Stand {
	var out []Stand
	for _, g := range r.acts(nil) {
		s := Stand{What: g.Title, Says: g.Effect, Step: g.Step, Entry: g.began(), Actor: g.Actor,
			Values: []Fact{given("digest of the preview", g.Digest), given("phrase", g.Phrase)}}
		if g.As != "" {
			s.Values = append(s.Values, given("as", g.As))
		}
		out = append(out, s)
	}
	return out
}

// agreed are approvals of a second person.
func agreed(r *recovery) []Stand {
	var out []Stand
	for _, g := range r.acts(nil) {
		if len(g.Approvals) > 0 {
			s := Stand{What: g.Title, Step: g.Step, Entry: g.began(), Values: []Fact{given("digest of the preview", g.Digest)}}
			for _, a := range g.Approvals {
				s.Values = append(s.Values, given("approved by", a))
			}
			out = append(out, s)
		}
	}
	return out
}

// judged are the conditions of the gates that were acted on.
func judged(r *recovery) []Stand {
	var out []Stand
	for _, g := range r.acts(nil) {
		s := Stand{What: g.Title, Step: g.Step, Entry: slices.Max(append(g.Entries[:min(1, len(g.Entries))], 0))}
		for _, v := range g.Verdicts {
			s.Values = append(s.Values, given(string(v.Expr), line(strings.TrimSuffix(string(v.Result)+": "+string(v.Why), ": "))))
		}
		if len(s.Values) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// writesState reports whether a gate of that kind may write a state. A pause stands in a file beside it, and an unlock
// takes the lock alone.
func writesState(kind string) bool {
	return strings.HasPrefix(kind, "terraform/") && !slices.Contains([]string{"terraform/pause", "terraform/resume", "terraform/force-unlock"}, kind)
}

// lastWrite is the entry of the newest act on a state, 0 for none.
func (r *recovery) lastWrite() int64 {
	var last int64
	for _, g := range r.acts(writesState) {
		last = max(last, g.ended())
	}
	return last
}
