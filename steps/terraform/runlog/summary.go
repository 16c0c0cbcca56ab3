package runlog

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps/terraform/prose"
)

// addresses returns those of which all that began has completed, and those with
// an operation that never did.
func (r *Log) addresses() (done, open []string) {
	for _, a := range r.order {
		if r.Running[a] > 0 {
			open = append(open, a)
		} else if r.done[a] && !r.half(a) {
			done = append(done, a)
		}
	}
	slices.Sort(done)
	slices.Sort(open)
	return done, open
}

// half reports whether an address is between the two operations of a replacement.
func (r *Log) half(a string) bool { return r.replaces[a] && r.Ends[a] == 1 }

// standing returns the addresses that exist by the log, and those that it ended.
// What is under way, failed or half replaced is of neither.
func (r *Log) standing() (present, destroyed []string) {
	done, _ := r.addresses()
	for _, a := range done {
		switch {
		case r.Failed[a]:
		case r.gone[a]:
			destroyed = append(destroyed, a)
		default:
			present = append(present, a)
		}
	}
	return present, destroyed
}

// ids are the ids of those addresses whose object the log names by its id.
func (r *Log) ids(addresses []string) map[string]string {
	out := map[string]string{}
	for _, a := range addresses {
		if id, ok := strings.CutPrefix(r.named[a], "id="); ok && id != "" {
			out[a] = id
		}
	}
	return out
}

// objects are the addresses that exist by the log, each with what it stood for then.
func (r *Log) objects() []string {
	present, _ := r.standing()
	for i, a := range present {
		present[i] = prose.Object(a, r.named[a])
	}
	return present
}

// neverStarted returns what was planned and has no operation; ok is false where
// the log does not hold the plan and the run to its end.
func (r *Log) neverStarted() (out []string, ok bool) {
	if !r.planWhole || r.lacks() != "" {
		return nil, false
	}
	for _, a := range r.plan {
		if _, seen := r.Running[a]; !seen {
			out = append(out, a)
		}
	}
	slices.Sort(out)
	return out, true
}

// operations says of each address how far it came.
func (r *Log) operations() map[string]string {
	out := map[string]string{}
	for _, a := range r.order {
		switch {
		case r.Failed[a]:
			out[a] = Failed
		case r.Running[a] > 0:
			out[a] = InFlight
		case r.half(a):
			out[a] = Half
		case r.done[a] && r.gone[a] && !r.finished && !r.planWhole:
			out[a] = Destroyed
		case r.done[a]:
			out[a] = Complete
		}
	}
	if never, ok := r.neverStarted(); ok {
		for _, a := range never {
			out[a] = NeverStarted
		}
	}
	return out
}

// classed returns the addresses of errors of a class, in order.
func (r *Log) classed(class string) []string {
	var out []string
	for _, e := range r.Errors {
		if e.class == class && e.Address != "" && !slices.Contains(out, e.Address) {
			out = append(out, e.Address)
		}
	}
	slices.Sort(out)
	return out
}

// Brief says how far the run came.
func (r *Log) Brief() string {
	done, open := r.addresses()
	return fmt.Sprintf("after %d completed and with %d unfinished operations", len(done), len(open))
}
