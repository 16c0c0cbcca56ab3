package kube

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"handrail/steps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// discoveryTrouble names the groups that discovery failed for, and why.
func discoveryTrouble(err error) string {
	var failed *discovery.ErrGroupDiscoveryFailed
	if !errors.As(err, &failed) {
		return "every group (" + steps.Clip(err.Error(), 300) + ")"
	}
	var out []string
	for gv, why := range failed.Groups {
		out = append(out, gv.String()+" ("+steps.Clip(why.Error(), 200)+")")
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// listable returns the resources that can be listed, one version each, without
// subresources and events, in order; trouble names what the server could not
// tell.
func (c *client) listable(namespaced bool) (all []resource, trouble string) {
	groups, lists, err := c.disco.ServerGroupsAndResources()
	if err != nil {
		trouble = discoveryTrouble(err)
	}
	preferred := map[string]bool{}
	for _, g := range groups {
		preferred[g.PreferredVersion.GroupVersion] = true
	}
	found := map[schema.GroupResource]resource{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			trouble = strings.Join([]string{trouble, "version " + steps.Clip(l.GroupVersion, 100)}, " ")
			continue
		}
		for _, r := range l.APIResources {
			if r.Namespaced != namespaced || strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || r.Name == "events" {
				continue
			}
			name := schema.GroupResource{Group: gv.Group, Resource: r.Name}
			if _, there := found[name]; !there || preferred[l.GroupVersion] {
				found[name] = servedAs(gv, r)
			}
		}
	}
	all = slices.SortedFunc(maps.Values(found), func(a, b resource) int { return strings.Compare(a.String(), b.String()) })
	return all, trouble
}

func servedAs(gv schema.GroupVersion, r metav1.APIResource) resource {
	return resource{group: gv.Group, version: gv.Version, plural: r.Name, kind: r.Kind, namespaced: r.Namespaced}
}
