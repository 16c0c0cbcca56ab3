package writers

import (
	"slices"
	"testing"
)

// TestTopmost: a Pod is left out for a parent that is in the list, and for no
// other reason.
func TestTopmost(t *testing.T) {
	t.Parallel()
	got := topmost([]workload{
		{name: "deployment/a/web", account: "a/x"},
		{name: "pod/a/web-1-2", account: "a/x", parent: "replicaset/a/web-1"},
		{name: "pod/a/liar", account: "a/x", parent: "deployment/a/none"},
		{name: "pod/a/old", account: "a/y", parent: "replicaset/a/web-0"},
		{name: "pod/a/db-1", account: "a/x", parent: "cluster/a/db"},
		{name: "pod/a/db-2", account: "a/x", parent: "cluster/a/db"},
		{name: "cronjob/a/c", account: "a/x"},
		{name: "job/a/c-1", account: "a/x", parent: "cronjob/a/c"},
		{name: "pod/a/bare", account: "a/x"},
	})
	var names []string
	for _, r := range got {
		names = append(names, r.name)
	}
	want := []string{"deployment/a/web", "deployment/a/none", "replicaset/a/web-0", "cluster/a/db", "cronjob/a/c", "pod/a/bare"}
	if !slices.Equal(names, want) {
		t.Errorf("topmost() = %q, want %q", names, want)
	}
}
