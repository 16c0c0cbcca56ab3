package workload

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/kube/podstate"
)

// secretUses are the ways in which a Pod takes one Secret, and whether it pulls images with it.
func secretUses(p podstate.Pod, name string) (uses []secretUse, pulls bool) {
	for _, ref := range p.Spec.ImagePullSecrets {
		pulls = pulls || ref.Name == name
	}
	frozen, _ := rotationUses(p)
	for _, u := range frozen {
		if u.secret && u.name == name {
			uses = append(uses, secretUse{pod: p.Metadata.Name, container: u.container, how: u.how, key: u.key, optional: u.optional, kept: true, started: u.started})
		}
	}
	items, optional, mounted := map[string][]podstate.Item{}, map[string]bool{}, map[string]bool{}
	for _, v := range p.Spec.Volumes {
		if v.Secret.SecretName == name {
			mounted[v.Name], items[v.Name], optional[v.Name] = true, v.Secret.Items, v.Secret.Optional
		}
		for _, s := range v.Projected.Sources {
			if s.Secret.Name == name {
				mounted[v.Name], items[v.Name], optional[v.Name] = true, append(items[v.Name], s.Secret.Items...), s.Secret.Optional
			}
		}
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, m := range c.VolumeMounts {
			if !mounted[m.Name] {
				continue
			}
			use := secretUse{pod: p.Metadata.Name, container: c.Name, how: "as files", optional: optional[m.Name], kept: m.SubPath != "" || m.SubPathExpr != "", started: rotationStart(p, c.Name)}
			if use.kept {
				use.how = "as a file by subPath, which is never refreshed"
			}
			uses = append(uses, use)
			for _, item := range items[m.Name] {
				use.key = item.Key
				uses = append(uses, use)
			}
		}
	}
	return uses, pulls
}

// topOf is what a person restarts to replace a Pod: a ReplicaSet belongs to the Deployment whose
// name it has, but for its hash.
func topOf(p podstate.Pod) string {
	for _, o := range p.Metadata.OwnerReferences {
		if !o.Controller {
			continue
		}
		name := o.Name
		if hash := p.Metadata.Labels["pod-template-hash"]; o.Kind == "ReplicaSet" && hash != "" && strings.HasSuffix(name, "-"+hash) {
			return "deployment/" + steps.Clip(strings.TrimSuffix(name, "-"+hash), 253)
		}
		return strings.ToLower(steps.Clip(o.Kind, 100)) + "/" + steps.Clip(name, 253)
	}
	return "pod/" + p.Metadata.Name
}

// troubled are the containers that take the Secret and do not run, by the word of their kubelet.
func troubled(p podstate.Pod, uses []secretUse, pull bool) (out []string) {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		takes := slices.ContainsFunc(uses, func(u secretUse) bool { return u.container == s.Name })
		w := s.State.Waiting
		if w == nil || w.Reason == "ContainerCreating" || w.Reason == "PodInitializing" {
			continue
		}
		if imagePull := strings.Contains(w.Reason, "Image"); takes && !imagePull || pull && imagePull {
			out = append(out, fmt.Sprintf("container %s of pod %s: %s, %d restarts", s.Name, p.Metadata.Name, steps.Clip(w.Reason, 100), s.RestartCount))
		}
	}
	return out
}

// keys are the keys that the books name; why says that they cannot be told.
func (b rotationBooks) keys() (keys []string, why string) {
	for _, e := range b.GetManagedFields() {
		var set fieldpath.Set
		if e.FieldsV1 == nil || set.FromJSON(e.FieldsV1.GetRawReader()) != nil {
			return nil, "its managedFields cannot be read"
		}
		set.Iterate(func(p fieldpath.Path) {
			if len(p) != 2 || p[0].FieldName == nil || *p[0].FieldName != "data" || p[1].FieldName == nil {
				return
			}
			if key := *p[1].FieldName; !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		})
	}
	if len(b.GetManagedFields()) == 0 {
		return nil, "managedFields name no writer: it was put there by admission, or its writer was forgotten"
	}
	slices.Sort(keys)
	return keys, ""
}
