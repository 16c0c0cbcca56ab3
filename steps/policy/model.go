package policy

import (
	"fmt"
	"regexp"
	"slices"

	"handrail/steps"
)

// Bounds of what is kept of a decision.
const (
	mostResults = 200_000
	mostNames   = 200 // rules and resources that a fact lists
	mostMessage = 1 << 10
	mostName    = 512
)

// outcome is what an engine says of one rule and one resource.
type outcome string

const (
	passed  outcome = "pass"
	failed  outcome = "fail"
	warned  outcome = "warn"
	skipped outcome = "skip" // not evaluated, not applicable, or excused by an exception
	erred   outcome = "error"
)

// result is one rule held to one resource.
type result struct {
	rule, resource string
	level          string // severity or enforcement level, as the engine says it
	message        string
	outcome        outcome
	excused        bool   // a skip by an exception
	evaluated      bool   // of a skip: the rule was evaluated before it was excused
	exception      string // its id, where told
}

// decision is one saved output, whatever its engine and format.
type decision struct {
	engine, version string
	format          string
	results         []result
	more            int64  // passes that are counted and not listed
	overall         string // what the engine itself says of the whole, allow or deny, "" where it does not
	broken          string // why it was not read to its end, or not understood
	open            string // why it cannot count as allow, though nothing in it denies
	down            bool   // an error says that the engine, or what it asks, was not reached
}

// The verdicts.
const (
	allow   = "allow"
	deny    = "deny"
	errored = "error"
)

func (d *decision) add(r result) {
	if len(d.results) >= mostResults {
		d.breaks(fmt.Sprintf("it has more than the %d results that are read", mostResults))
		return
	}
	r.rule, r.resource = steps.OneLine(r.rule, mostName), steps.OneLine(r.resource, mostName)
	r.level, r.exception = steps.OneLine(r.level, 64), steps.OneLine(r.exception, mostName)
	r.message = steps.OneLine(r.message, mostMessage)
	d.results = append(d.results, r)
}

// fail notes an error of the engine itself.
func (d *decision) fail(message string) {
	d.add(result{message: message, outcome: erred})
	d.down = d.down || unreached.MatchString(message)
}

// breaks keeps the first reason.
func (d *decision) breaks(why string) {
	if d.broken == "" {
		d.broken = why
	}
}

// opens keeps the first reason.
func (d *decision) opens(why string) {
	if d.open == "" {
		d.open = why
	}
}

func (d *decision) count(o outcome) int64 {
	n := int64(0)
	for _, r := range d.results {
		if r.outcome == o {
			n++
		}
	}
	if o == passed {
		n += d.more
	}
	return n
}

func (d *decision) excused() (n int64) {
	for _, r := range d.results {
		if r.excused {
			n++
		}
	}
	return n
}

// evaluated counts the results for which a rule was held to a resource. An exception that is taken before that leaves nothing evaluated.
func (d *decision) evaluated() int64 {
	n := d.count(passed) + d.count(failed) + d.count(warned)
	for _, r := range d.results {
		if r.evaluated {
			n++
		}
	}
	return n
}

// verdict is what the output comes to; "" with a reason where that is unknown. That nothing in it denies is not yet a
// reason to allow: it must have been read to its end, and something must have been evaluated.
func (d *decision) verdict() (is, why string) {
	switch {
	case d.broken != "" && d.overall == deny:
		return deny, ""
	case d.broken != "":
		return "", d.broken
	case d.count(erred) > 0:
		return errored, ""
	case d.count(failed) > 0 && d.overall == allow:
		return "", "it says that the whole is allowed, and that a rule that binds is not kept"
	case d.count(failed) > 0 || d.overall == deny:
		return deny, ""
	case d.open != "":
		return "", d.open
	case d.evaluated() == 0:
		return "", "no rule was evaluated: that denies nothing, and allows nothing"
	}
	return allow, ""
}

// first is the first result that denies, or else the first error.
func (d *decision) first() (result, bool) {
	for _, o := range []outcome{failed, erred} {
		if i := indexOf(d.results, o); i >= 0 {
			return d.results[i], true
		}
	}
	return result{}, false
}

// indexOf is the first result of an outcome, -1 for none.
func indexOf(list []result, o outcome) int {
	return slices.IndexFunc(list, func(r result) bool { return r.outcome == o })
}

// names lists one part of the failed results, each once, in the order of the output.
func (d *decision) names(part func(result) string) (out []string, cut bool) {
	out = []string{}
	seen := map[string]bool{"": true}
	for _, r := range d.results {
		if name := part(r); r.outcome == failed && !seen[name] {
			if len(out) == mostNames {
				return out, true
			}
			seen[name] = true
			out = append(out, name)
		}
	}
	return out, false
}

// unreached matches what programs write when the other end of a connection is not there.
var unreached = regexp.MustCompile(`(?i)connection refused|connection reset|no such host|i/o timeout|deadline exceeded|TLS handshake timeout|timed? ?out\b|service unavailable|bad gateway|network is unreachable|no route to host|failed calling webhook`)
