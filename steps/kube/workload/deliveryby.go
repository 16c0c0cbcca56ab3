package workload

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// Who delivers a Secret.
const (
	byExternal = "external-secrets"
	bySealed   = "sealed-secrets"
	byFlux     = "flux"
	byArgo     = "argocd"
	byOther    = "other"
	byHand     = "hand"
)

func deliverers() []string { return []string{byExternal, bySealed, byFlux, byArgo, byOther, byHand} }

const (
	externalGroup = "external-secrets.io"
	fluxLabel     = "kustomize.toolkit.fluxcd.io/"
	argoTracking  = "argocd.argoproj.io/tracking-id"
)

// externalSecret is what is read of an ExternalSecret; its template, which may hold values, is
// not (external-secrets.io/v1, and v1beta1, which has the same fields).
type externalSecret struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		RefreshInterval string   `json:"refreshInterval"`
		RefreshPolicy   string   `json:"refreshPolicy"`
		Store           storeRef `json:"secretStoreRef"`
		Target          struct {
			Name           string `json:"name"`
			CreationPolicy string `json:"creationPolicy"`
		} `json:"target"`
		Data []struct {
			SecretKey string `json:"secretKey"`
			Source    struct {
				Store storeRef `json:"storeRef"`
			} `json:"sourceRef"`
		} `json:"data"`
	} `json:"spec"`
	Status struct {
		RefreshTime time.Time             `json:"refreshTime"`
		Synced      string                `json:"syncedResourceVersion"`
		Conditions  []deliveryCondition   `json:"conditions"`
		Binding     struct{ Name string } `json:"binding"`
	} `json:"status"`
}

type storeRef struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type deliveryCondition struct {
	Type, Status, Reason, Message string
}

// target is the name of the Secret that it writes, that of itself where it names none.
func (e externalSecret) target() string {
	if e.Spec.Target.Name != "" {
		return e.Spec.Target.Name
	}
	return e.Metadata.Name
}

// writes says whether it writes a Secret at all: None is how it is paused.
func (e externalSecret) writes() bool { return e.Spec.Target.CreationPolicy != "None" }

