package stuck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// What kube-controller-manager waits for before it takes its finalizers from storage. The rules are those of its
// pvc-protection and pv-protection controllers: a claim is in use while a scheduled Pod names it, also one that has
// ended, and a volume while a claim is bound to it.

const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"

	mostWaitedFor = 40 // objects, beyond which they are counted
)

// waits tells what the finalizers of storage wait for, and what becomes of the data.
func (h *finalizersRun) waits(ctx context.Context) error {
	switch {
	case h.Target.Group == "" && h.Target.Kind == "PersistentVolumeClaim":
		if err := h.volume(ctx); err != nil {
			return err
		}
		if slices.Contains(h.GetFinalizers(), claimProtection) {
			return h.users(ctx)
		}
	case h.Target.Group == "" && h.Target.Kind == "PersistentVolume":
		policy, _, _ := unstructured.NestedString(h.Object.Object, "spec", "persistentVolumeReclaimPolicy")
		h.facts.Set("reclaim_policy", steps.StringOf(steps.Clip(policy, 40)))
		phase, _, _ := unstructured.NestedString(h.Object.Object, "status", "phase")
		if slices.Contains(h.GetFinalizers(), volumeProtection) && phase == "Bound" {
			ns, _, _ := unstructured.NestedString(h.Object.Object, "spec", "claimRef", "namespace")
			name, _, _ := unstructured.NestedString(h.Object.Object, "spec", "claimRef", "name")
			h.waitsFor(map[string]string{"persistentvolumeclaim/" + steps.Clip(ns, 63) + "/" + steps.Clip(name, 253): "bound to it"})
			return nil
		}
	default:
		h.facts.Unknown("it is no storage", "reclaim_policy")
	}
	h.waitsFor(nil)
	return nil
}

// volume tells what becomes of the volume of a claim when the claim is gone.
func (h *finalizersRun) volume(ctx context.Context) error {
	name, _, _ := unstructured.NestedString(h.Object.Object, "spec", "volumeName")
	if name == "" {
		h.facts.Set("reclaim_policy", steps.StringOf(""))
		return nil
	}
	pv, err := h.Get(ctx, cluster.Resource{Version: "v1", Plural: "persistentvolumes", Kind: "PersistentVolume"}, "", name)
	if err != nil {
		h.facts.Unknown(err.Error(), "reclaim_policy")
		h.obs.Gaps = append(h.obs.Gaps, "volume of the claim: "+err.Error())
		return ctx.Err()
	}
	policy, _, _ := unstructured.NestedString(pv.Object, "spec", "persistentVolumeReclaimPolicy")
	h.facts.Set("reclaim_policy", steps.StringOf(steps.Clip(policy, 40)))
	if policy == "Delete" {
		h.obs.Say(steps.Warning, "Its volume %s has the reclaim policy Delete: once the claim is gone, its data is deleted. To keep the data, set the policy of the volume to Retain before anything else.", steps.Clip(name, 253))
	}
	return nil
}

// users finds the Pods that use the claim.
func (h *finalizersRun) users(ctx context.Context) error {
	found, n := map[string]string{}, 0
	err := h.List(ctx, cluster.Pods().Path(h.Target.Namespace, ""), cluster.AsJSON, nil, func(pod cluster.Object) {
		node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		if node == "" || !uses(pod, h.Target.Name) {
			return
		}
		if n++; n <= mostWaitedFor {
			found["pod/"+steps.Clip(pod.GetName(), 253)] = podSays(pod, node)
		}
	})
	if err != nil {
		h.facts.Unknown(err.Error(), "waits_for")
		h.obs.Gaps = append(h.obs.Gaps, "Pods that use the claim: "+err.Error())
		return ctx.Err()
	}
	if n > len(found) {
		found[fmt.Sprintf("%d more Pods", n-len(found))] = "not listed"
	}
	h.waitsFor(found)
	return nil
}

// uses reports whether a Pod names a claim, or has it made for one of its ephemeral volumes.
func uses(pod cluster.Object, claim string) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	ended := phase == "Succeeded" || phase == "Failed"
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	return slices.ContainsFunc(volumes, func(v any) bool {
		volume, _ := v.(map[string]any)
		name, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName")
		_, ephemeral := volume["ephemeral"]
		own, _ := volume["name"].(string)
		return name == claim || ephemeral && !ended && pod.GetName()+"-"+own == claim
	})
}

// podSays is where a Pod is, and who would make it again.
func podSays(pod cluster.Object, node string) string {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	out := steps.Clip(phase, 40) + " on node " + steps.Clip(node, 253)
	if at := pod.GetDeletionTimestamp(); at != nil {
		out += ", to be gone since " + at.UTC().Format(time.RFC3339)
	}
	for _, ref := range pod.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			out += ", made by " + steps.Clip(strings.ToLower(ref.Kind)+"/"+ref.Name, 300)
		}
	}
	return out
}

// waitsFor tells it as a finding only of what is being deleted: what is in use and not to go is as it should be.
func (h *finalizersRun) waitsFor(found map[string]string) {
	if found == nil {
		found = map[string]string{}
	}
	h.facts.Set("waits_for", steps.TableOf(found))
	if len(found) > 0 && h.GetDeletionTimestamp() != nil {
		h.waited = slices.Sorted(maps.Keys(found))
		var each []string
		for _, name := range h.waited {
			each = append(each, name+" ("+found[name]+")")
		}
		h.obs.Say(steps.Warning, "It is still in use: %s. End that at the owner, and the controller removes its finalizer by itself.", steps.Clip(strings.Join(each, ", "), 600))
	}
}
