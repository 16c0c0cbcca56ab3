package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// pauseFor is when a pause must be looked at again.
const pauseFor = 4 * time.Hour

// newSuspendGate makes the gate that pauses what writes or runs by itself.
func newSuspendGate(env steps.Env) steps.Gater {
	return suspendGate(env, func(pl *alterPlan) string { return pl.in.Text("reason") })
}

// suspendGate is one that takes the reason from elsewhere.
func suspendGate(env steps.Env, why func(*alterPlan) string) alterGate {
	return alterGate{env: env, verb: "pause", plan: func(_ context.Context, pl *alterPlan) error {
		if err := planPause(pl, true); err != nil {
			return err
		}
		pl.notePause(env.Incident, why(pl))
		return nil
	}, find: act.JudgeAlter}
}

// newResumeGate makes the gate that lets it go on.
func newResumeGate(env steps.Env) steps.Gater {
	return alterGate{env: env, verb: "resume", plan: func(_ context.Context, pl *alterPlan) error {
		if err := planPause(pl, false); err != nil {
			return err
		}
		pl.dropNote()
		return nil
	}, find: act.JudgeAlter}
}

// reasonField is why something is paused, for the next person who finds it so.
func reasonField() steps.Field {
	return steps.Field{Name: "reason", Type: steps.String, Doc: "why, in a line, for the next person who finds it paused: it is written on the object beside the incident and the time until which the pause should last"}
}

// notePause writes on the object whose pause it is, in the request that pauses it. An ExternalSecret
// fetches at each change of its annotations, and is put back with kube/patch: it gets no note.
func (pl *alterPlan) notePause(incident, why string) {
	if len(pl.ops) == 0 || pl.t.Group == "external-secrets.io" {
		return
	}
	note := map[string]any{steps.PauseUntil: act.AfterAct(pauseFor)}
	if incident = steps.PauseLine(incident); incident != "" {
		note[steps.PauseIncident] = incident
	}
	if why = steps.PauseLine(why); why != "" {
		note[steps.PauseWhy] = why
	}
	if pl.o.GetAnnotations() == nil {
		pl.ops = append(pl.ops, patch.Op{Op: patch.Add, Path: "/metadata/annotations", Value: note})
		return
	}
	for _, key := range slices.Sorted(maps.Keys(note)) {
		pl.ops = append(pl.ops, patch.Op{Op: patch.Add, Path: patch.Join([]string{"metadata", "annotations", key}), Value: note[key]})
	}
	for _, key := range steps.PauseKeys() { // of an earlier pause that something else ended
		if _, stale := pl.o.GetAnnotations()[key]; stale && note[key] == nil {
			pl.ops = append(pl.ops, patch.Op{Op: patch.Remove, Path: patch.Join([]string{"metadata", "annotations", key})})
		}
	}
}

// dropNote takes the note away with the pause.
func (pl *alterPlan) dropNote() {
	if len(pl.ops) == 0 {
		return
	}
	for _, key := range steps.PauseKeys() {
		if _, is := pl.o.GetAnnotations()[key]; is {
			pl.ops = append(pl.ops, patch.Op{Op: patch.Remove, Path: patch.Join([]string{"metadata", "annotations", key})})
		}
	}
}

// planPause is about the one field by which a kind is paused.
func planPause(pl *alterPlan, pause bool) error {
	switch {
	case pl.t.Group == "argoproj.io" && pl.t.Kind == "Application":
		return planArgoPause(pl, pause)
	case pl.t.Group == "external-secrets.io" && pl.t.Kind == "ExternalSecret":
		return planSecretPause(pl, pause)
	case pl.t.Group == "batch" && (pl.t.Kind == "CronJob" || pl.t.Kind == "Job"), strings.HasSuffix(pl.t.Group, ".toolkit.fluxcd.io"):
	default:
		pl.unmet("a workload is stopped with kube/stop-batch; a webhook is taken back with kube/narrow-webhook", "%s is of a kind that cannot be paused.", pl.t)
		return nil
	}
	paused, _, err := unstructured.NestedBool(pl.o.Object, "spec", "suspend")
	switch {
	case err != nil:
		return fmt.Errorf("%s: its spec.suspend: %w", pl.t, err)
	case paused == pause && pause:
		pl.unmet("nothing: it is so already; find out who paused it, and since when, before you rely on it", "%s is paused already.", pl.t)
		return nil
	case paused == pause:
		pl.unmet("nothing: it is so already", "%s is not paused.", pl.t)
		return nil
	}
	pl.ops = []patch.Op{{Op: patch.Add, Path: "/spec/suspend", Value: pause}}
	pl.pauseWords(pause)
	return nil
}

