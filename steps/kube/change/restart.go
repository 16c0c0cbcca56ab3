package change

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

const (
	restartedAt = "kubectl.kubernetes.io/restartedAt"
	// keyRestarted is when it was last restarted so, before the act.
	keyRestarted = "restarted before"
)

// newRestartGate makes the gate that lets a workload replace its Pods, as kubectl
// rollout restart does.
func newRestartGate(env steps.Env) steps.Gater {
	return alterGate{env: env, verb: "restart", plan: planRestart, find: judgeRestart}
}

func planRestart(_ context.Context, pl *alterPlan) error {
	if pl.t.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, pl.t.Kind) {
		pl.unmet("restart the workload that makes it", "%s has no Pods that it could replace.", pl.t)
		return nil
	}
	if stopped, _, _ := unstructured.NestedBool(pl.o.Object, "spec", "paused"); stopped {
		pl.unmet("let its rollouts go on first, with kube/patch on /spec/paused", "The rollouts of %s are paused: nothing would restart.", pl.t)
	}
	kind, _, _ := unstructured.NestedString(pl.o.Object, "spec", "updateStrategy", "type")
	if kind == "OnDelete" {
		pl.unmet("delete its Pods one by one, with kube/delete", "%s replaces a Pod only when that is deleted (strategy OnDelete): nothing would restart.", pl.t)
	}
	notes, _, err := unstructured.NestedStringMap(pl.o.Object, "spec", "template", "metadata", "annotations")
	if err != nil {
		return fmt.Errorf("%s: annotations of its template: %w", pl.t, err)
	}
	pl.p.Target = append(pl.p.Target, steps.KV{Key: keyRestarted, Value: report.OrNothing(notes[restartedAt])})
	path := []string{"spec", "template", "metadata", "annotations"}
	if notes == nil {
		pl.ops = []patch.Op{{Op: patch.Add, Path: patch.Join(path), Value: map[string]any{restartedAt: act.AtAct}}}
	} else {
		pl.ops = []patch.Op{{Op: patch.Add, Path: patch.Join(append(path, restartedAt)), Value: act.AtAct}}
	}
	pl.oneWay = true
	pl.p.Effect = fmt.Sprintf("replace all Pods of %s by new ones of the same template.%s", pl.t, pl.gap())
	pl.p.Undo = "Cannot be undone: the old Pods are gone, with what they held in memory."
	return nil
}

// gap says when nothing serves meanwhile.
func (pl *alterPlan) gap() string {
	strategy, _, _ := unstructured.NestedString(pl.o.Object, "spec", "strategy", "type")
	n, set, _ := unstructured.NestedInt64(pl.o.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(pl.o.Object, "status", "readyReplicas")
	switch {
	case strategy == "Recreate":
		return " All go before the first new one comes (strategy Recreate): nothing serves meanwhile."
	case pl.t.Kind == "StatefulSet" && set && n == 1:
		return " It has one Pod, which goes before the new one comes: nothing serves meanwhile."
	case pl.t.Kind != "DaemonSet" && ready < n:
		return fmt.Sprintf(" %d of its %d Pods are ready now: a rollout that cannot get new ones ready stops half-way.", ready, n)
	}
	return ""
}

// judgeRestart says what a restart came to: the mark that it leaves in the
// template is another one than before.
func judgeRestart(o act.Order, now act.Sighting) (result, words string) {
	if result, words = act.JudgeAlter(o, now); result != steps.Done {
		return result, words
	}
	doc, err := patch.Decode(now.Raw)
	if err != nil {
		return steps.Failed, err.Error()
	}
	at, _ := patch.Get(doc, patch.Join([]string{"spec", "template", "metadata", "annotations", restartedAt}))
	if at == steps.Find(o.KVs, keyRestarted) {
		return steps.Failed, fmt.Sprintf("%s was not restarted. %s", o.Object, o.Moved(now))
	}
	return steps.Done, fmt.Sprintf("%s replaces its Pods, as of %v.", o.Object, at)
}
