package keycloak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/cluster"
)

// What an import does with a realm that is there, as charts and Keycloak itself name it.
const (
	overwrites  = "overwrite"
	ignores     = "ignore_existing"
	strategyNot = "unset" // most charts overwrite then
)

// strategyNames are the variables of a workload that say so.
var strategyNames = []string{"KEYCLOAK_IMPORT_STRATEGY", "KC_SPI_IMPORT_SINGLE_FILE_STRATEGY", "KC_SPI_IMPORT__SINGLE_FILE__STRATEGY"}

// workload is what runs Keycloak, as a cluster has it.
type workload struct {
	name       string
	strategy   string   // "" where it is not known
	unknown    string   // why not
	said       []string // where it stands
	restarting string   // why it is not at rest, "" where it is
	started    time.Time
	pods       int
}

// container is what is read of one.
type container struct {
	Name string
	Args []string
	Env  []variable
}

// variable is one of a container.
type variable struct {
	Name, Value string
	ValueFrom   *struct {
		ConfigMapKeyRef *struct{ Name, Key string }
	}
}

type deployed struct {
	Metadata struct{ Generation int64 }
	Spec     struct {
		Replicas    *int64
		Update      struct{ Type string } `json:"updateStrategy"`
		Selector    *metav1.LabelSelector
		RealmImport struct{ Strategy string }
		Template    struct {
			Spec struct{ Containers, InitContainers []container }
		}
	}
	Status struct {
		ObservedGeneration                                          int64
		Replicas, ReadyReplicas, UpdatedReplicas, AvailableReplicas int64
		CurrentRevision, UpdateRevision                             string
	}
}

// readWorkload reads the Deployment or StatefulSet that runs Keycloak, and its Pods.
func readWorkload(ctx context.Context, c *cluster.Client, namespace, ref string) (w workload, err error) {
	kind, name, _ := strings.Cut(ref, "/")
	r, err := c.Find(ctx, kind)
	if err != nil {
		return w, err
	}
	o, err := c.Get(ctx, r, namespace, name)
	if err != nil {
		return w, err
	}
	var d deployed
	if err := json.Unmarshal(o.Raw, &d); err != nil {
		return w, fmt.Errorf("%s: %w", r.Label(namespace, name), errForm(err))
	}
	w.name = r.Label(namespace, name)
	w.strategies(d, func(v variable) (string, error) {
		ref := v.ValueFrom.ConfigMapKeyRef
		if ref == nil {
			return "", errors.New("it comes from elsewhere: read it there")
		}
		o, err := c.Get(ctx, configMaps(), namespace, ref.Name)
		if err != nil {
			return "", err
		}
		data, _ := o.Object["data"].(map[string]any)
		text, _ := data[ref.Key].(string)
		return text, nil
	})
	w.rest(d)
	if d.Spec.Selector == nil {
		return w, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return w, err
	}
	type pod struct {
		Metadata struct{ DeletionTimestamp *metav1.Time }
		Status   struct {
			Phase             string
			StartTime         *metav1.Time
			ContainerStatuses []struct {
				State struct {
					Running *struct{ StartedAt metav1.Time }
				}
			}
		}
	}
	err = cluster.Each(ctx, c, cluster.Pods().Path(namespace, ""), url.Values{"labelSelector": {selector.String()}}, func(p pod) {
		w.pods++
		if p.Metadata.DeletionTimestamp != nil {
			w.restarting = "a Pod of it is being deleted"
		}
		if t := p.Status.StartTime; t != nil && t.After(w.started) {
			w.started = t.Time
		}
		for _, s := range p.Status.ContainerStatuses {
			if s.State.Running != nil && s.State.Running.StartedAt.After(w.started) {
				w.started = s.State.Running.StartedAt.Time
			}
		}
	})
	return w, err
}

