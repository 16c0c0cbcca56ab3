package drills

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/drills/lab"
	"handrail/session"
	"handrail/triage"
)

// Write is one write of the operator as the audit log has it, with the act that
// answers for it.
type Write struct {
	At     time.Time `json:"at"`
	Verb   string    `json:"verb"`
	Object string    `json:"object"` // resource namespace/name
	Agent  string    `json:"agent"`
	Act    string    `json:"act"` // step of the act, "" when none answers for it
}

// Proof says whether every write of the operator is one that an act in the
// bundle names.
type Proof struct {
	OK     bool    `json:"ok"`
	Acts   int     `json:"acts"`
	Writes []Write `json:"writes"`
}

// Unnamed returns the writes that no act answers for.
func (p Proof) Unnamed() []Write {
	return slices.DeleteFunc(slices.Clone(p.Writes), func(w Write) bool { return w.Act != "" })
}

// AuditProof holds the audit log of the lab against the bundle at path: each
// write by the operator must lie between the start and the end of an act whose
// target names its object.
func (r *Running) AuditProof(ctx context.Context, path string) (Proof, error) {
	st, err := session.LoadState(path)
	if err != nil {
		return Proof{}, fmt.Errorf("audit proof: %w", err)
	}
	events, err := r.lab.AuditEvents(ctx, lab.AuditFilter{User: r.Operator()})
	if err != nil {
		return Proof{}, fmt.Errorf("audit proof: %w", err)
	}
	return prove(events, acts(st)), nil
}

// act is one act of the bundle: what it was to change, and when.
type act struct {
	step       string
	target     []triage.KV
	start, end time.Time // end is zero while its end is not known
}

// acts reads the acts out of the timeline. A gate may have acted twice, and
// then both windows stand under its target.
func acts(st triage.State) []act {
	var out []act
	for _, m := range st.Timeline {
		switch m.Type {
		case "act.start":
			g := st.Gates[m.Step]
			out = append(out, act{step: m.Step, target: append(slices.Clone(g.Before), g.Shown.Target...), start: m.At})
		case "act.end":
			for i := len(out) - 1; i >= 0; i-- {
				if out[i].step == m.Step && out[i].end.IsZero() {
					out[i].end = m.At
					break
				}
			}
		}
	}
	return out
}

// prove matches writes to acts. What was refused or rehearsed changed nothing
// and needs no act.
func prove(events []lab.AuditEvent, acts []act) Proof {
	p := Proof{OK: true, Acts: len(acts), Writes: []Write{}}
	for _, e := range events {
		if !e.Persists() {
			continue
		}
		w := Write{At: e.Received, Verb: e.Verb, Object: e.Resource + " " + e.Namespace + "/" + e.Name, Agent: e.UserAgent}
		for _, a := range acts {
			if a.names(e) {
				w.Act = a.step
			}
		}
		p.OK = p.OK && w.Act != ""
		p.Writes = append(p.Writes, w)
	}
	return p
}

// names reports whether the act answers for a write. The journal tells
// milliseconds and the audit log microseconds of the same clock, so an act may
// seem to begin or end a millisecond away from its write.
func (a act) names(e lab.AuditEvent) bool {
	const grain = time.Millisecond
	if e.Received.Before(a.start.Add(-grain)) || !a.end.IsZero() && e.Received.After(a.end.Add(grain)) {
		return false
	}
	return slices.ContainsFunc(a.target, func(kv triage.KV) bool {
		return kv.Value == e.Namespace+"/"+e.Name || strings.HasSuffix(kv.Value, " "+e.Namespace+"/"+e.Name)
	})
}
