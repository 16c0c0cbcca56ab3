package incident

import (
	"slices"
	"time"

	"handrail/triage"
	"handrail/tui/ink"
)

// InWords is [view.Snapshot.Words].
func (r *Case) InWords(of, text string) ink.Text { return ink.Shown(r.Snap.Words(of, text)) }

// Condition is [view.Snapshot.Condition].
func (r *Case) Condition(of, expr string) ink.Text { return ink.Shown(r.Snap.Condition(of, expr)) }

// Cure is [view.Snapshot.Cure].
func (r *Case) Cure(of, why, cure string) ink.Text { return ink.Shown(r.Snap.Cure(of, why, cure)) }

// behind is [view.Snapshot.Behind].
func (r *Case) behind(of string, f triage.Refusal) string { return r.Snap.Behind(of, f) }

// Refusal writes why something of a step is not available and what would make it so.
func (r *Case) Refusal(of string, f triage.Refusal) ink.Text {
	t := "Not now: " + r.InWords(of, f.Why)
	if cure := r.Cure(of, f.Why, f.Cure); cure != "" {
		t += " → " + cure
	}
	return t
}

// Until says when time alone has met what stands in the way of a gate, "" where time
// meets nothing of it.
func Until(now time.Time, rs []triage.Refusal) ink.Text {
	at, alone := triage.Opens(rs)
	switch {
	case at.IsZero():
		return ""
	case !now.Before(at):
		return ink.Say("The wait ended at %s: read it again.", ink.Clock(at))
	case alone:
		return ink.Say("Refused until %s (in %s); then read it again.", ink.Clock(at), ink.Ago(at.Sub(now)))
	}
	return ink.Say("Not before %s (in %s), and the rest is needed too.", ink.Clock(at), ink.Ago(at.Sub(now)))
}

// Refused is what stands in the way of a gate: what stands there now, or what its
// target had against it when it was read, where that is all that is known.
func (r *Case) Refused(step string) []triage.Refusal {
	o, _ := r.Option(triage.DoPreview, step)
	if g := r.Snap.State.Gates[step]; len(o.Refusals) == 0 && g.WasRefused && g.Phase == triage.GateIdle {
		return []triage.Refusal{{Why: g.Why, At: g.Opens}}
	}
	return o.Refusals
}

// Met are the steps on which the refusals of a step can be met, in their order: each
// has a number, by which it is gone to.
func (r *Case) Met(of string, fs []triage.Refusal) []string {
	var out []string
	for _, f := range fs {
		if id := r.behind(of, f); id != "" && !slices.Contains(out, id) && len(out) < 9 {
			out = append(out, id)
		}
	}
	return out
}

// MetKey is the number of the step on which a refusal can be met, "" for none.
func (r *Case) MetKey(of string, f triage.Refusal, met []string) ink.Text {
	if i := slices.Index(met, r.behind(of, f)); i >= 0 {
		return ink.Say("%d", i+1)
	}
	return ""
}
