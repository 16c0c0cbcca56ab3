package kube

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"handrail/steps"
	"handrail/steps/kube/permit"
)

// TestEveryKindSaysItsRights: a new kind needs a row in permit, or a place among those that
// ask no cluster.
func TestEveryKindSaysItsRights(t *testing.T) {
	t.Parallel()
	rows := permit.Asks()
	for _, k := range Kinds() {
		asks := k.Name != "kube/node-report" && k.Name != "kube/repair-order"
		if got := slices.Contains(rows, k.Name); got != asks || (k.Rights != nil) != asks {
			t.Errorf("%s: a row %v, rights %v, want %v", k.Name, got, k.Rights != nil, asks)
		}
		rows = slices.DeleteFunc(rows, func(r string) bool { return r == k.Name })
	}
	if len(rows) > 0 {
		t.Errorf("%v are no kinds", rows)
	}
}

// TestKnownResources holds the table of resources against the real API server: their names,
// short names and scopes.
func TestKnownResources(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	paths := []string{"/api/v1"}
	for _, g := range w.admin(http.MethodGet, "/apis", nil)["groups"].([]any) {
		if strings.HasSuffix(g.(map[string]any)["name"].(string), ".example.com") {
			continue // of tests beside this one, with a server or without
		}
		paths = append(paths, "/apis/"+g.(map[string]any)["preferredVersion"].(map[string]any)["groupVersion"].(string))
	}
	custom := map[string]bool{} // of tests beside this one
	for _, crd := range w.admin(http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil)["items"].([]any) {
		custom[crd.(map[string]any)["metadata"].(map[string]any)["name"].(string)] = true
	}
	var served []permit.Resource
	for _, path := range paths {
		group := ""
		if rest, ok := strings.CutPrefix(path, "/apis/"); ok {
			group, _, _ = strings.Cut(rest, "/")
		}
		for _, one := range w.admin(http.MethodGet, path, nil)["resources"].([]any) {
			r := one.(map[string]any)
			name := r["name"].(string)
			if strings.Contains(name, "/") || custom[name+"."+group] || !slices.Contains(r["verbs"].([]any), any("list")) {
				continue
			}
			var short []string
			names, _ := r["shortNames"].([]any)
			for _, s := range names {
				short = append(short, s.(string))
			}
			served = append(served, permit.Resource{Plural: name, Group: group, Singular: strings.ToLower(r["kind"].(string)), Short: strings.Join(short, ","), Namespaced: r["namespaced"].(bool)})
		}
	}
	known := permit.Known()
	for _, r := range served {
		if !slices.Contains(known, r) {
			t.Errorf("the server has %+v", r)
		}
	}
	for _, r := range known {
		if !slices.Contains(served, r) {
			t.Errorf("the server does not have %+v", r)
		}
	}
}

// askedOf reads a request as what RBAC is asked for; ok is false for what every account may.
// What is in another namespace than that of the step has to be granted across them.
func askedOf(method, uri, space string) (g permit.Grant, ok bool) {
	u, err := url.Parse(uri)
	if err != nil {
		return g, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		g.Group, parts = parts[1], parts[3:]
	default:
		return g, false // discovery
	}
	g.Wide = true
	if parts[0] == "namespaces" && len(parts) > 2 {
		g.Wide, parts = parts[1] != space, parts[2:]
	}
	g.Resource = parts[0]
	if len(parts) > 1 {
		g.Name = parts[1]
	}
	if len(parts) > 2 {
		g.Resource += "/" + parts[2]
	}
	if strings.HasPrefix(g.Resource, "selfsubject") {
		return g, false
	}
	switch g.Verb = strings.ToLower(method); {
	case method == http.MethodPost:
		g.Verb = "create"
	case method == http.MethodGet && u.Query().Has("watch"):
		g.Verb = "watch"
	case method == http.MethodGet && g.Name == "":
		g.Verb = "list"
	}
	return g, true
}

// permitted collects what kinds declare, and whether runs of them asked for it.
type permitted struct {
	mu    sync.Mutex
	idle  map[string]map[permit.Grant]bool // declared for every run: whether none asked for it
	asked map[string]int
}

// hold holds the requests of one run against what its kind declares: each is declared, or
// of a verb for which only the run tells the resource.
func (p *permitted) hold(t *testing.T, k steps.Kind, in steps.Params, requests [][2]string, space string) {
	t.Helper()
	var needs []permit.Need
	for _, r := range k.Rights(in) {
		needs = append(needs, permit.Need{Step: k.Name, Right: r})
	}
	roles := permit.Merge(needs, permit.Roles{})
	grants, always, idle := roles.Grants(), roles.Always().Grants(), map[permit.Grant]bool{}
	for _, g := range always {
		idle[g] = g.Name == "" // what tells the cluster is asked for an incident alone
	}
	n := 0
	for _, r := range requests {
		g, ok := askedOf(r[0], r[1], space)
		if !ok {
			continue
		}
		n++
		uncovering := func(have permit.Grant) bool { return !have.Covers(g) }
		untold := slices.ContainsFunc(roles.Untold, func(n permit.Need) bool { return n.For == "" && slices.Contains(n.Verbs, g.Verb) })
		if by := slices.DeleteFunc(slices.Clone(always), uncovering); len(by) == 1 {
			idle[by[0]] = false
		}
		if !untold && !slices.ContainsFunc(grants, func(have permit.Grant) bool { return have.Covers(g) }) {
			t.Errorf("%s asks for %+v, which it does not declare", k.Name, g)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle, p.asked = map[string]map[permit.Grant]bool{}, map[string]int{}
	}
	p.asked[k.Name] += n
	was, again := p.idle[k.Name]
	if !again {
		p.idle[k.Name] = idle
		return
	}
	for g := range was {
		was[g] = was[g] && idle[g]
	}
}

// least says what is declared for every run of a kind, and that no run asked for.
func (p *permitted) least(t *testing.T) {
	t.Helper()
	for kind, idle := range p.idle {
		for g, is := range idle {
			if is {
				t.Errorf("%s declares %+v, and no run asked for that", kind, g)
			}
		}
		if p.asked[kind] == 0 && kind != "kube/contexts" {
			t.Errorf("%s asked for nothing", kind)
		}
	}
}
