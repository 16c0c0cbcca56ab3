package course

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

func facts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many objects are named"},
		{Name: "uids", Type: steps.Table, Doc: "those that are there, as resource/namespace/name or resource/name, each with its UID"},
		{Name: "absent", Type: steps.Strings, Doc: "those that are not there"},
		{Name: "cronjobs", Type: steps.Table, Doc: "the CronJobs among uids"},
		{Name: "admission", Type: steps.Table, Doc: "the webhook configurations, admission policies and their bindings among uids"},
		{Name: "others", Type: steps.Table, Doc: "the rest of uids"},
		{Name: "pausable", Type: steps.Table, Doc: "those among uids that kube/suspend-batch pauses: CronJobs, Jobs, Argo CD Applications, Flux objects, ExternalSecrets"},
		{Name: "active", Type: steps.Strings, Doc: "those of pausable that are not paused"},
		{Name: "running", Type: steps.Table, Doc: "the Deployments, StatefulSets and ReplicaSets among uids that have Pods"},
		{Name: "held", Type: steps.Table, Doc: "those that a finalizer would hold in deletion, each with its first one"},
		{Name: "held_uids", Type: steps.Table, Doc: "the same, each with its UID"},
		{Name: "schedules", Type: steps.Table, Doc: "CronJob to its schedule"},
		{Name: "longest", Type: steps.Duration, Doc: "longest time between two runs of any of the CronJobs, by their schedules; 0 without one"},
		{Name: "lacking", Type: steps.Strings, Doc: "objects of wants and of the list of changes that are not yet as those want them"},
	}
}