// rest says whether what runs is what was asked for.
func (w *workload) rest(d deployed) {
	want := int64(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	s := d.Status
	switch {
	case s.ObservedGeneration < d.Metadata.Generation:
		w.restarting = "its newest change has not been rolled out"
	case d.Spec.Update.Type != "OnDelete" && s.UpdatedReplicas < want && (s.UpdateRevision == "" || s.UpdateRevision != s.CurrentRevision):
		w.restarting = fmt.Sprintf("%d of %d Pods have its newest change", s.UpdatedReplicas, want)
	case s.ReadyReplicas < want || s.Replicas != want:
		w.restarting = fmt.Sprintf("%d of %d Pods are ready, and %d are there", s.ReadyReplicas, want, s.Replicas)
	}
}

// strategies finds every place that says what an import does. Several that differ are unknown: which
// of them holds depends on the image.
func (w *workload) strategies(d deployed, given func(variable) (string, error)) {
	values := map[string]bool{}
	see := func(where, text string) {
		w.said = append(w.said, where+"="+steps.Clip(text, 60))
		values[strategyOf(text)] = true
	}
	if s := d.Spec.RealmImport.Strategy; s != "" {
		see("spec.realmImport.strategy", s)
	}
	for _, c := range slices.Concat(d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers) {
		for _, e := range c.Env {
			if !slices.Contains(strategyNames, e.Name) {
				continue
			}
			if e.ValueFrom != nil {
				text, err := given(e)
				if err != nil {
					w.unknown = fmt.Sprintf("%s of the container %s: %s", e.Name, c.Name, err)
					continue
				}
				e.Value = text
			}
			see(e.Name, e.Value)
		}
		for i, a := range c.Args {
			if name, text, ok := strings.Cut(a, "="); ok && strings.HasSuffix(name, "import-single-file-strategy") {
				see(name, text)
			} else if a == "--override" && i+1 < len(c.Args) { // kc.sh import
				see(a, map[string]string{"true": "OVERWRITE_EXISTING", "false": "IGNORE_EXISTING"}[c.Args[i+1]])
			}
		}
	}
	switch {
	case w.unknown != "":
	case len(values) == 0:
		w.strategy = strategyNot
	case len(values) > 1:
		w.unknown = "several places say different things: " + strings.Join(w.said, ", ")
	case values[overwrites]:
		w.strategy = overwrites
	case values[ignores]:
		w.strategy = ignores
	default:
		w.unknown = "it is of a form that is not known: " + strings.Join(w.said, ", ")
	}
}

func strategyOf(text string) string {
	switch strings.ToUpper(strings.TrimSpace(text)) {
	case "OVERWRITE", "OVERWRITE_EXISTING":
		return overwrites
	case "IGNORE_EXISTING":
		return ignores
	}
	return text
}

func configMaps() cluster.Resource {
	return cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
}

// written is what is known of the import of a realm in a cluster.
type written struct {
	at time.Time // of the newest write of its data, zero where that is not recorded
	by string
}

// ownsData reports whether the books of a writer hold something of the data.
func ownsData(f *metav1.FieldsV1) bool {
	var set fieldpath.Set
	if set.FromJSON(f.GetRawReader()) != nil {
		return false
	}
	_, ok := set.Children.Get(fieldpath.PathElement{FieldName: new("data")})
	return ok || set.Has(fieldpath.MakePathOrDie("data"))
}

// readImport reads the realm that the next import brings, from its ConfigMap.
func readImport(ctx context.Context, c *cluster.Client, namespace, name, key string, secret func(string)) (*document, written, error) {
	r := configMaps()
	o, err := c.Get(ctx, r, namespace, name)
	if errors.Is(err, cluster.ErrAbsent) {
		return nil, written{}, fmt.Errorf("%s is not there", r.Label(namespace, name))
	}
	if err != nil {
		return nil, written{}, fmt.Errorf("%s: %w", r.Label(namespace, name), err)
	}
	data, _ := o.Object["data"].(map[string]any)
	text, ok := data[key].(string)
	if !ok {
		return nil, written{}, fmt.Errorf("%s has no %s in its data", r.Label(namespace, name), key)
	}
	var w written
	for _, e := range o.GetManagedFields() {
		if e.Time != nil && e.FieldsV1 != nil && ownsData(e.FieldsV1) && e.Time.After(w.at) {
			w = written{at: e.Time.Time, by: steps.Clip(e.Manager, 128)}
		}
	}
	d, err := parse([]byte(text))
	if err != nil {
		return nil, w, fmt.Errorf("%s of %s: %w", key, r.Label(namespace, name), err)
	}
	for _, s := range d.secrets() {
		secret(s)
	}
	return &d, w, nil
}

// readExport reads what was exported before, from a file of the operator.
func readExport(env steps.Env, name string, secret func(string)) (*document, error) {
	raw, err := steps.ReadFile(steps.Below(env.Dir, name), mostAnswer)
	if err != nil {
		return nil, err
	}
	d, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range d.secrets() {
		secret(s)
	}
	return &d, nil
}
