package app

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// Controller is who reconciles an application.
type Controller string

// The controllers.
const (
	ArgoCD Controller = "argocd"
	Flux   Controller = "flux"
)

// Sync compares the live state with the wanted one.
type Sync string

// The results of that comparison.
const (
	Synced      Sync = "synced"
	OutOfSync   Sync = "out_of_sync"
	SyncUnknown Sync = "unknown"
)

// Health is what the controller says of the objects that it applied.
type Health string

// The healths, in Argo CD's words.
const (
	Healthy       Health = "healthy"
	Progressing   Health = "progressing"
	Degraded      Health = "degraded"
	Suspended     Health = "suspended"
	Missing       Health = "missing"
	HealthUnknown Health = "unknown"
)

// Phase is that of an operation.
type Phase string

// The phases. NoOperation: none ran yet.
const (
	NoOperation Phase = "none"
	Running     Phase = "running"
	Terminating Phase = "terminating"
	Succeeded   Phase = "succeeded"
	Failed      Phase = "failed"
	Stalled     Phase = "stalled"
)

// App is one application.
type App struct {
	Controller Controller
	Kind       string // Application, Kustomization, HelmRelease
	Namespace  string
	Name       string
	UID        string
	Project    string // of Argo CD
	Cluster    string // that it delivers to, as it names it; "" for its own

	Sources   []Source
	Rendering Rendering // of its only source; nothing is said of it where there are several
	Applied   string    // revision that the live state was last brought to, "" for none
	Tried     string    // revision of the last comparison or attempt, "" for none
	Behind    bool      // its controller has not seen its newest spec yet

	Sync       Sync
	Health     Health
	HealthSays string
	Link       Link   // the first link that fails
	Says       string // the controller's words of it, "" where nothing fails
	Operation  Operation
	Checked    time.Time // when it was last reconciled, zero where the object does not say
	Worked     time.Time // when its controller last went through it, well or not; zero where the object does not say
	Written    time.Time // newest write of its own fields as managedFields say, zero where they do not
	Asked      *Request  // what was asked of its controller and is not answered
	Secrets    []string  // NAMESPACE/NAME of those that its controller needs for it
	Resources  []Resource
	History    []Deployment // newest first

	AutoSync   bool // a new revision is applied without a person
	SelfHeal   bool // a hand edit is written over without a new revision
	Prune      bool // what is no longer wanted is deleted
	Interval   time.Duration
	Timeout    time.Duration // of one reconciliation of Flux
	DependsOn  []string      // NAMESPACE/NAME
	Suspension *Suspension
}

// Elsewhere is the cluster that the objects of an application are in, "" where that is the one at
// server, which holds the application itself. What has their names there is other things.
func (a App) Elsewhere(server string) string {
	if strings.TrimSuffix(a.Cluster, "/") == strings.TrimSuffix(server, "/") {
		return ""
	}
	return a.Cluster
}

// Source is where the wanted state comes from.
type Source struct {
	Repo     string // URL, as the object has it
	Ref      string // kind/namespace/name of a Flux source, "" for Argo CD
	Revision string // wanted: a branch, tag, commit or version; "" where the source decides
	Path     string
	Chart    string
}

// Operation is a sync that runs, or the last one.
type Operation struct {
	Phase    Phase
	Message  string
	Revision string
	By       string // who started it, "" for a machine or where nothing says so
	Auto     bool
	Began    time.Time
	Ended    time.Time // zero while it runs
	Retries  int64
	Results  []Result
	Earlier  []Result // results that may be of the operation before: Argo CD keeps those until this one has its own
	Wrote    Tristate // whether it changed anything
}

// Request asks a controller for a look or an operation.
type Request struct {
	What  string    // the annotation or field
	Since time.Time // zero where nothing says so
}

// Tristate is yes, no or unknown; the zero value is unknown.
type Tristate int8

// The three answers.
const (
	Unknown Tristate = iota
	No
	Yes
)

// Result is what an operation came to for one object.
type Result struct {
	Resource
	Phase   string // PreSync, Sync, PostSync, SyncFail; "" where it is not said
	Hook    string // type of the hook, "" for a plain object
	HookEnd string // phase of the hook: Running, Succeeded, Failed, Error
	Status  string // Synced, SyncFailed, Pruned, PruneSkipped; "" where it is not said
	Message string
}

// Resource is an object that an application has.
type Resource struct {
	Group, Kind, Namespace, Name string

	Sync   Sync   // SyncUnknown where the controller does not say
	Health Health // HealthUnknown where the controller does not say
	Says   string // of its health
	Prune  bool   // it is no longer wanted, and still there
}

// String names the object as kubectl does: kind.group/namespace/name.
func (r Resource) String() string {
	kind := strings.ToLower(r.Kind)
	if r.Group != "" {
		kind += "." + r.Group
	}
	if r.Namespace == "" {
		return kind + "/" + r.Name
	}
	return kind + "/" + r.Namespace + "/" + r.Name
}

// Deployment is one revision that was applied.
type Deployment struct {
	Revision string
	At       time.Time
	By       string
	Auto     bool
}

