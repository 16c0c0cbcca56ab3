package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

// readings are the steps that read with one of these kinds, or that match, and came to an end.
func (r *recovery) readings(fits func(Step) bool) []Stand {
	var out []Stand
	for _, s := range r.d.Steps {
		if !fits(s) {
			continue
		}
		if !done(s) {
			r.lacks = append(r.lacks, Lack{What: line(string(s.Title) + ": " + cmp.Or(string(s.Summary), string(s.Status))), How: line("do " + string(s.ID) + " again, or read it where it is kept")})
			continue
		}
		out = append(out, r.reading(s))
	}
	return out
}

// done reports whether a step came to something that an artifact can stand on. One that is stale did, once.
func done(s Step) bool {
	return s.Status == visible.Text(triage.Settled) || s.Status == visible.Text(triage.Stale)
}

func (r *recovery) reading(s Step) Stand {
	says := s.Summary
	if s.Answer != "" {
		says = line(strings.TrimSuffix(string(s.Answer)+" ("+string(s.How)+")", " ()"))
	}
	out := Stand{What: s.Title, Says: says, Step: s.ID, Entry: s.Entry, At: s.Ended, Stale: s.Status == visible.Text(triage.Stale)}
	var unknown []string
	for _, f := range s.Facts {
		if f.Known {
			out.Values = append(out.Values, f)
		} else {
			unknown = append(unknown, string(f.Name)+" ("+string(f.Value)+")")
		}
	}
	if len(unknown) > 0 {
		r.lacks = append(r.lacks, Lack{What: line("not known from " + string(s.ID) + ": " + strings.Join(unknown, "; "))})
	}
	for _, g := range s.Gaps {
		r.lacks = append(r.lacks, Lack{What: line("a gap of " + string(s.ID) + ": " + string(g))})
	}
	for _, a := range s.Artifacts {
		if a.Truncated {
			r.lacks = append(r.lacks, Lack{What: line("the end of " + string(a.Role) + " of " + string(s.ID) + ": it was cut when it was stored")})
		}
		out.Artifacts = append(out.Artifacts, a)
	}
	return out
}

func using(kinds ...string) func(Step) bool {
	return func(s Step) bool { return slices.Contains(kinds, string(s.Uses)) }
}

// uses finds the steps of these kinds.
func uses(kinds ...string) func(*recovery) []Stand {
	return func(r *recovery) []Stand { return r.readings(using(kinds...)) }
}

// item finds one of the fourteen items of evidence, as coverage has it. Of a proof that names several, only the value of
// this one counts. Steps of the kinds in but are another part's.
func item(code string, but ...string) func(*recovery) []Stand {
	return func(r *recovery) []Stand {
		for _, c := range r.d.Coverage {
			if c.Code != visible.Text(code) {
				continue
			}
			if c.State != string(triage.Captured) {
				if c.Why != "" {
					r.lacks = append(r.lacks, Lack{What: line(c.State + ", " + string(c.Why))})
				}
				return nil
			}
			for _, s := range r.d.Steps {
				if s.ID == c.Steps && !using(but...)(s) {
					if s.Kind == visible.Text(triage.ManualStep) {
						return []Stand{{What: c.Item, Says: cmp.Or(c.Why, s.Summary), Step: s.ID, Entry: c.Entry, Values: []Fact{given("proof", s.Summary)}}}
					}
					return []Stand{r.reading(s)}
				}
			}
		}
		return nil
	}
}

// values keeps of the stands that find gives the values whose names fit, and drops those without one.
func values(find func(*recovery) []Stand, names *regexp.Regexp) func(*recovery) []Stand {
	return func(r *recovery) []Stand {
		before := len(r.lacks)
		var out []Stand
		for _, s := range find(r) {
			s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(f Fact) bool { return !names.MatchString(string(f.Name)) })
			if len(s.Values) > 0 {
				out = append(out, s)
			}
		}
		r.lacks = r.lacks[:before] // of values that no one asked for
		return out
	}
}

// either is what the first of these finds that finds something.
func either(finds ...func(*recovery) []Stand) func(*recovery) []Stand {
	return func(r *recovery) []Stand {
		for _, f := range finds {
			if out := f(r); len(out) > 0 {
				return out
			}
		}
		return nil
	}
}

func given(name string, value visible.Text) Fact {
	return Fact{Name: line(name), Type: "string", Value: value, Known: true}
}
