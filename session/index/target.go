package index

import (
	"cmp"
	"fmt"
	"strings"

	"handrail/triage"
)

// Target is what an incident is about: a root module, or an object of a cluster.
type Target struct {
	Context, Server           string // of the cluster
	Resource, Namespace, Name string // of the object; a namespace alone has no name
	Directory, Workspace      string
	State                     string // the backend of the directory and the place in it; a journal does not tell it
}

// TargetOf is what the parameters of a plan name, in the cluster that the incident
// is about.
func TargetOf(params map[string]triage.Value, context, server string) Target {
	text := func(name string) string {
		if v := params[name]; v.Known() {
			return v.Text()
		}
		return ""
	}
	t := Target{Context: context, Server: server, Directory: text("dir"), Workspace: text("workspace"),
		Resource: text("resource"), Namespace: text("namespace"), Name: text("name")}
	if other := text("context"); other != "" {
		t.Context, t.Server = other, ""
	}
	if space := text("space"); space != "" && t.Name == "" { // a whole namespace
		t.Resource, t.Namespace = "", space
	}
	if t.Name == "" {
		t.Resource = "" // only a default of the runbook
	}
	return t
}

func (t *Target) fields() []*string {
	return []*string{&t.Context, &t.Server, &t.Resource, &t.Namespace, &t.Name, &t.Directory, &t.Workspace, &t.State}
}

// Shared is what two incidents are both about, in words; "" where that is nothing,
// or cannot be told.
func (t Target) Shared(o Target) string {
	spaces := t.Workspace == o.Workspace || t.Workspace == "" || o.Workspace == ""
	switch {
	case t.Directory != "" && t.Directory == o.Directory && spaces:
		return "directory " + t.Directory
	case t.State != "" && t.State == o.State:
		return "state " + t.State
	case t.Directory != "" || o.Directory != "" || !t.sameCluster(o):
		return ""
	case t.Name != "" && t.Name == o.Name && alike(t.Resource, o.Resource) && (t.Namespace == o.Namespace || t.Namespace == "" || o.Namespace == ""):
		return t.object() + " in " + t.cluster()
	case t.Name == "" && o.Name == "" && t.Namespace != "" && t.Namespace == o.Namespace:
		return t.object() + " in " + t.cluster()
	}
	return ""
}

func (t Target) sameCluster(o Target) bool {
	return t.Server != "" && t.Server == o.Server || t.Context != "" && t.Context == o.Context && (t.Server == "" || o.Server == "")
}

func (t Target) cluster() string { return cmp.Or(t.Context, t.Server, "the cluster") }

// alike says that two names of a resource type may be one: job, jobs and jobs.batch.
func alike(a, b string) bool {
	one := func(s string) string {
		s, _, _ = strings.Cut(strings.ToLower(s), ".")
		s = strings.TrimSuffix(s, "s")
		return strings.TrimSuffix(strings.TrimSuffix(s, "ie"), "y")
	}
	return one(a) == one(b)
}

func (t Target) object() string {
	switch {
	case t.Name == "" && t.Namespace == "":
		return ""
	case t.Name == "":
		return "namespace " + t.Namespace
	case t.Namespace == "":
		return fmt.Sprintf("%s/%s", t.Resource, t.Name)
	}
	return fmt.Sprintf("%s/%s/%s", t.Resource, t.Namespace, t.Name)
}

// Words are a target in one line, "" for an unknown one: the directory or the object,
// then the context.
func (t Target) Words() string {
	var out []string
	if t.Directory != "" {
		out = append(out, t.Directory)
	}
	if t.Workspace != "" {
		out = append(out, "workspace "+t.Workspace)
	}
	if of := t.object(); of != "" {
		out = append(out, of)
	}
	if t.Context != "" {
		out = append(out, "context "+t.Context)
	}
	return strings.Join(out, ", ")
}
