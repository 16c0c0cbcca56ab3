package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kustomization is what is read of a kustomizations.kustomize.toolkit.fluxcd.io object.
type Kustomization struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		fluxSpec
		Path      string       `json:"path"`
		Prune     bool         `json:"prune"`
		Wait      bool         `json:"wait"`
		SourceRef fluxSource   `json:"sourceRef"`
		Checks    []fluxObject `json:"healthChecks"`

		Decryption struct {
			SecretRef fluxObject `json:"secretRef"`
		} `json:"decryption"`

		TargetNamespace string          `json:"targetNamespace"`
		Patches         json.RawMessage `json:"patches"`
		Images          json.RawMessage `json:"images"`
		Components      json.RawMessage `json:"components"`
		IgnoreMissing   json.RawMessage `json:"ignoreMissingComponents"`
		PostBuild       json.RawMessage `json:"postBuild"`
		CommonMetadata  json.RawMessage `json:"commonMetadata"`
		NamePrefix      json.RawMessage `json:"namePrefix"`
		NameSuffix      json.RawMessage `json:"nameSuffix"`
	} `json:"spec"`
	Status struct {
		fluxStatus
		LastAppliedRevision   string `json:"lastAppliedRevision"`
		LastAttemptedRevision string `json:"lastAttemptedRevision"`
		History               []struct {
			LastReconciled metav1.Time `json:"lastReconciled"`
		} `json:"history"`
		Inventory *struct {
			Entries []struct {
				ID string `json:"id"`
			} `json:"entries"`
		} `json:"inventory"`
	} `json:"status"`
}

// fluxSpec is what all that Flux reconciles have.
type fluxSpec struct {
	Suspend   bool            `json:"suspend"`
	Interval  metav1.Duration `json:"interval"`
	Timeout   metav1.Duration `json:"timeout"`
	DependsOn []fluxObject    `json:"dependsOn"`

	KubeConfig struct {
		SecretRef    fluxObject `json:"secretRef"`
		ConfigMapRef fluxObject `json:"configMapRef"`
	} `json:"kubeConfig"`
}

type fluxObject struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type fluxSource struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (s fluxSource) in(namespace string) string {
	if s.Name == "" {
		return ""
	}
	return s.Kind + "/" + cmp.Or(s.Namespace, namespace) + "/" + s.Name
}

type fluxStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Conditions         []metav1.Condition `json:"conditions"`

	LastHandledReconcileAt string `json:"lastHandledReconcileAt"`
}

// FluxRequest is the annotation that asks Flux to reconcile now. Flux writes its value into the
// status once it did.
const FluxRequest = "reconcile.fluxcd.io/requestedAt"

func fluxAsked(meta metav1.ObjectMeta, status fluxStatus) *Request {
	asked := meta.Annotations[FluxRequest]
	if asked == "" || asked == status.LastHandledReconcileAt {
		return nil
	}
	// Its value is the time by convention alone.
	_, since := writer(meta, "metadata", "annotations", FluxRequest)
	return &Request{What: "annotation " + FluxRequest, Since: since}
}

func (s fluxStatus) condition(kind string) (metav1.Condition, bool) {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return metav1.Condition{}, false
}

// seen is the newest spec that was reconciled to an end. Flux writes the generation of the status after a success
// alone; that of one that failed stands on its condition.
func (s fluxStatus) seen() int64 {
	seen := s.ObservedGeneration
	if c, there := s.condition("Ready"); there && c.Status == metav1.ConditionFalse {
		seen = max(seen, c.ObservedGeneration)
	}
	return seen
}

func (s fluxStatus) is(kind string, status metav1.ConditionStatus) bool {
	c, there := s.condition(kind)
	return there && c.Status == status
}

// FromKustomization reads a Kustomization of Flux. What it says while it is suspended is
// what was true when it stopped.
func FromKustomization(o Kustomization) App {
	a := fluxApp("Kustomization", o.Metadata, o.Spec.fluxSpec, o.Status.fluxStatus)
	a.Applied, a.Tried = o.Status.LastAppliedRevision, o.Status.LastAttemptedRevision
	a.Sources = []Source{{Ref: o.Spec.SourceRef.in(a.Namespace), Path: o.Spec.Path}}
	a.Rendering = fluxRendering(o)
	// It applies again at each interval, and so writes over a hand edit.
	a.AutoSync, a.SelfHeal, a.Prune = !o.Spec.Suspend, !o.Spec.Suspend, o.Spec.Prune
	a.Operation.Revision = a.Tried
	switch {
	case a.Operation.Phase == Succeeded && a.Applied != "" && a.Applied == a.Tried && !a.Behind:
		a.Sync = Synced
	case a.Applied != a.Tried:
		a.Sync = OutOfSync
	}
	a.Health, a.HealthSays = kustomizationHealth(o)
	for _, h := range o.Status.History {
		if h.LastReconciled.After(a.Worked) {
			a.Worked = h.LastReconciled.Time
		}
	}
	if name := o.Spec.Decryption.SecretRef.Name; name != "" {
		a.Secrets = append(a.Secrets, a.Namespace+"/"+name)
	}
	if o.Status.Inventory != nil {
		for _, e := range o.Status.Inventory.Entries {
			if r, ok := inventoryEntry(e.ID); ok {
				a.Resources = append(a.Resources, r)
			}
		}
	}
	return a
}

