package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"

	"handrail/steps"
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

// Listable returns the resources that can be listed, one version each, without
// subresources and events, in order; trouble names what the server could not
// tell.
func (c *Client) Listable(namespaced bool) (all []Resource, trouble string) {
	groups, lists, err := c.disco.ServerGroupsAndResources()
	if err != nil {
		trouble = discoveryTrouble(err)
	}
	preferred := map[string]bool{}
	for _, g := range groups {
		preferred[g.PreferredVersion.GroupVersion] = true
	}
	found := map[schema.GroupResource]Resource{}
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
	all = slices.SortedFunc(maps.Values(found), func(a, b Resource) int { return strings.Compare(a.String(), b.String()) })
	return all, trouble
}

func servedAs(gv schema.GroupVersion, r metav1.APIResource) Resource {
	return Resource{Group: gv.Group, Version: gv.Version, Plural: r.Name, Kind: r.Kind, Namespaced: r.Namespaced}
}

// Capabilities are the version of the server and what it serves, as charts ask for it: GROUP/VERSION, and
// GROUP/VERSION/KIND. An error says that not all of it is known.
func (c *Client) Capabilities() (*version.Info, []string, error) {
	_, lists, err := c.disco.ServerGroupsAndResources()
	if err != nil {
		return nil, nil, fmt.Errorf("the server did not tell of %s", discoveryTrouble(err))
	}
	of, err := c.disco.ServerVersion()
	if err != nil {
		return nil, nil, fmt.Errorf("the server did not tell its version: %w", err)
	}
	has := map[string]bool{}
	for _, l := range lists {
		has[l.GroupVersion] = true
		for _, r := range l.APIResources {
			if !strings.Contains(r.Name, "/") {
				has[l.GroupVersion+"/"+r.Kind] = true
			}
		}
	}
	return of, slices.Sorted(maps.Keys(has)), nil
}

// Versions are those in which the server serves a resource, nil where it could not tell
// of every group.
func (c *Client) Versions(group, plural string) []string {
	_, lists, err := c.disco.ServerGroupsAndResources()
	if err != nil {
		return nil
	}
	var out []string
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err == nil && gv.Group == group && slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
			out = append(out, gv.Version)
		}
	}
	return out
}
