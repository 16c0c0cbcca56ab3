package report

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"handrail/evidence/visible"
	"handrail/triage"
)

var auditWord = regexp.MustCompile(`(?i)\baudit\b`)

// auditAsked are answers about what an audit log shows.
func auditAsked(r *recovery) []Stand {
	return r.readings(func(s Step) bool {
		return s.Kind == visible.Text(triage.AskStep) && (auditWord.MatchString(string(s.Title)) || auditWord.MatchString(string(s.ID)))
	})
}

var auditCall = regexp.MustCompile(`(?i)\baudit|\brequest[ _-]?ids?\b|\bevent[ _-]?ids?\b|cloudtrail`)

// auditCalls are proofs that name calls of an audit log. That a step asked for them is none.
func auditCalls(r *recovery) []Stand {
	return r.readings(func(s Step) bool {
		return s.Kind == visible.Text(triage.ManualStep) && done(s) && auditCall.MatchString(string(s.Summary))
	})
}

// auditIDs are the Audit-IDs of what handrail sent to an API server.
func auditIDs(r *recovery) []Stand {
	var out []Stand
	for _, seq := range slices.Sorted(maps.Keys(r.j.lines)) {
		if l := r.j.lines[seq]; len(l.audit) > 0 {
			s := Stand{What: line("requests of " + l.step), Step: line(l.step), Entry: seq}
			for _, id := range l.audit {
				s.Values = append(s.Values, given("Audit-ID", line(id)))
			}
			out = append(out, s)
		}
	}
	return out
}

func stateReading(s Step) bool {
	return using("terraform/state", "terraform/versions", "terraform/state-diff")(s)
}

func stateBefore(r *recovery) []Stand {
	first := int64(0)
	for _, g := range r.acts(writesState) {
		if first == 0 || g.began() < first {
			first = g.began()
		}
	}
	return r.readings(func(s Step) bool { return stateReading(s) && (first == 0 || s.Entry < first) })
}

func stateAfter(r *recovery) []Stand {
	last := r.lastWrite()
	out := r.readings(func(s Step) bool { return stateReading(s) && last > 0 && s.Entry > last })
	for _, g := range r.acts(writesState) {
		if !g.HasAfter {
			continue
		}
		s := Stand{What: line(string(g.Title) + ": the target read again"), Step: g.Step, Entry: g.ended()}
		for _, side := range g.Sides {
			if !side.Unread {
				s.Values = append(s.Values, given(string(side.Key), line(cmp.Or(string(side.Before), "none")+" → "+cmp.Or(string(side.After), "none"))))
			}
		}
		out = append(out, s)
	}
	return out
}

var gitops = regexp.MustCompile(`(?i)argo|flux|kustomization|helmrelease`)

// loops are readings in which a GitOps controller shows itself.
func loops(r *recovery) []Stand {
	var out []Stand
	for _, s := range r.d.Steps {
		text := string(s.Summary) + " " + string(s.Command) + " " + string(s.Drawing)
		for _, f := range s.Facts {
			if f.Known {
				text += " " + string(f.Value)
			}
		}
		if s.Kind == visible.Text(triage.ProbeStep) && done(s) && gitops.MatchString(text) {
			out = append(out, r.reading(s))
		}
	}
	for _, g := range r.acts(func(kind string) bool { return kind == "kube/suspend" || kind == "kube/resume" }) {
		out = append(out, r.act(g))
	}
	return out
}

// ownersSaid are the controllers that a gate showed, and whether they were paused.
func ownersSaid(r *recovery) []Stand {
	var out []Stand
	for _, g := range r.d.Gates {
		s := Stand{What: g.Title, Step: g.Step}
		if len(g.Entries) > 0 {
			s.Entry = g.Entries[0]
		}
		for _, o := range g.Owners {
			s.Values = append(s.Values, given(string(o.What), o.Why))
		}
		if len(s.Values) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// deviations are what was accepted although a rule said otherwise: by whom, and why.
func deviations(r *recovery) []Stand {
	var out []Stand
	add := func(entry int64, what string, person, why visible.Text) {
		out = append(out, Stand{What: line(what), Says: why, Entry: entry, Values: []Fact{given("accepted by", person)}})
	}
	for _, w := range r.d.Waivers {
		what := "waived for " + string(w.Subject)
		if w.Law == 0 {
			what = "overruled what " + string(w.Subject) + " found: " + joined(w.Findings, "; ")
		}
		add(w.Entry, what, w.Person, w.Why)
	}
	for _, x := range r.st.Debts {
		if x.Settled.How == "waived" {
			add(x.Seq, "a debt was waived: "+x.Text, line(x.Settled.Person), line(x.Settled.Why))
		}
	}
	for _, g := range r.d.Gates {
		if g.Widen != "" && len(g.Entries) > 0 {
			add(g.Entries[0], "a wider containment: "+string(g.Title), g.Actor, g.Widen)
		}
	}
	for _, h := range r.d.ByHand {
		add(h.Entry, "a change by hand, behind no gate: "+string(h.Object), h.Person, h.What)
	}
	return out
}

// carried are debts with an owner and a date: when an accepted deviation ends.
func carried(r *recovery) []Stand {
	var out []Stand
	for _, x := range r.d.Debts {
		if x.How == "carried" {
			out = append(out, Stand{What: x.Text, Says: x.Why, Entry: x.Entry, Values: []Fact{given("owner", x.By), given("until", x.Until)}})
		}
	}
	return out
}

// itself is the incident: what it was, who was there, how it ended.
func theIncident(r *recovery) []Stand {
	s := Stand{What: r.d.Title, Values: []Fact{given("incident", r.d.Incident), given("severity", r.d.Severity), given("phase", r.d.Phase)}}
	if r.d.Outcome != "" {
		s.Values = append(s.Values, given("outcome", r.d.Outcome))
	}
	for _, m := range r.d.Timeline {
		if m.Type == visible.Text(triage.Open{}.Type()) {
			s.Entry, s.At, s.Actor = m.Entry, m.At, m.Actor
		}
	}
	for _, b := range r.d.Runbooks {
		s.Values = append(s.Values, given("runbook "+string(b.ID), b.Digest))
	}
	for _, x := range r.d.People {
		s.Values = append(s.Values, given("person", line(string(x.Name)+" ("+string(x.Proof)+")")))
	}
	return []Stand{s}
}

var ticket = regexp.MustCompile(`(?i)https?://|\b[A-Z][A-Z0-9]+-[0-9]+\b|\b(?:incident|ticket|change|case)\s*[#:]?\s*[A-Z]*[0-9]{2,}`)

// governed are notes and proofs that name a page, a ticket or a channel.
func governed(r *recovery) []Stand {
	var out []Stand
	for _, m := range r.d.Timeline {
		said := m.Type == visible.Text(triage.Note{}.Type()) || m.Type == visible.Text(triage.Manual{}.Type())
		if said && ticket.MatchString(string(m.Text)) {
			out = append(out, Stand{What: "said on the call", Says: m.Text, Step: m.Step, Entry: m.Entry, At: m.At, Actor: m.Actor})
		}
	}
	return out
}
