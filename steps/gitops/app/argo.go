package app

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// argoSkip makes Argo CD pass over an application altogether.
	argoSkip = "argocd.argoproj.io/skip-reconcile"
	// argoRefresh asks Argo CD to compare now.
	argoRefresh = "argocd.argoproj.io/refresh"
)

// ArgoApplication is what is read of an applications.argoproj.io object.
type ArgoApplication struct {
	Metadata  metav1.ObjectMeta `json:"metadata"`
	Spec      argoSpec          `json:"spec"`
	Operation *argoRequest      `json:"operation"`
	Status    argoStatus        `json:"status"`
}

type argoSpec struct {
	Project     string `json:"project"`
	Destination struct {
		Namespace string `json:"namespace"`
		Server    string `json:"server"`
		Name      string `json:"name"`
	} `json:"destination"`
	Source     *argoSource  `json:"source"`
	Sources    []argoSource `json:"sources"`
	SyncPolicy *struct {
		Automated *struct {
			Enabled  *bool `json:"enabled"`
			Prune    bool  `json:"prune"`
			SelfHeal bool  `json:"selfHeal"`
		} `json:"automated"`
	} `json:"syncPolicy"`
}

type argoSource struct {
	RepoURL        string `json:"repoURL"`
	Path           string `json:"path"`
	TargetRevision string `json:"targetRevision"`
	Chart          string `json:"chart"`

	Kustomize json.RawMessage `json:"kustomize"`
	Helm      json.RawMessage `json:"helm"`
	Directory json.RawMessage `json:"directory"`
	Plugin    json.RawMessage `json:"plugin"`
}

type argoRequest struct {
	InitiatedBy argoInitiator `json:"initiatedBy"`
	Sync        *struct {
		Revision string `json:"revision"`
	} `json:"sync"`
}

type argoInitiator struct {
	Username  string `json:"username"`
	Automated bool   `json:"automated"`
}

