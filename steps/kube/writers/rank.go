package writers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/rbac"
)

// mostSuspects bounds the list: the hundredth is of no use.
const mostSuspects = 50

// suspect is a likely writer.
type suspect struct {
	name, why string
	weight    int
}

func (s suspect) String() string { return s.name + ": " + s.why }

// rank puts what may write the object into the order in which to look at it: who
// did write it of late, what changes every request, what writes again by itself,
// what runs often, and narrow rights before wide ones, since they were given
// for this very object.
func (w *writers) rank() []suspect {
	var all []suspect
	recent := w.recent()
	add := func(weight int, name, why string) {
		if by := recent.names(name); by != "" {
			weight += 30
			why = "the books name " + by + ", " + why
		}
		all = append(all, suspect{name, why, weight})
	}
	for _, a := range w.mutating {
		weight := 85
		if a.match.Wild {
			weight -= 15
		}
		if len(a.match.Maybe) > 0 {
			weight -= 10
		}
		add(weight, a.name, strings.TrimPrefix(a.String(), a.name+": "))
	}
	for _, o := range w.controllers {
		add(map[string]int{owner.PausedNo: 80, owner.PausedUnknown: 65, owner.PausedYes: 10}[o.Paused], o.Name, "writes it, paused: "+o.Paused+". "+o.How)
	}
	narrow := map[string]rbac.Reach{}
	running := map[string]bool{}
	for _, g := range w.grants {
		if ns, name, ok := g.Subject.Account(); ok {
			narrow[ns+"/"+name] = g.Reach
		}
	}
	for _, r := range w.workloads {
		running[r.account] = true
		weight := 45
		switch {
		case r.idle != "":
			weight = 10
		case r.schedule != "":
			weight = 60
		}
		if r.idle == "" {
			weight += map[bool]int{true: 10}[r.writes] + map[bool]int{true: 5}[r.frequent()]
			switch reach, ok := narrow[r.account]; {
			case ok && reach == rbac.Named:
				weight += 10
			case ok && reach == rbac.Resource:
				weight += 5
			}
		}
		add(weight, r.name, strings.TrimPrefix(r.String(), r.name+": "))
	}
	for _, g := range w.grants {
		ns, name, ok := g.Subject.Account()
		switch {
		case ok && running[ns+"/"+name]:
		case controlPlane(g):
			add(5, g.Subject.String(), "belongs to the control plane")
		case ok:
			add(25, g.Subject.String(), strings.TrimPrefix(grantText(g), g.Subject.String()+": ")+"; nothing in the cluster runs as it, but a token of it may be used elsewhere")
		default:
			add(20, g.Subject.String(), strings.TrimPrefix(grantText(g), g.Subject.String()+": ")+"; outside of the cluster")
		}
	}
	for _, e := range recent.unnamed(all) {
		all = append(all, suspect{"manager " + steps.Clip(e.Manager, 128), e.String() + " wrote it of late, and nothing of that name was found", 75})
	}
	slices.SortStableFunc(all, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name))
	})
	all = slices.DeleteFunc(all, func(s suspect) bool { return s.weight <= 5 })
	return all[:min(len(all), mostSuspects)]
}

// controlPlane tells the rights of the cluster's own parts by the bindings that
// every API server makes for itself.
func controlPlane(g rbac.Grant) bool {
	for by := range strings.SplitSeq(g.Binding, ", ") {
		if !strings.HasPrefix(by, "clusterrolebinding/system:") && !strings.HasPrefix(by, "rolebinding/kube-system/system:") && by != "clusterrolebinding/cluster-admin" {
			return false
		}
	}
	return true
}

// recent are the writers of the last ten minutes, by the object's books.
type recent []blame.Entry

func (w *writers) recent() recent {
	if w.absent {
		return nil
	}
	now, clockless := w.c.Now()
	entries, _ := blame.Entries(w.o)
	return slices.DeleteFunc(entries, func(e blame.Entry) bool {
		return e.Subresource == "status" || e.Manager == cluster.FieldManager || clockless != "" || e.At.IsZero() || now.Sub(e.At) > 10*time.Minute
	})
}

// names is the manager whose name an object of the list bears.
func (r recent) names(name string) string {
	last := name[strings.LastIndexByte(name, '/')+1:]
	for _, e := range r {
		if m := e.Manager; len(m) > 3 && !e.ByPerson() && (m == last || len(last) > 3 && (strings.Contains(m, last) || strings.Contains(last, m))) {
			return e.String()
		}
	}
	return ""
}

// unnamed are those that no suspect bears the name of. What calls itself kubectl
// may be anyone.
func (r recent) unnamed(all []suspect) []blame.Entry {
	var out []blame.Entry
	for _, e := range r {
		known := slices.ContainsFunc(all, func(s suspect) bool { return recent{e}.names(s.name) != "" })
		if !known && !e.ByPerson() && !e.Anonymous() && !slices.ContainsFunc(out, e.Same) {
			out = append(out, e)
		}
	}
	return out
}