// Kinds returns the kind that reads what a person named.
func Kinds() []steps.Kind {
	return []steps.Kind{{
		Name: "kube/named", Class: steps.Probe, Facts: facts(),
		Doc: "Reads several objects by name, or those of a list of changes: what is there, its UIDs, what is paused or stopped, what a finalizer would hold, and how long its CronJobs may be silent.",
		Params: []steps.Field{
			{Name: "objects", Type: steps.String, Doc: "the objects, each as resource/namespace/name or resource/name, with spaces between them; at most 40"},
			{Name: "changes", Type: steps.Path, Doc: "file with a list of changes, whose objects are read too; see docs/writers.md"},
			{Name: "wants", Type: steps.Strings, Doc: "objects, each as RESOURCE/NAME and the patch whose outcome it must show, or the word gone; one without a name or a patch is passed over"},
			{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace of what names none"},
		},
		Touches: []string{"gets each object"},
		Reads:   func(e steps.Env) steps.Prober { return namedProbe{e} },
	}}
}

// gone stands in place of a patch for an object that is not to be there.
const gone = "gone"

type namedProbe struct{ env steps.Env }

// namedRun gathers what is told of the objects.
type namedRun struct {
	*cluster.Client
	out     steps.Sink
	obs     steps.Observation
	facts   steps.Facts
	tables  map[string]map[string]string
	lists   map[string][]string
	longest time.Duration
	said    []string // commands that a person could type
	blind   []string // CronJobs whose schedule cannot be read
}

// Probe implements steps.Prober.
func (p namedProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	wanted, err := wantedOf(p.env, in)
	if err != nil {
		return steps.Observation{}, err
	}
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if len(wanted) == 0 {
		out.Line("no object is named, so nothing is read")
	}
	r := &namedRun{Client: c, out: out, facts: steps.NewFacts(facts()),
		tables: map[string]map[string]string{"uids": {}, "cronjobs": {}, "admission": {}, "others": {}, "pausable": {}, "running": {}, "held": {}, "held_uids": {}, "schedules": {}}, lists: map[string][]string{"absent": {}, "active": {}, "lacking": {}}}
	for _, w := range wanted {
		if err := r.one(ctx, w, in.Text("namespace")); err != nil {
			return steps.Observation{}, err
		}
	}
	r.facts.Set("count", steps.IntOf(int64(len(wanted))))
	for name, t := range r.tables {
		r.facts.Set(name, steps.TableOf(t))
	}
	for name, l := range r.lists {
		r.facts.Set(name, steps.StringsOf(l))
	}
	if r.facts.Set("longest", steps.DurationOf(r.longest)); len(r.blind) > 0 {
		r.facts.Unknown("the schedule cannot be read: "+steps.Clip(strings.Join(r.blind, "; "), 300), "longest")
	}
	r.obs.Summary, r.obs.Command = r.summary(len(wanted)), cmp.Or(strings.Join(r.said, "; "), "handrail step show kube/named")
	r.obs.Findings = append(r.obs.Findings, c.Warnings()...)
	r.obs.Facts = r.facts.Rest("it was not read")
	return r.obs, nil
}

// wantedOf reads what a step is about; a change that only makes an object names it by its manifest.
func wantedOf(env steps.Env, in steps.Params) ([]Change, error) {
	names, err := Names(in.Text("objects"))
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, n := range names {
		out = append(out, Change{Name: n})
	}
	if file := in.Text("changes"); file != "" {
		list, err := Read(env, file)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	for _, text := range in["wants"].Strings() {
		what, ops, _ := strings.Cut(strings.TrimSpace(text), " ")
		if ops = strings.TrimSpace(ops); ops == "" || strings.HasSuffix(what, "/") {
			continue // it is none of this incident
		}
		n, err := ParseName(what)
		if err != nil {
			return nil, err
		}
		out = append(out, Change{Name: n, Patch: ops})
	}
	if len(out) > Most {
		return nil, fmt.Errorf("%d objects are named, more than %d", len(out), Most)
	}
	return out, nil
}

// at finds the object of a change.
func (r *namedRun) at(ctx context.Context, w Change, namespace string) (cluster.Target, error) {
	if w.Make == nil {
		return r.Target(ctx, w.Name.Params(namespace))
	}
	if err := r.Discover(ctx); err != nil {
		return cluster.Target{}, r.Explain("discovery of", fmt.Sprint(w.Make["kind"]), err)
	}
	version, _ := w.Make["apiVersion"].(string)
	kind, _ := w.Make["kind"].(string)
	res, err := r.KindOf(version, kind)
	if err != nil {
		return cluster.Target{}, err
	}
	meta, _ := w.Make["metadata"].(map[string]any)
	t := cluster.Target{Resource: res}
	t.Name, _ = meta["name"].(string)
	if res.Namespaced {
		if t.Namespace, _ = meta["namespace"].(string); t.Namespace == "" {
			if t.Namespace = namespace; namespace == "" {
				t.Namespace = r.Namespace
			}
		}
	}
	if !cluster.Matches(cluster.ObjectName, t.Name) {
		return t, fmt.Errorf("a manifest of kind %q has no name", steps.Clip(kind, 60))
	}
	return t, nil
}

// Key is how a table of objects names one.
func Key(t cluster.Target) string {
	if t.Namespace == "" {
		return t.Resource.String() + "/" + t.Name
	}
	return t.Resource.String() + "/" + t.Namespace + "/" + t.Name
}

func (r *namedRun) one(ctx context.Context, w Change, namespace string) error {
	t, err := r.at(ctx, w, namespace)
	if err != nil {
		return err
	}
	key := Key(t)
	r.said = append(r.said, r.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml"))
	o, err := r.Get(ctx, t.Resource, t.Namespace, t.Name)
	if errors.Is(err, cluster.ErrAbsent) {
		r.lists["absent"] = append(r.lists["absent"], key)
		if w.Make != nil || w.Patch != "" && w.Patch != gone {
			r.lists["lacking"] = append(r.lists["lacking"], key)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if gap := steps.Keep(r.out, "object", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(o.Raw); return err }); gap != "" {
		r.obs.Gaps = append(r.obs.Gaps, key+": "+gap)
	}
	r.tables["uids"][key] = string(o.GetUID())
	sort := "others"
	switch {
	case t.Group == "batch" && t.Kind == "CronJob":
		sort = "cronjobs"
		r.schedule(key, o)
	case t.Group == "admissionregistration.k8s.io":
		sort = "admission"
	}
	r.tables[sort][key] = string(o.GetUID())
	if can, active := pausable(t, o); can {
		r.tables["pausable"][key] = string(o.GetUID())
		if active {
			r.lists["active"] = append(r.lists["active"], key)
		}
	}
	if running(t, o) {
		r.tables["running"][key] = string(o.GetUID())
	}
	if held := o.GetFinalizers(); len(held) > 0 {
		r.tables["held"][key], r.tables["held_uids"][key] = steps.Clip(held[0], report.LongestValue), string(o.GetUID())
	}
	return r.lacks(key, w, o)
}

func (r *namedRun) lacks(key string, w Change, o cluster.Object) error {
	switch w.Patch {
	case "":
		return nil
	case gone:
		r.lists["lacking"] = append(r.lists["lacking"], key)
		return nil
	}
	ops, err := patch.Parse(w.Patch)
	if err != nil {
		return fmt.Errorf("%s: its patch: %w", key, err)
	}
	doc, err := patch.Decode(o.Raw)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if slices.ContainsFunc(ops, func(op patch.Op) bool { return !Shows(doc, op) }) {
		r.lists["lacking"] = append(r.lists["lacking"], key)
	}
	return nil
}

func (r *namedRun) schedule(key string, o cluster.Object) {
	text, _, _ := unstructured.NestedString(o.Object, "spec", "schedule")
	r.tables["schedules"][key] = steps.Clip(text, 100)
	d, err := Longest(text)
	if err != nil {
		r.blind = append(r.blind, key+": "+err.Error())
		return
	}
	r.longest = max(r.longest, d)
}

func (r *namedRun) summary(count int) string {
	if count == 0 {
		return "No object is named."
	}
	s := fmt.Sprintf("%d of the %d objects are there.", len(r.tables["uids"]), count)
	if held := slices.Sorted(maps.Keys(r.tables["held"])); len(held) > 0 {
		s += fmt.Sprintf(" A finalizer would hold %s in deletion.", steps.Clip(strings.Join(held, ", "), 300))
	}
	if len(r.tables["cronjobs"]) > 0 && len(r.blind) == 0 {
		s += fmt.Sprintf(" The CronJobs run at least every %s.", r.longest)
	}
	return s
}
