package report

import (
	"cmp"
	"slices"
	"strings"

	"handrail/evidence/visible"
	"handrail/steps"
	"handrail/triage"
)

// Place is where an incident is: the cluster, the directory, the object.
type Place struct {
	Cluster   visible.Text `json:"cluster,omitempty"` // the context, with its server where that is known
	Server    visible.Text `json:"server,omitempty"`  // of a backend, where no cluster is involved
	Object    visible.Text `json:"object,omitempty"`  // of the cluster
	Directory visible.Text `json:"directory,omitempty"`
	Workspace visible.Text `json:"workspace,omitempty"`
}

// In names the context that the incident is about, which the journal tells and a
// folded state does not hold.
func In(context string) Option {
	return func(d *Document) { d.Place.Cluster = line(context) }
}

// place completes what the options said by the parameters of the plan in force and
// by what gates showed. What was shown last says it best.
func place(st triage.State, context string) Place {
	param := func(name string) string {
		if v := st.Plan().Params[name]; v.Known() {
			return v.Text()
		}
		return ""
	}
	var object, server, cluster, dir, space string
	for _, g := range byShown(st) {
		object = cmp.Or(steps.Find(g.Shown.Target, "object"), object)
		server = cmp.Or(steps.Find(g.Shown.Target, "server"), server)
		cluster = cmp.Or(clusterNamed(steps.Find(g.Shown.Where, "cluster")), cluster)
		dir = cmp.Or(steps.Find(g.Shown.Where, "directory"), dir)
		space = cmp.Or(steps.Find(g.Shown.Where, "workspace"), space)
	}
	if object == "" && param("name") != "" {
		var parts []string
		for _, p := range []string{"resource", "namespace", "name"} {
			if v := param(p); v != "" {
				parts = append(parts, v)
			}
		}
		object = strings.Join(parts, "/")
	} else if object == "" && param("namespace") != "" {
		object = "namespace " + param("namespace")
	}
	context = cmp.Or(context, param("context"), cluster)
	switch {
	case context == "":
	case server != "" && !strings.Contains(context, server):
		context, server = context+" ("+server+")", ""
	default:
		server = ""
	}
	return Place{Cluster: line(context), Server: line(server), Object: line(object), Directory: line(cmp.Or(dir, param("dir"))), Workspace: line(cmp.Or(space, param("workspace")))}
}

// clusterNamed is a value of the header unless it says that there is none.
func clusterNamed(v string) string {
	if v == "none" || strings.HasPrefix(v, "unknown: ") {
		return ""
	}
	return v
}

// byShown are the gates that were shown, the newest last.
func byShown(st triage.State) []triage.GateState {
	var out []triage.GateState
	for _, g := range st.Gates {
		if g.ShownSeq > 0 {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b triage.GateState) int { return cmp.Compare(a.ShownSeq, b.ShownSeq) })
	return out
}

// words are a place in one line, "" for an unknown one.
func (p Place) words() string {
	var out []string
	for _, part := range []struct {
		what string
		is   visible.Text
	}{{"cluster ", p.Cluster}, {"server ", p.Server}, {"", p.Object}, {"directory ", p.Directory}, {"workspace ", p.Workspace}} {
		if part.is != "" {
			out = append(out, part.what+string(part.is))
		}
	}
	return strings.Join(out, ", ")
}