// kustomizationHealth is known only where the Kustomization looks at the health of what it
// applies.
func kustomizationHealth(o Kustomization) (Health, string) {
	ready, _ := o.Status.condition("Ready")
	switch healthy, there := o.Status.condition("Healthy"); {
	case ready.Reason == "HealthCheckFailed":
		return Degraded, ready.Message
	case there && healthy.Status == metav1.ConditionTrue:
		return Healthy, ""
	case there && healthy.Status == metav1.ConditionFalse:
		return Degraded, healthy.Message
	case ready.Status == metav1.ConditionTrue && (o.Spec.Wait || len(o.Spec.Checks) > 0):
		return Healthy, ""
	}
	return HealthUnknown, ""
}

// inventoryEntry reads <namespace>_<name>_<group>_<kind>; a colon in a name is written as
// two underscores (cli-utils object.ObjMetadata).
func inventoryEntry(id string) (Resource, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	if !ok {
		return Resource{}, false
	}
	k := strings.LastIndexByte(rest, '_')
	if k < 0 {
		return Resource{}, false
	}
	g := strings.LastIndexByte(rest[:k], '_')
	if g < 0 {
		return Resource{}, false
	}
	r := Resource{Namespace: namespace, Name: strings.ReplaceAll(rest[:g], "__", ":"), Group: rest[g+1 : k], Kind: rest[k+1:], Sync: SyncUnknown, Health: HealthUnknown}
	return r, r.Name != "" && r.Kind != ""
}

// fluxApp reads what all kinds of Flux share.
func fluxApp(kind string, meta metav1.ObjectMeta, spec fluxSpec, status fluxStatus) App {
	a := App{Controller: Flux, Kind: kind, Namespace: meta.Namespace, Name: meta.Name, UID: string(meta.UID), Sync: SyncUnknown, Health: HealthUnknown,
		Interval: spec.Interval.Duration, Timeout: cmp.Or(spec.Timeout.Duration, spec.Interval.Duration), Behind: status.seen() < meta.Generation, Written: written(meta), Asked: fluxAsked(meta, status)}
	if spec.KubeConfig.SecretRef.Name != "" {
		a.Secrets = append(a.Secrets, meta.Namespace+"/"+spec.KubeConfig.SecretRef.Name)
		a.Cluster = "of Secret " + meta.Namespace + "/" + spec.KubeConfig.SecretRef.Name
	}
	if name := spec.KubeConfig.ConfigMapRef.Name; name != "" {
		a.Cluster = "of ConfigMap " + meta.Namespace + "/" + name
	}
	for _, d := range spec.DependsOn {
		a.DependsOn = append(a.DependsOn, cmp.Or(d.Namespace, meta.Namespace)+"/"+d.Name)
	}
	ready, there := status.condition("Ready")
	a.Operation = Operation{Phase: NoOperation, Message: ready.Message, Auto: true}
	a.Link, a.Says = LinkNone, ""
	if there {
		a.Checked = ready.LastTransitionTime.Time
		a.Operation.Ended = ready.LastTransitionTime.Time
	}
	failed := there && ready.Status == metav1.ConditionFalse
	switch {
	case status.is("Stalled", metav1.ConditionTrue):
		a.Operation.Phase = Stalled
		stalled, _ := status.condition("Stalled")
		a.Link, a.Says = fluxLink(stalled.Reason, stalled.Message), said(stalled)
		if failed {
			a.Link, a.Says = fluxLink(ready.Reason, ready.Message), said(ready)
		}
	case failed:
		a.Operation.Phase = Failed
		a.Link, a.Says = fluxLink(ready.Reason, ready.Message), said(ready)
	case status.is("Reconciling", metav1.ConditionTrue):
		a.Operation.Phase, a.Operation.Ended = Running, time.Time{}
	case there && ready.Status == metav1.ConditionTrue:
		a.Operation.Phase = Succeeded
	}
	if a.Link.beforeApply() || a.Link == LinkDependency && ready.Reason == "DependencyNotReady" {
		a.Operation.Wrote = No // of the revision that it tried
	}
	if spec.Suspend {
		a.Suspension = suspended(meta, "spec.suspend=true", "spec", "suspend")
		if a.Suspension.Since.IsZero() && there {
			a.Suspension.Since, a.Suspension.AtLeast = ready.LastTransitionTime.Time, true
		}
	}
	return a
}

func said(c metav1.Condition) string {
	if c.Message == "" {
		return c.Reason
	}
	return fmt.Sprintf("%s: %s", c.Reason, c.Message)
}

// fluxLink tells the link by the reason of a condition, and by its text where one reason
// has several causes.
func fluxLink(reason, message string) Link {
	switch reason {
	case "ArtifactFailed", "SourceNotReady", "ChartPullFailed", "GitOperationFailed", "AuthenticationFailed", "URLInvalid", "VerificationError", "OCIArtifactPullFailed", "BucketOperationFailed", "IndexationFailed", "EmptyGitRepository":
		return LinkSource
	case "DependencyNotReady":
		return LinkDependency
	case "HealthCheckFailed", "HealthCheckCanceled":
		return LinkHealth
	case "PruneFailed":
		return LinkPrune
	case "BuildFailed":
		if linkOf(message, LinkRender) == LinkSecret {
			return LinkSecret
		}
		return LinkRender
	case "InvalidCELExpression", "FeatureGateDisabled", "InvalidSpec":
		return LinkSpec
	case "AccessDenied":
		return LinkApply
	case "TestFailed":
		return LinkHook
	}
	return linkOf(message, LinkUnknown)
}

// Handled reports whether Flux has answered the request that the annotation note of an
// object makes: it writes the value of the annotation into its status.
func Handled(raw []byte, note string) bool {
	var o struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Status struct {
			LastHandledReconcileAt string `json:"lastHandledReconcileAt"`
		} `json:"status"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return false
	}
	asked := o.Metadata.Annotations[note]
	return asked != "" && o.Status.LastHandledReconcileAt == asked
}
