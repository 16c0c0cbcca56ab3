package timeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps/cluster"
)

// item is what is read of an object: its metadata.
type item struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

// byTheServer is whose writes follow from others: rollouts, tokens, bundles of certificates.
const byTheServer = "kube-controller-manager"

// objects reads who made, changed and deletes the objects of one kind.
func (r *run) objects(ctx context.Context, of cluster.Resource, namespace string) error {
	return cluster.EachAs(ctx, r.c, of.Path(namespace, ""), cluster.AsMetaList, nil, func(i item) {
		if r.ns == "" || of.Plural != "namespaces" || i.Metadata.Name == r.ns {
			r.object(of, i.Metadata)
		}
	})
}

func (r *run) object(of cluster.Resource, m metav1.ObjectMeta) {
	name := of.Label(m.Namespace, m.Name)
	if m.DeletionTimestamp != nil {
		what := "is deleted, and still there"
		if len(m.Finalizers) > 0 {
			what += ": finalizers " + strings.Join(m.Finalizers, ", ")
		}
		r.l.add(m.DeletionTimestamp.Time, 1, ofObject, name, "", what)
	}
	if of.Plural == "secrets" && m.Labels["owner"] == "helm" {
		r.l.add(m.CreationTimestamp.Time, 1, ofHelm, "release "+m.Namespace+"/"+m.Labels["name"], "", "revision "+m.Labels["version"]+" was begun, and is "+m.Labels["status"])
		return
	}
	switch of.Plural {
	case "replicasets", "controllerrevisions":
		r.rollout(name, m)
		return
	}
	// Who wrote it in the second in which it was made; of several, the others changed it.
	first := slices.IndexFunc(m.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Time != nil && e.Time.Time.Equal(m.CreationTimestamp.Time) && e.Subresource == ""
	})
	maker := ""
	if first >= 0 {
		maker = m.ManagedFields[first].Manager
	}
	r.l.add(m.CreationTimestamp.Time, 1, ofObject, name, maker, "was made")
	for i, e := range m.ManagedFields {
		if e.Time == nil || e.Subresource == "status" || e.Manager == byTheServer && e.Subresource == "" || !r.l.holds(e.Time.Time) {
			continue // what is outside of the window needs no reading of its fields
		}
		r.hand(e.Manager, e.Time.Time, name)
		if i != first {
			r.l.add(e.Time.Time, 1, ofObject, name, e.Manager, wrote(e))
		}
	}
}

// hand notes a write of a person's own. A client may call itself as it likes, so that this is a lead.
func (r *run) hand(manager string, at time.Time, object string) {
	if manager != "kubectl" && !strings.HasPrefix(manager, "kubectl-") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byHand = append(r.byHand, fmt.Sprintf("%s  %s  by %s", at.UTC().Format(time.RFC3339), object, manager))
	if len(r.byHand) > 50*mostTold { // the newest are told
		slices.Sort(r.byHand)
		r.byHand = slices.Delete(r.byHand, 0, len(r.byHand)-mostTold)
	}
}

// wrote names some of the fields of an entry.
func wrote(e metav1.ManagedFieldsEntry) string {
	const most = 3
	set := fieldpath.NewSet()
	if e.FieldsV1 == nil || set.FromJSON(e.FieldsV1.GetRawReader()) != nil {
		return "was written"
	}
	var fields []string
	n := 0
	set.Leaves().Iterate(func(p fieldpath.Path) {
		if n++; n <= most {
			fields = append(fields, strings.TrimPrefix(p.String(), "."))
		}
	})
	out := "was written: " + strings.Join(fields, ", ")
	if n > most {
		out += fmt.Sprintf(" and %d more", n-most)
	}
	if e.Subresource != "" {
		out += " (" + e.Subresource + ")"
	}
	return out
}

// rollout is a revision of a workload.
func (r *run) rollout(name string, m metav1.ObjectMeta) {
	i := slices.IndexFunc(m.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Controller != nil && *o.Controller })
	if i < 0 {
		return
	}
	owner := m.OwnerReferences[i]
	what := "a new revision of its Pods, " + m.Name
	if cause := m.Annotations["kubernetes.io/change-cause"]; cause != "" {
		what += ": " + cause
	}
	r.l.add(m.CreationTimestamp.Time, 1, ofRollout, strings.ToLower(owner.Kind)+"/"+m.Namespace+"/"+owner.Name, "", what)
}
