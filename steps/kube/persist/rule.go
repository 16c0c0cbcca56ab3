package persist

import (
	"slices"
	"strings"
)

// counts reports whether a rule counts as writing, of one of its resources.
func counts(rule map[string]any, resource string) bool {
	verbs, reads := writing(rule)
	if slices.Contains(idle, resource) || strings.HasSuffix(resource, "/finalizers") {
		return false
	}
	return len(verbs) > 0 || reads && slices.Contains(connects, resource)
}

// reachesKubelets reports whether a rule lets its subject get what runs anything in
// any Pod, through the kubelet of its node.
func reachesKubelets(rule map[string]any, resource string) bool {
	return in(Texts(rule, "apiGroups"), "", "*") && in([]string{resource}, "*", "nodes/*", "*/proxy", "nodes/proxy") && in(Texts(rule, "verbs"), "get")
}

// writing are the verbs of a rule that change something, in order, and whether it
// lets its subject get.
func writing(rule map[string]any) (verbs []string, reads bool) {
	for _, v := range Texts(rule, "verbs") {
		if slices.Contains(writeVerbs, v) {
			verbs = append(verbs, v)
		}
	}
	slices.Sort(verbs)
	return verbs, in(Texts(rule, "verbs"), "get")
}

func in(list []string, any ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(any, s) })
}
