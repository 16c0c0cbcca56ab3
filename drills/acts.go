package drills

import (
	"errors"
	"slices"
	"strings"
	"time"

	"handrail/drills/lab"
	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// auditKey is under what an act names the Audit-ID of a request that it sent
// itself. A program that it ran, as tofu, sends requests that carry none.
const auditKey = "audit id"

// requestKey is the same for the id that a cloud gave its request.
const requestKey = "request id"

// act is one act of the bundle: what it was to change, and when.
type act struct {
	step       string
	target     []triage.KV
	start, end time.Time // end is zero while its end is not known
	done       bool
	audits     []string // Audit-IDs of its requests, none where it does not know them
	kind       string   // of its gate
	unlogged   bool     // it writes a file, which no server has a log of
	may        []string // "resource namespace/name" of what a program that it runs writes besides
}

// acts reads the acts out of the journal: a gate may have acted twice.
func acts(path string) ([]act, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []act
	shown := map[string][]triage.KV{}
	kinds := map[string]string{}
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) { // the writer is at work, or died in a write
			break
		}
		if err != nil {
			return nil, err
		}
		body, err := triage.Decode(e.Type, e.Data)
		if err != nil {
			return nil, err
		}
		at, err := e.Time()
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case triage.Plan:
			for _, s := range b.Steps {
				kinds[s.ID] = s.Uses
			}
		case triage.GateShown:
			shown[b.Step] = b.Target
		case triage.ActStart:
			out = append(out, act{step: b.Step, target: append(slices.Clone(b.Before), shown[b.Step]...), start: at, kind: kinds[b.Step]})
		case triage.ActEnd:
			ended(out, b, at)
		}
	}
	return out, nil
}

// ended closes the act that an end belongs to. An end that was found out after a
// crash comes in place of one that was not known.
func ended(acts []act, end triage.ActEnd, at time.Time) {
	for i := len(acts) - 1; i >= 0; i-- {
		a := &acts[i]
		if a.step != end.Step {
			continue
		}
		if a.end.IsZero() {
			a.end = at
		}
		a.done = end.Outcome == steps.Done
		a.sent(end.After)
		for _, it := range end.Items { // of a batch, each object has a request of its own
			a.sent(it.After)
			a.target = append(a.target, it.Before...)
		}
		return
	}
}

// sent keeps the Audit-IDs that an act names.
func (a *act) sent(after []triage.KV) {
	for _, kv := range after {
		if (kv.Key == auditKey || kv.Key == requestKey) && kv.Value != "" {
			a.audits = append(a.audits, kv.Value)
		}
	}
}

// names reports whether the act answers for a write: it was sent while the act
// ran, to an object that the act was to change, and, where the act knows the
// Audit-IDs of its requests, as one of them. The journal tells milliseconds and
// the audit log microseconds of the same clock, so an act may seem to begin or
// end a millisecond away from its write.
func (a act) names(e lab.AuditEvent) bool {
	const grain = time.Millisecond
	if e.Received.Before(a.start.Add(-grain)) || !a.end.IsZero() && e.Received.After(a.end.Add(grain)) {
		return false
	}
	if len(a.audits) > 0 && !slices.Contains(a.audits, e.ID) {
		return false
	}
	object := e.Namespace + "/" + e.Name
	if e.Namespace == "" {
		object = e.Name
	}
	if slices.Contains(a.may, e.Resource+" "+object) {
		return true
	}
	return slices.ContainsFunc(a.target, func(kv triage.KV) bool {
		return kv.Value == object || strings.HasSuffix(kv.Value, " "+object) || strings.HasSuffix(kv.Value, "/"+object)
	})
}
