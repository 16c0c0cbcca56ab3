package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// cachedDiscovery keeps what a server said that it serves. client-go asks a dead API group
// again at every look-up, and the mapper knows no context: with told one
// question is asked, within the time of the probe.
type cachedDiscovery struct {
	discovery.CachedDiscoveryInterface

	mu     sync.Mutex
	known  bool
	groups []*metav1.APIGroup
	lists  []*metav1.APIResourceList
	err    error // names the groups that did not answer
}

// ServerGroupsAndResources implements discovery.DiscoveryInterface. It asks
// within askTime where it has not been asked before.
func (t *cachedDiscovery) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return t.ask(context.Background())
}

func (t *cachedDiscovery) ask(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known {
		return t.groups, t.lists, t.err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	groups, lists, err := discovery.ToDiscoveryInterfaceWithContext(t.CachedDiscoveryInterface).ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, nil, ctx.Err() // groups that had no time to answer are not dead
	}
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, nil, err
	}
	if len(lists) == 0 && err == nil {
		return nil, nil, errNoAPI
	}
	err = withMissing(lists, err)
	t.known, t.groups, t.lists, t.err = true, groups, lists, err
	return groups, lists, err
}

// errNoAPI says that what answered is no API server, or does not
// show this user what it serves.
var errNoAPI = errors.New("it names nothing that it serves: it is no API server, or hides that from this user")

// withMissing names the half of the API of which nothing was listed: taken at
// its word, every kind of that half would be proven not to exist.
func withMissing(lists []*metav1.APIResourceList, err error) error {
	var core, named bool
	for _, l := range lists {
		core = core || !strings.Contains(l.GroupVersion, "/")
		named = named || strings.Contains(l.GroupVersion, "/")
	}
	if core && named {
		return err
	}
	failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	failed = maps.Clone(failed)
	if failed == nil {
		failed = map[schema.GroupVersion]error{}
	}
	if !core {
		failed[schema.GroupVersion{Version: "v1"}] = errNoAPI
	}
	if !named {
		failed[schema.GroupVersion{Group: "apis"}] = errNoAPI
	}
	return &discovery.ErrGroupDiscoveryFailed{Groups: failed}
}

// Discover learns what the server serves. Groups whose server is dead are left
// out; silent names them.
func (c *Client) Discover(ctx context.Context) error {
	_, _, err := c.told.ask(ctx)
	if discovery.IsGroupDiscoveryFailedError(err) {
		return nil
	}
	return err
}

// Silent names the API groups that did not say what they serve, in order.
func (c *Client) Silent() []string {
	_, _, err := c.disco.ServerGroupsAndResources()
	failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	var out []string
	for gv := range failed {
		out = append(out, gv.String())
	}
	slices.Sort(out)
	return out
}