// pauseWords say what stops or goes on.
func (pl *alterPlan) pauseWords(pause bool) {
	active, _, _ := unstructured.NestedInt64(pl.o.Object, "status", "active")
	running, _, _ := unstructured.NestedSlice(pl.o.Object, "status", "active")
	schedule, _, _ := unstructured.NestedString(pl.o.Object, "spec", "schedule")
	last, _, _ := unstructured.NestedString(pl.o.Object, "status", "lastScheduleTime")
	switch {
	case pl.t.Kind == "CronJob" && pause:
		pl.p.Effect = fmt.Sprintf("start no Job of %s any more (schedule %q). %d Jobs that run now go on to their end.", pl.t, steps.Clip(schedule, 100), len(running))
	case pl.t.Kind == "CronJob":
		pl.p.Effect = fmt.Sprintf("let %s start Jobs again (schedule %q, last %s). A run that was missed may start at once.", pl.t, steps.Clip(schedule, 100), report.OrNothing(steps.Clip(last, 30)))
	case pl.t.Kind == "Job" && pause:
		pl.p.Effect = fmt.Sprintf("stop %s: its %d running Pods are deleted, and what they did so far stays done.", pl.t, active)
	case pl.t.Kind == "Job":
		pl.p.Effect = fmt.Sprintf("let %s run: it makes Pods at once, from its beginning.", pl.t)
	case pause:
		pl.p.Effect = fmt.Sprintf("let Flux leave alone what %s applies. What is applied already stays; deleting it while it is paused removes nothing of that.", pl.t)
	default:
		pl.p.Effect = fmt.Sprintf("let Flux reconcile %s again: it writes over what was changed by hand.", pl.t)
	}
	pl.pauseDebt(pause)
}

func (pl *alterPlan) pauseDebt(pause bool) {
	d := []steps.Debt{{Kind: "resume", Text: fmt.Sprintf("%s is paused and must be resumed, or a person must own that it is not", pl.t), Due: pauseFor}}
	if pause {
		pl.p.Owes = d
	} else {
		pl.p.Pays = d
	}
}

// planArgoPause writes the switch of auto-sync and leaves its block in place, so
// that managedFields say who paused it, and when.
func planArgoPause(pl *alterPlan, pause bool) error {
	policy, set, err := unstructured.NestedMap(pl.o.Object, "spec", "syncPolicy", "automated")
	if err != nil {
		return fmt.Errorf("%s: its spec.syncPolicy.automated: %w", pl.t, err)
	}
	enabled, said := policy["enabled"].(bool)
	on := !said || enabled
	switch {
	case !set:
		pl.unmet("nothing: it only syncs when asked to", "%s has no auto-sync that could be paused or resumed.", pl.t)
		return nil
	case on != pause && pause:
		pl.unmet("nothing: it is so already; find out who paused it, and since when, before you rely on it", "The auto-sync of %s is off already.", pl.t)
		return nil
	case on != pause:
		pl.unmet("nothing: it is so already", "The auto-sync of %s is on.", pl.t)
		return nil
	}
	pl.ops = []patch.Op{{Op: patch.Add, Path: "/spec/syncPolicy/automated/enabled", Value: !pause}}
	if _, running := pl.o.Object["operation"]; running && pause {
		pl.unmet("wait for its end, then preview again", "A sync of %s is under way: it would go on.", pl.t)
	}
	if pause {
		pl.p.Effect = fmt.Sprintf("switch off the auto-sync of %s, and with it self-heal and pruning. Its status is still refreshed; a sync by hand still works.", pl.t)
	} else {
		pl.p.Effect = fmt.Sprintf("switch on the auto-sync of %s: it applies what Git has, and with self-heal it writes over what was changed by hand.", pl.t)
	}
	pl.pauseDebt(pause)
	return nil
}

// writesNone is the creation policy of an ExternalSecret that writes no Secret.
const writesNone = "None"

// planSecretPause takes the writing from an ExternalSecret. A longer interval would not do: the
// change itself has it fetch once more, and it writes over a Secret that was set right by hand.
func planSecretPause(pl *alterPlan, pause bool) error {
	target, has, err := unstructured.NestedMap(pl.o.Object, "spec", "target")
	if err != nil {
		return fmt.Errorf("%s: its spec.target: %w", pl.t, err)
	}
	policy, _ := target["creationPolicy"].(string)
	switch {
	case pause && policy == writesNone:
		pl.unmet("nothing: it is so already; find out who paused it, and since when, before you rely on it", "%s writes no Secret already.", pl.t)
		return nil
	case !pause:
		pl.unmet("put back the creationPolicy that it had, which the record of its pause has, with kube/patch", "%s does not say which creationPolicy it had before.", pl.t)
		return nil
	case has:
		pl.ops = []patch.Op{{Op: patch.Add, Path: "/spec/target/creationPolicy", Value: writesNone}}
	default:
		pl.ops = []patch.Op{{Op: patch.Add, Path: "/spec/target", Value: map[string]any{"creationPolicy": writesNone}}}
	}
	pl.p.Effect = fmt.Sprintf("let %s write its Secret no more. The Secret stays as it is, and can be set right by hand; its creationPolicy was %s.", pl.t, cmp.Or(policy, "not set (Owner)"))
	pl.pauseDebt(true)
	return nil
}