// stores are those that it asks, each once.
func (e externalSecret) stores() (out []storeRef) {
	all := []storeRef{e.Spec.Store}
	for _, d := range e.Spec.Data {
		all = append(all, d.Source.Store)
	}
	for _, s := range all {
		if s.Kind == "" {
			s.Kind = "SecretStore"
		}
		if s.Name != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// interval is how often it asks, and why it does not by itself.
func (e externalSecret) interval() (every time.Duration, held string) {
	every = time.Hour // the default of its definition
	if e.Spec.RefreshInterval != "" {
		d, err := time.ParseDuration(e.Spec.RefreshInterval)
		if err != nil {
			return 0, "its refreshInterval cannot be read"
		}
		every = d
	}
	switch {
	case !e.writes():
		return every, "it writes nothing now (creationPolicy None)"
	case slices.Contains([]string{"CreatedOnce", "OnChange"}, e.Spec.RefreshPolicy):
		return every, "it asks no more by itself (refreshPolicy " + e.Spec.RefreshPolicy + ")"
	case every <= 0:
		return 0, "it asks no more by itself (refreshInterval 0)"
	}
	return every, ""
}

// behind says that the newest spec was not delivered yet: the version that it keeps begins with
// the generation (external-secrets, util.GetResourceVersion).
func (e externalSecret) behind() bool {
	n, _, ok := strings.Cut(e.Status.Synced, "-")
	return ok && e.Metadata.Generation > 0 && n != jsonInt(e.Metadata.Generation)
}

func jsonInt(n int64) string { b, _ := json.Marshal(n); return string(b) }

// readyOf is the condition that says how it stands.
func readyOf(list []deliveryCondition, kinds ...string) (status, says string) {
	for _, c := range list {
		if slices.Contains(kinds, c.Type) {
			return c.Status, steps.OneLine(strings.Trim(c.Reason+": "+c.Message, ": "), 400)
		}
	}
	return "", ""
}

// asksAgain is the annotation by which a controller is made to look at once. External Secrets looks
// when any changes, and this is the name that its documents use.
var asksAgain = map[string]string{"ExternalSecret": "force-sync", "Kustomization": "reconcile.fluxcd.io/requestedAt"}

// resync is the patch of that annotation. Its value is the version of the object, which no earlier
// one had.
func resync(note string, md metav1.ObjectMeta) string {
	op := map[string]any{"op": "add", "path": "/metadata/annotations/" + strings.ReplaceAll(note, "/", "~1"), "value": "handrail-" + md.ResourceVersion}
	if len(md.Annotations) == 0 {
		op["path"], op["value"] = "/metadata/annotations", map[string]any{note: op["value"]}
	}
	text, err := json.Marshal([]any{op})
	if err != nil { // of plain strings
		return ""
	}
	return string(text)
}

// carried finds what delivers the Secret, and fills in what that says of itself. An error says
// why it cannot be told.
func (r *deliveryRun) carried(ctx context.Context, md cluster.Object) error {
	if found, err := r.external(ctx); found || err != nil {
		return err
	}
	if found, err := r.sealed(ctx); found || err != nil {
		return err
	}
	if !r.d.exists {
		r.d.by = byHand
		return nil
	}
	if owners := md.GetOwnerReferences(); len(owners) > 0 {
		return r.owned(ctx, byOther, owners[0].APIVersion, owners[0].Kind, r.ns, owners[0].Name)
	}
	labels := md.GetLabels()
	if name := labels[fluxLabel+"name"]; name != "" {
		return r.owned(ctx, byFlux, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", labels[fluxLabel+"namespace"], name)
	}
	if md.GetAnnotations()[argoTracking] != "" {
		app, _, _ := strings.Cut(md.GetAnnotations()[argoTracking], ":")
		r.d.by, r.d.carrier = byArgo, "application "+steps.Clip(app, 253)
		return nil
	}
	r.d.by = byHand
	return nil
}

// aim turns to the Secret that an ExternalSecret of the given name writes: what fails names that one, and its
// Secret may have another name. An error is said where what delivers it is read.
func (r *deliveryRun) aim(ctx context.Context) bool {
	of, err := r.c.AnyVersion(externalGroup+"/v1", "ExternalSecret")
	if err != nil {
		return false
	}
	target, taken := "", false
	err = cluster.Each(ctx, r.c, of.Path(r.ns, ""), nil, func(e externalSecret) {
		taken = taken || e.target() == r.name
		if e.Metadata.Name == r.name {
			target = e.target()
		}
	})
	if err != nil || taken || len(validation.IsDNS1123Subdomain(target)) > 0 {
		return false
	}
	r.Obs.Say(steps.Info, "%s writes the Secret %s, and that one is read.", of.Label(r.ns, r.name), steps.Clip(target, 253))
	r.name = target
	return true
}

// external looks among the ExternalSecrets: one that could not write yet owns nothing.
func (r *deliveryRun) external(ctx context.Context) (found bool, err error) {
	of, err := r.c.AnyVersion(externalGroup+"/v1", "ExternalSecret")
	if errors.Is(err, cluster.ErrNoKind) {
		return false, nil
	}
	var all []externalSecret
	if err == nil {
		err = cluster.Each(ctx, r.c, of.Path(r.ns, ""), nil, func(e externalSecret) {
			switch {
			case e.target() != r.name:
			case e.writes(): // those that are paused come after
				all = slices.Insert(all, 0, e)
			default:
				all = append(all, e)
			}
		})
	}
	if err != nil || len(all) == 0 {
		return false, err
	}
	e := all[0]
	for _, other := range all[1:] {
		if !other.writes() {
			continue
		}
		r.d.rivals = append(r.d.rivals, of.Label(r.ns, other.Metadata.Name))
	}
	r.take(of, r.ns, e.Metadata)
	r.d.by = byExternal
	r.d.told = toldOf(asksAgain[of.Kind], e.Metadata)
	r.d.ready, r.d.says = readyOf(e.Status.Conditions, "Ready")
	r.d.refreshed, r.d.behind = e.Status.RefreshTime, e.behind()
	r.d.interval, r.d.held = e.interval()
	for _, s := range e.stores() {
		r.d.stores = append(r.d.stores, r.store(ctx, s))
	}
	for _, d := range e.Spec.Data {
		r.brought = append(r.brought, d.SecretKey)
	}
	r.merges = e.Spec.Target.CreationPolicy == "Merge"
	return true, nil
}

// store reads what a store says of itself: conditions, and nothing of how it signs in.
func (r *deliveryRun) store(ctx context.Context, s storeRef) storeState {
	out := storeState{label: strings.ToLower(s.Kind) + " " + steps.Clip(s.Name, 253)}
	_, o, err := r.c.Lookup(ctx, externalGroup+"/v1", s.Kind, r.ns, s.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		out.absent = true
		return out
	case err != nil:
		out.unread = report.Why(err)
		r.Gap("%s: %s", out.label, out.unread)
		return out
	}
	var read struct {
		Status struct {
			Conditions []deliveryCondition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(o.Raw, &read); err != nil {
		out.unread = err.Error()
		return out
	}
	out.ready, out.says = readyOf(read.Status.Conditions, "Ready")
	return out
}

// sealedSecret is what is read of a SealedSecret; what is sealed is not.
type sealedSecret struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Metadata struct{ Name string } `json:"metadata"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64               `json:"observedGeneration"`
		Conditions         []deliveryCondition `json:"conditions"`
	} `json:"status"`
}

func (r *deliveryRun) sealed(ctx context.Context) (found bool, err error) {
	of, err := r.c.AnyVersion("bitnami.com/v1alpha1", "SealedSecret")
	if errors.Is(err, cluster.ErrNoKind) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = cluster.Each(ctx, r.c, of.Path(r.ns, ""), nil, func(s sealedSecret) {
		name := s.Spec.Template.Metadata.Name
		if name == "" {
			name = s.Metadata.Name
		}
		if name != r.name || found {
			return
		}
		found = true
		r.take(of, r.ns, s.Metadata)
		r.d.by = bySealed
		r.d.ready, r.d.says = readyOf(s.Status.Conditions, "Synced")
		r.d.behind = s.Status.ObservedGeneration > 0 && s.Status.ObservedGeneration < s.Metadata.Generation
	})
	return found, err
}

// owned reads the conditions of the object that a Secret names as its maker.
func (r *deliveryRun) owned(ctx context.Context, by, version, kind, ns, name string) error {
	t, o, err := r.c.Lookup(ctx, version, kind, ns, name)
	r.d.by = by
	if errors.Is(err, cluster.ErrAbsent) {
		r.d.carrier, r.d.gone = strings.ToLower(steps.Clip(kind, 100))+" "+steps.Clip(name, 253), true
		return nil
	}
	if err != nil {
		return err
	}
	md := metav1.ObjectMeta{Name: t.Name, UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Annotations: o.GetAnnotations(), ManagedFields: o.GetManagedFields()}
	r.take(t.Resource, t.Namespace, md)
	var read struct {
		Metadata struct {
			Generation int64 `json:"generation"`
		} `json:"metadata"`
		Spec struct {
			Suspend bool `json:"suspend"`
		} `json:"spec"`
		Status struct {
			ObservedGeneration int64               `json:"observedGeneration"`
			Conditions         []deliveryCondition `json:"conditions"`
			Handled            string              `json:"lastHandledReconcileAt"`
		} `json:"status"`
	}
	if err := json.Unmarshal(o.Raw, &read); err != nil {
		return err
	}
	if note := asksAgain[t.Resource.Kind]; note != "" {
		r.d.told = toldOf(note, md)
		r.d.told.took = read.Status.Handled
	}
	r.d.ready, r.d.says = readyOf(read.Status.Conditions, "Ready", "Synced", "SecretSynced", "Healthy")
	r.d.behind = read.Status.ObservedGeneration > 0 && read.Status.ObservedGeneration < read.Metadata.Generation
	if read.Spec.Suspend {
		r.d.held = "it is suspended"
	}
	return nil
}

// take keeps which object delivers the Secret.
func (r *deliveryRun) take(of cluster.Resource, ns string, md metav1.ObjectMeta) {
	r.d.carrier = of.Label(ns, md.Name)
	f := r.facts
	f.Set("resource", steps.StringOf(of.String()))
	f.Set("name", steps.StringOf(md.Name))
	f.Set("namespace", steps.StringOf(ns))
	f.Set("uid", steps.IdentOf(string(md.UID)))
	if note := asksAgain[of.Kind]; note != "" {
		f.Set("resync", steps.StringOf(resync(note, md)))
	}
	r.kind, r.carrierName, r.carrierUID, r.carrierNS = of.Kind, md.Name, string(md.UID), ns
}