type argoStatus struct {
	Sync struct {
		Status    string   `json:"status"`
		Revision  string   `json:"revision"`
		Revisions []string `json:"revisions"`
	} `json:"sync"`
	Health     argoHealth `json:"health"`
	Conditions []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"conditions"`
	OperationState *argoOperation `json:"operationState"`
	History        []struct {
		Revision    string        `json:"revision"`
		Revisions   []string      `json:"revisions"`
		DeployedAt  metav1.Time   `json:"deployedAt"`
		InitiatedBy argoInitiator `json:"initiatedBy"`
	} `json:"history"`
	Resources []struct {
		argoResource
		Status          string      `json:"status"`
		Health          *argoHealth `json:"health"`
		RequiresPruning bool        `json:"requiresPruning"`
		Hook            bool        `json:"hook"` // what a sync ran; no sync prunes it, though it is not wanted for good
	} `json:"resources"`
	ReconciledAt *metav1.Time `json:"reconciledAt"`
}

type argoHealth struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type argoResource struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type argoOperation struct {
	Phase      string       `json:"phase"`
	Message    string       `json:"message"`
	StartedAt  metav1.Time  `json:"startedAt"`
	FinishedAt *metav1.Time `json:"finishedAt"`
	RetryCount int64        `json:"retryCount"`
	Operation  argoRequest  `json:"operation"`
	SyncResult *struct {
		Revision  string   `json:"revision"`
		Revisions []string `json:"revisions"`
		Resources []struct {
			argoResource
			Status    string `json:"status"`
			Message   string `json:"message"`
			HookType  string `json:"hookType"`
			HookPhase string `json:"hookPhase"`
			SyncPhase string `json:"syncPhase"`
		} `json:"resources"`
	} `json:"syncResult"`
}

// FromArgo reads an Application of Argo CD.
func FromArgo(o ArgoApplication) App {
	a := App{Controller: ArgoCD, Kind: "Application", Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, UID: string(o.Metadata.UID), Project: o.Spec.Project,
		Tried: cmp.Or(o.Status.Sync.Revision, strings.Join(o.Status.Sync.Revisions, " ")), Sync: argoSync(o.Status.Sync.Status),
		Health: argoHealthOf(o.Status.Health.Status), HealthSays: o.Status.Health.Message}
	// One of the two names the cluster of Argo CD itself by these words (argo-cd, docs/operator-manual/cluster-management.md).
	if d := o.Spec.Destination; d.Server != "" && d.Server != "https://kubernetes.default.svc" || d.Name != "" && d.Name != "in-cluster" {
		a.Cluster = cmp.Or(d.Server, d.Name)
	}
	sources := o.Spec.Sources
	if o.Spec.Source != nil && len(sources) == 0 {
		sources = []argoSource{*o.Spec.Source}
	}
	for _, s := range sources {
		a.Sources = append(a.Sources, Source{Repo: s.RepoURL, Revision: s.TargetRevision, Path: s.Path, Chart: s.Chart})
	}
	if len(sources) == 1 {
		a.Rendering = argoRendering(sources[0], a.Name, o.Spec.Destination.Namespace)
	}
	if o.Status.ReconciledAt != nil {
		a.Checked = o.Status.ReconciledAt.Time
		a.Worked = a.Checked
	}
	a.Asked = argoAsked(o)
	for _, r := range o.Status.Resources {
		of := r.resource()
		of.Sync = argoSync(r.Status)
		// Without manifests to compare with, Argo CD marks every object as one to prune, with the status Unknown.
		of.Prune = r.RequiresPruning && !r.Hook && of.Sync == OutOfSync
		if r.Health != nil {
			of.Health, of.Says = argoHealthOf(r.Health.Status), r.Health.Message
		}
		a.Resources = append(a.Resources, of)
	}
	for _, h := range o.Status.History {
		d := Deployment{Revision: cmp.Or(h.Revision, strings.Join(h.Revisions, " ")), At: h.DeployedAt.Time, By: h.InitiatedBy.Username, Auto: h.InitiatedBy.Automated}
		a.History = append([]Deployment{d}, a.History...)
	}
	if len(a.History) > 0 {
		a.Applied = a.History[0].Revision
	}
	a.Operation = argoOperationOf(o)
	a.Link, a.Says = argoLink(o, a)
	if a.Operation.Wrote == Unknown && a.Operation.Phase == Failed && len(a.Operation.Results)+len(a.Operation.Earlier) == 0 && a.Link.beforeApply() {
		a.Operation.Wrote = No
	}
	argoPolicy(o, &a)
	return a
}

// argoPolicy reads when Argo CD acts by itself: the block is there and its switch is not
// off (null means on).
func argoPolicy(o ArgoApplication, a *App) {
	skip, err := strconv.ParseBool(o.Metadata.Annotations[argoSkip])
	if skipped := err == nil && skip; skipped {
		a.Suspension = suspended(o.Metadata, "annotation "+argoSkip+"=true", "metadata", "annotations", argoSkip)
	}
	if o.Spec.SyncPolicy == nil || o.Spec.SyncPolicy.Automated == nil {
		return
	}
	auto := o.Spec.SyncPolicy.Automated
	on := auto.Enabled == nil || *auto.Enabled
	a.AutoSync, a.SelfHeal, a.Prune = on, on && auto.SelfHeal, auto.Prune
	if !on && a.Suspension == nil {
		a.Suspension = suspended(o.Metadata, "spec.syncPolicy.automated.enabled=false", "spec", "syncPolicy", "automated", "enabled")
	}
	if s := a.Suspension; s != nil && s.Since.IsZero() {
		s.Since, s.AtLeast = newestAutomatic(*a), true
	}
}

// argoAsked is what was asked of Argo CD: it takes a refresh away once it looked, and turns an
// operation into a state once it begins.
func argoAsked(o ArgoApplication) *Request {
	s := o.Status.OperationState
	var what string
	var path []string
	switch {
	case o.Operation != nil && (s == nil || argoPhase(s.Phase) != Running && argoPhase(s.Phase) != Terminating):
		what, path = "operation", []string{"operation"}
	case o.Metadata.Annotations[argoRefresh] != "":
		what, path = "annotation "+argoRefresh, []string{"metadata", "annotations", argoRefresh}
	default:
		return nil
	}
	_, since := writer(o.Metadata, path...)
	return &Request{What: what, Since: since}
}

// newestAutomatic is when Argo CD last synced by itself, as far as it says.
func newestAutomatic(a App) time.Time {
	var at time.Time
	for _, d := range a.History {
		if d.Auto && d.At.After(at) {
			at = d.At
		}
	}
	if a.Operation.Auto && a.Operation.Ended.After(at) {
		at = a.Operation.Ended
	}
	return at
}

func argoOperationOf(o ArgoApplication) Operation {
	s := o.Status.OperationState
	if s == nil {
		op := Operation{Phase: NoOperation}
		if o.Operation != nil {
			op.Phase, op.By, op.Auto = Running, o.Operation.InitiatedBy.Username, o.Operation.InitiatedBy.Automated
		}
		return op
	}
	op := Operation{Phase: argoPhase(s.Phase), Message: s.Message, By: s.Operation.InitiatedBy.Username, Auto: s.Operation.InitiatedBy.Automated,
		Began: s.StartedAt.Time, Retries: s.RetryCount}
	if s.FinishedAt != nil {
		op.Ended = s.FinishedAt.Time
	}
	if s.Operation.Sync != nil {
		op.Revision = s.Operation.Sync.Revision
	}
	if s.SyncResult == nil {
		return op
	}
	op.Revision = cmp.Or(s.SyncResult.Revision, strings.Join(s.SyncResult.Revisions, " "), op.Revision)
	for _, r := range s.SyncResult.Resources {
		of := Result{Resource: r.resource(), Phase: r.SyncPhase, Hook: r.HookType, HookEnd: r.HookPhase, Status: r.Status, Message: r.Message}
		op.Results = append(op.Results, of)
		// A hook that was made ran, however it ended.
		if r.Status == "Synced" || r.Status == "Pruned" || r.HookType != "" && r.HookPhase != "" {
			op.Wrote = Yes
		}
	}
	// A merge patch that has no results yet leaves those of the operation before (controller/appcontroller.go of Argo CD,
	// setOperationState): one that ends as Error has often begun nothing.
	if s.Phase == "Error" || s.Phase == "Running" && s.Message == "" {
		op.Results, op.Earlier, op.Wrote = nil, op.Results, Unknown
		return op
	}
	if done, of := op.Applied(); of > 0 && done == 0 && op.Wrote == Unknown && op.Phase == Failed && !slices.ContainsFunc(op.Results, func(r Result) bool { return r.Status == "" }) {
		op.Wrote = No
	}
	return op
}

// argoLink is the first link that fails. Conditions have no status: being there is being
// true.
func argoLink(o ArgoApplication, a App) (Link, string) {
	for _, c := range o.Status.Conditions {
		switch c.Type {
		case "InvalidSpecError":
			return LinkSpec, c.Message
		case "ComparisonError", "UnknownError":
			return linkOf(c.Message, LinkRender), c.Message
		}
	}
	if (a.Operation.Phase == Failed || a.Operation.Phase == Running) && !outdated(o, a) {
		if link, says := argoResultLink(a.Operation); link != LinkNone {
			return link, says
		}
	}
	if r, ok := a.heldPrune(); ok {
		return LinkPrune, r.String() + ": pruned, and still there"
	}
	switch a.Health {
	case Degraded, Missing:
		return LinkHealth, cmp.Or(a.HealthSays, "health is "+o.Status.Health.Status)
	}
	for _, c := range o.Status.Conditions {
		if c.Type == "SyncError" || c.Type == "DeletionError" {
			return linkOf(c.Message, LinkUnknown), c.Message
		}
	}
	return LinkNone, ""
}

// outdated reports whether the last operation could not begin and the application was compared since: what kept it from
// beginning would be among the conditions.
func outdated(o ArgoApplication, a App) bool {
	s := o.Status.OperationState
	return s != nil && s.Phase == "Error" && a.Checked.After(a.Operation.Ended)
}

// argoResultLink tells the link by the first object that failed, else by the message.
func argoResultLink(op Operation) (Link, string) {
	for _, r := range op.Results {
		says := r.String() + ": " + r.Message
		switch {
		case r.Hook != "" && (r.HookEnd == "Failed" || r.HookEnd == "Error"):
			return LinkHook, says
		case r.Status == "SyncFailed":
			return linkOf(r.Message, LinkApply), says
		case r.Status != "Pruned" && r.Hook == "" && (r.HookEnd == "Failed" || r.HookEnd == "Error"):
			return LinkHealth, says // the phase of a plain object that was applied is that of its health
		}
	}
	if op.Phase == Failed {
		return linkOf(op.Message, LinkUnknown), op.Message
	}
	// What runs is at a link that may still pass: it is said, and fails only where it waits.
	if link := linkOf(op.Message, LinkNone); link == LinkHook || link == LinkHealth || link == LinkPrune {
		return link, op.Message
	}
	return LinkNone, ""
}

func (r argoResource) resource() Resource {
	return Resource{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Sync: SyncUnknown, Health: HealthUnknown}
}

func argoSync(s string) Sync {
	switch s {
	case "Synced":
		return Synced
	case "OutOfSync":
		return OutOfSync
	}
	return SyncUnknown
}

func argoHealthOf(s string) Health {
	switch s {
	case "Healthy", "Progressing", "Degraded", "Suspended", "Missing":
		return Health(strings.ToLower(s))
	}
	return HealthUnknown
}

func argoPhase(s string) Phase {
	switch s {
	case "Running":
		return Running
	case "Terminating":
		return Terminating
	case "Succeeded":
		return Succeeded
	case "Failed", "Error":
		return Failed
	}
	return NoOperation
}
