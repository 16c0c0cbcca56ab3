package runbooks

import (
	"fmt"

	"handrail/triage"
)

// Branch is one way that a condition of a runbook can go. A test of the runbook shows it
// when what the test records makes the condition known and go this way.
type Branch struct {
	Step string // "" for what comes next
	Line int
	What string // as in "case 2: no", "require is false"
	Expr string // "" for a case without a condition
	Say  string // what a person is told there, as its author wrote it; "" for nothing
}

func (b Branch) String() string {
	out := fmt.Sprintf("line %d: ", b.Line)
	if b.Step != "" {
		out += b.Step + ", "
	}
	if out += b.What; b.Expr != "" {
		out += ": " + b.Expr
	}
	return out
}

// branch is a Branch and how it is told whether what is known goes this way.
type branch struct {
	Branch
	taken func(r *Runbook, v Vars) bool
}

// Branches are all of them, in the order of the file: each case of each conclusion and
// proposal; each condition of a step, a finding or a watch, and each requirement, true and
// false; each runbook that comes next.
func (r *Runbook) Branches() []Branch {
	var out []Branch
	for _, b := range r.branches() {
		out = append(out, b.Branch)
	}
	return out
}

// Taken says of each branch whether what is known goes its way.
func (r *Runbook) Taken(v Vars) []bool {
	gone := make([]bool, len(r.branches()))
	r.Go(v, gone)
	return gone
}

// Go marks the branches that what is known goes; those that are marked are not asked again.
func (r *Runbook) Go(v Vars, gone []bool) {
	for i, b := range r.branches() {
		gone[i] = gone[i] || b.taken(r, v)
	}
}

// branches are worked out once: a test asks at each event.
func (r *Runbook) branches() []branch {
	r.branched.Do(func() { r.ways = r.allBranches() })
	return r.ways
}

func (r *Runbook) allBranches() []branch {
	var out []branch
	both := func(step, what string, e *expr, say *text, at string) {
		if e == nil {
			return
		}
		for _, want := range []string{resTrue, resFalse} {
			b := Branch{Step: step, Line: e.node.Line, What: what + " is " + want, Expr: e.src}
			if want == at {
				b.Say = oneLine(say.written())
			}
			out = append(out, branch{b, func(r *Runbook, v Vars) bool { return r.eval(e, v).result == want }})
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Builtin {
			continue
		}
		both(s.ID, "when", s.when, nil, "")
		for _, f := range s.findings {
			both(s.ID, "finding", f.when, f.say, resTrue)
		}
		for _, d := range s.require {
			both(s.ID, "require", d.when, d.other, resFalse)
		}
		for n := range s.cases {
			c := s.cases[n]
			b := Branch{Step: s.ID, Line: s.Line, What: fmt.Sprintf("case %d: %s", n+1, c.is), Say: oneLine(c.say.written())}
			if s.Kind == triage.AskStep {
				b.What = fmt.Sprintf("proposal %d: %s", n+1, c.is)
			}
			if c.when != nil {
				b.Line, b.Expr = c.when.node.Line, c.when.src
			}
			out = append(out, branch{b, func(r *Runbook, v Vars) bool { return r.caseOf(s.cases, v) == n }})
		}
	}
	for _, c := range r.next {
		if c.when == nil {
			continue
		}
		b := Branch{Line: c.when.node.Line, What: "next " + c.runbook, Expr: c.when.src, Say: oneLine(c.say.written())}
		out = append(out, branch{b, func(r *Runbook, v Vars) bool { return r.eval(c.when, v).result == resTrue }})
	}
	return out
}

// caseOf is the index of the case that is taken, -1 for none.
func (r *Runbook) caseOf(cases []conclusion, v Vars) int {
	for i, c := range cases {
		if c.when == nil {
			return i
		}
		switch r.eval(c.when, v).result {
		case resFalse:
		case resTrue:
			return i
		default:
			return -1
		}
	}
	return -1
}
