package object

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

const (
	// longDeletion is when a deletion is no longer on its way but stuck.
	longDeletion = 5 * time.Minute
	// largeObject is near what etcd takes at most.
	largeObject = 1 << 20
)

// describeRun fills in the facts about one object.
type describeRun struct {
	cluster.Object
	facts     steps.Facts
	now       time.Time // the server's clock
	clockless string    // why there is none
	findings  []steps.Finding
}

func (d *describeRun) say(level steps.Level, format string, args ...any) {
	d.findings = append(d.findings, steps.Findingf(level, format, args...))
}

func (d *describeRun) all(r cluster.Resource) {
	f := d.facts
	f.Set("exists", steps.BoolOf(true))
	f.Set("uid", steps.IdentOf(string(d.GetUID())))
	f.Set("resource", steps.StringOf(r.String()))
	f.Set("kind", steps.StringOf(r.Kind))
	f.Set("namespace", steps.StringOf(d.GetNamespace()))
	f.Set("rv", steps.IdentOf(d.GetResourceVersion()))
	f.Set("generation", steps.IntOf(d.GetGeneration()))
	f.Set("finalizers", steps.StringsOf(d.GetFinalizers()))
	f.Set("owners", steps.StringsOf(ownerNames(d.GetOwnerReferences())))
	f.Set("labels", steps.TableOf(shortened(d.GetLabels())))
	f.Set("annotations", steps.TableOf(shortened(d.GetAnnotations())))
	d.times()
	d.spec()
	d.writer()
	if sum, err := ContentSum(d.Object, r); err != nil {
		f.Unknown(err.Error(), "content")
	} else {
		f.Set("content", steps.IdentOf(sum))
	}
	if len(d.Raw) > largeObject {
		d.say(steps.Info, "The object is %.1f MB large, near what the server can store.", float64(len(d.Raw))/(1<<20))
	}
}

// times are counted by the server's clock alone.
func (d *describeRun) times() {
	f := d.facts
	if d.clockless != "" {
		f.Unknown(d.clockless, "age")
		d.say(steps.Warning, "Ages are not known: %s.", d.clockless)
	}
	if created := d.GetCreationTimestamp(); created.IsZero() {
		f.Unknown("the object does not say when it was created", "created", "age")
	} else {
		f.Set("created", steps.TimeOf(created.Time))
		switch age := d.now.Sub(created.Time); {
		case d.clockless != "":
		case age < -cluster.SkewTolerance:
			f.Unknown("it was created in the future of the server's clock", "age")
		default:
			f.Set("age", steps.DurationOf(max(0, age)))
		}
	}
	gone := d.GetDeletionTimestamp()
	f.Set("terminating", steps.BoolOf(gone != nil))
	if gone == nil {
		f.Set("terminating_for", steps.DurationOf(0))
		return
	}
	if d.clockless != "" {
		f.Unknown(d.clockless, "terminating_for")
		return
	}
	// deletionTimestamp is when it is to be gone, its grace period included.
	since := max(0, d.now.Sub(gone.Time))
	f.Set("terminating_for", steps.DurationOf(since))
	if held := d.GetFinalizers(); len(held) > 0 && since >= longDeletion {
		d.say(steps.Warning, "It should have been gone for %s. Held by: %s.", since.Round(time.Second), steps.Clip(strings.Join(held, ", "), 300))
	}
}

// spec reads what many kinds have in common.
func (d *describeRun) spec() {
	suspended, found, err := unstructured.NestedFieldNoCopy(d.Object.Object, "spec", "suspend")
	switch on, isBool := suspended.(bool); {
	case err != nil || !found || suspended == nil:
		d.facts.Set("suspended", steps.BoolOf(false)) // no spec, or one without it
	case isBool:
		d.facts.Set("suspended", steps.BoolOf(on))
	default:
		d.facts.Unknown("spec.suspend is neither true nor false", "suspended")
	}
	conditions := map[string]string{}
	list, _, _ := unstructured.NestedFieldNoCopy(d.Object.Object, "status", "conditions")
	items, _ := list.([]any)
	for _, item := range items {
		c, _ := item.(map[string]any)
		name, _ := c["type"].(string)
		status, _ := c["status"].(string)
		if name != "" {
			conditions[steps.Clip(name, report.LongestValue)] = steps.Clip(status, report.LongestValue)
		}
	}
	d.facts.Set("conditions", steps.TableOf(conditions))
	said := report.Troubles(list, d.GetDeletionTimestamp() != nil)
	for i, say := range said {
		if i == mostConditions {
			d.say(steps.Warning, "%d more of its conditions say what is wrong; see the manifest.", len(said)-i)
			break
		}
		d.say(steps.Warning, "Its condition %s.", strings.TrimSuffix(say, "."))
	}
}

// mostConditions bounds the conditions that are said one by one.
const mostConditions = 5

// writer names who wrote the object last. Entries of the status are left aside
// where there are others: a controller that beats writes them all the time.
func (d *describeRun) writer() {
	last, ok := lastEntry(d.GetManagedFields())
	if !ok {
		d.facts.Unknown("the server keeps no managedFields of it", "last_writer", "last_written")
		return
	}
	d.facts.Set("last_writer", steps.StringOf(steps.Clip(last.Manager, report.LongestValue)))
	if last.Time == nil || last.Time.IsZero() {
		d.facts.Unknown("the time of the last write was not recorded", "last_written")
		return
	}
	d.facts.Set("last_written", steps.TimeOf(last.Time.Time))
}

func lastEntry(entries []metav1.ManagedFieldsEntry) (last metav1.ManagedFieldsEntry, ok bool) {
	rank := func(e metav1.ManagedFieldsEntry) int {
		switch {
		case e.Subresource == "status":
			return 0
		case e.Time == nil:
			return 1
		}
		return 2
	}
	for _, e := range entries {
		if !ok || rank(e) > rank(last) || rank(e) == rank(last) && !before(e.Time, last.Time) {
			last, ok = e, true
		}
	}
	return last, ok
}

func before(a, b *metav1.Time) bool { return b != nil && (a == nil || a.Time.Before(b.Time)) }

func ownerNames(refs []metav1.OwnerReference) []string {
	var out []string
	for _, r := range refs {
		out = append(out, steps.Clip(strings.ToLower(r.Kind)+"/"+r.Name+" "+string(r.UID), report.LongestValue))
	}
	return out
}

// shortened is a table without the copies that kubectl keeps and hashes of values, its values clipped.
func shortened(in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for k, v := range in {
		if k != LastApplied && k != DataHash {
			out[k] = steps.Clip(v, report.LongestValue)
		}
	}
	return out
}
