package runbooks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/triage"
)

// Reach is what a runbook could do in the hands of a person, in words: what its steps read,
// what they run, what its gates change, and where its author asks for less than is usual.
type Reach struct {
	Reads   []string
	Told    bool     // some of Reads are of the author's own choice: files and addresses
	Runs    []string // probes that start programs
	Changes []string // gates, each with its subject
	Eases   []string // what the author took off that a runbook has by itself
}

// Reach tells what r could do. The kinds of cat say what each touches.
func (r *Runbook) Reach(cat steps.Catalog) Reach {
	var out Reach
	add := func(to *[]string, line string) {
		if !slices.Contains(*to, line) {
			*to = append(*to, line)
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		k, ok := cat.Lookup(s.Uses)
		if !ok {
			continue
		}
		line := s.Uses + s.subject()
		if len(k.Touches) > 0 {
			line += ": " + strings.Join(k.Touches, "; ")
		}
		if k.Tells != nil {
			line = s.ID + " " + k.Tells(s.given())
			out.Told = out.Told || !s.Heavy
		}
		switch {
		case s.Kind == triage.GateStep:
			add(&out.Changes, fmt.Sprintf("%s (%s), %s", s.ID, s.Class, line))
		case s.Heavy:
			add(&out.Runs, line)
		default:
			add(&out.Reads, line)
		}
		r.eases(s, func(line string) { add(&out.Eases, line) })
	}
	return out
}

// eases says where the author of a step asks for less than is usual.
func (r *Runbook) eases(s *Step, say func(string)) {
	if s.Kind == triage.WatchStep && s.Greens < usualGreens {
		say(fmt.Sprintf("%s proves the recovery by one look", s.ID))
	} else if s.Kind == triage.WatchStep && s.Apart < usualApart {
		say(fmt.Sprintf("%s looks again after %s", s.ID, s.Apart))
	}
	if s.Fresh > DefaultFresh {
		say(fmt.Sprintf("what %s says counts for %s", s.ID, s.Fresh))
	}
	if s.Against != nil && len(s.Against.gates) == 0 {
		say(fmt.Sprintf("what %s finds critical by itself keeps no gate shut", s.Uses))
	}
	for _, f := range s.findings {
		if f.level == steps.Critical && f.against != nil && len(f.against.gates) == 0 && len(r.gatesOf(func(*Step) bool { return true })) > 0 {
			say(fmt.Sprintf("a critical finding of %s keeps no gate shut: %s", s.ID, f.say.written()))
		}
	}
}

// What proves a recovery where the author does not say.
const (
	usualGreens = 2
	usualApart  = 20 * time.Second
)

// Runs says whether a step of r starts a program of its author's choice.
func (r *Runbook) Runs(cat steps.Catalog) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		k, ok := cat.Lookup(s.Uses)
		return ok && k.Tells != nil && k.Class == steps.Heavy
	})
}

// Tells is what a step reads or runs, in words; what its kind touches where that is all
// there is to say.
func (r *Runbook) Tells(step string, cat steps.Catalog) []string {
	s := r.step(step)
	if s == nil {
		return nil
	}
	k, _ := cat.Lookup(s.Uses)
	if k.Tells == nil {
		return k.Touches
	}
	return []string{k.Tells(s.given())}
}

// subject is what a step is given, as its author wrote it.
func (s *Step) subject() string {
	var out []string
	for _, a := range s.with {
		var values []string
		for _, t := range a.value {
			values = append(values, t.written())
		}
		out = append(out, a.field.Name+" "+strings.Join(values, ", "))
	}
	if len(out) == 0 {
		return ""
	}
	return " of " + strings.Join(out, ", ")
}