// Suspension says that a controller leaves an application alone, though it would
// act by itself otherwise.
type Suspension struct {
	How     string          // the field or annotation, as field=value
	Since   time.Time       // zero where nothing says so
	AtLeast bool            // Since is a lower bound, not the time
	By      string          // field manager that wrote it, "" where nothing says so
	Note    steps.PauseNote // what handrail wrote beside it: in which incident, why, until when
}

// String names the application as its own tools do: "argocd application ns/name".
func (a App) String() string {
	return string(a.Controller) + " " + strings.ToLower(a.Kind) + " " + a.Namespace + "/" + a.Name
}

// namedObject is an object as Flux names it in a message: Kind/namespace/name, or Kind/name
// for one of the cluster.
var namedObject = regexp.MustCompile(`\b([A-Z][A-Za-z]+)/(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*[a-z0-9])`)

// Failing is the first object at which it fails, where one can be named.
func (a App) Failing() (Resource, bool) {
	if a.Link == LinkNone {
		return Resource{}, false
	}
	for _, r := range a.Operation.Results {
		if r.Failed() {
			return r.Resource, true
		}
	}
	if r, ok := a.waitedFor(); ok {
		return r, true
	}
	if r, ok := a.heldPrune(); ok {
		return r, true
	}
	for _, r := range a.Resources {
		if r.Health == Degraded || r.Health == Missing {
			return r, true
		}
	}
	if a.Controller == Flux && (a.Link == LinkApply || a.Link == LinkAdmission || a.Link == LinkHealth || a.Link == LinkPrune || a.Link == LinkDependency) {
		if m := namedObject.FindStringSubmatch(a.Says); m != nil {
			r := Resource{Kind: m[1], Namespace: m[2], Name: m[3], Sync: SyncUnknown, Health: HealthUnknown}
			for _, of := range a.Resources { // which has the group
				if of.Kind == r.Kind && of.Namespace == r.Namespace && of.Name == r.Name {
					r.Group = of.Group
				}
			}
			return r, true
		}
	}
	return Resource{}, false
}

// waits is how Argo CD names the first of those that an operation waits for: GROUP/KIND/NAME, the group empty
// for the core (gitops-engine, setRunningPhase).
var waits = regexp.MustCompile(`^waiting for (?:completion of hook|healthy state of|deletion of) ([a-z0-9.-]*)/([A-Za-z]+)/([a-z0-9][a-z0-9.-]*)`)

// waitedFor is the object that an operation of Argo CD waits for. Its namespace stands in the results.
func (a App) waitedFor() (Resource, bool) {
	m := waits.FindStringSubmatch(a.Operation.Message)
	if a.Controller != ArgoCD || a.Operation.Phase != Running || m == nil {
		return Resource{}, false
	}
	is := func(r Resource) bool { return r.Group == m[1] && r.Kind == m[2] && r.Name == m[3] }
	var found []Resource
	for _, r := range a.Operation.Results {
		if is(r.Resource) {
			found = append(found, r.Resource)
		}
	}
	if len(found) == 0 {
		for _, r := range a.Resources {
			if is(r) {
				found = append(found, r)
			}
		}
	}
	if len(found) != 1 { // one of several namespaces is a guess
		return Resource{}, false
	}
	return found[0], true
}

// heldPrune is an object that the last operation pruned, and that Argo CD still lists as one to prune. In its
// last wave it does not wait for a deletion, and calls the operation succeeded.
func (a App) heldPrune() (Resource, bool) {
	if a.Operation.Phase != Succeeded {
		return Resource{}, false
	}
	for _, r := range a.Operation.Results {
		held := func(of Resource) bool {
			return of.Prune && of.Group == r.Group && of.Kind == r.Kind && of.Namespace == r.Namespace && of.Name == r.Name
		}
		if r.Status == "Pruned" && slices.ContainsFunc(a.Resources, held) {
			return r.Resource, true
		}
	}
	return Resource{}, false
}

// Hooks are the results of the hooks that the last operation began, however they ended.
func (a App) Hooks() []Result {
	var out []Result
	for _, r := range a.Operation.Results {
		if r.Hook != "" && r.HookEnd != "" {
			out = append(out, r)
		}
	}
	return out
}

// Failed reports whether an operation failed at this object.
func (r Result) Failed() bool {
	return r.Status == "SyncFailed" || r.HookEnd == "Failed" || r.HookEnd == "Error"
}

// Differing are the objects that are not as wanted.
func (a App) Differing() []Resource {
	var out []Resource
	for _, r := range a.Resources {
		if r.Sync == OutOfSync || r.Prune {
			out = append(out, r)
		}
	}
	return out
}

// Applied counts what the last operation applied or removed, of how many it speaks of.
func (o Operation) Applied() (done, of int) {
	for _, r := range o.Results {
		if r.Status == "Synced" || r.Status == "Pruned" || r.HookEnd == "Succeeded" {
			done++
		}
	}
	return done, len(o.Results)
}

// Commit is the part of a revision that names a commit: Flux writes
// main@sha1:<commit>, Argo CD the commit alone.
func Commit(revision string) string {
	if _, after, ok := strings.Cut(revision, "@"); ok {
		revision = after
	}
	if algo, sum, ok := strings.Cut(revision, ":"); ok && (algo == "sha1" || algo == "sha256") {
		return sum
	}
	return revision
}
