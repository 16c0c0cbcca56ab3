// Package weaken says what a change of one object takes away or opens: a limit
// that is raised or gone, a rule that lets more through, a subject more, a guard
// that is looser, a script that does nothing any more. It compares the object
// before and after, so that it does not matter by which operations one becomes
// the other.
//
// It knows what the kinds of the control plane mean. Of every other kind it knows
// that what was there and is not there afterwards was taken away. Unsure means
// that it says so: no person is asked about what it passes over.
package weaken

import "strings"

// Sort is which of the two a change does.
type Sort string

// The sorts of changes, by the parameter of a gate that declares them.
const (
	Removes Sort = "removes"
	Widens  Sort = "widens"
)

// Change is one way in which an object is weaker afterwards.
type Change struct {
	Sort  Sort
	Path  string // what is concerned, as a JSON pointer
	Why   string
	Never bool // no declaration covers it
}

// Kind is what the object is.
type Kind struct{ Group, Kind string }

// Control reports whether objects of a kind are there to limit others, so that
// one that is deleted opens what it shut.
func Control(k Kind) bool {
	switch k.Kind {
	case "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget":
		return k.Group == "" || k.Group == "networking.k8s.io" || k.Group == "policy"
	}
	return guards(k.Group)
}

// guards are the groups whose objects decide over others.
func guards(group string) bool {
	for _, g := range []string{
		"admissionregistration.k8s.io", "kyverno.io", "gatekeeper.sh", "cilium.io", "projectcalico.org", "policy.networking.k8s.io", "security.istio.io", "kubewarden.io",
	} {
		if group == g || strings.HasSuffix(group, "."+g) {
			return true
		}
	}
	return false
}

// Covers reports whether a declaration, as /spec/hard/*, is about a change: about
// that place, or all below it. "/" is the whole object.
func Covers(declared string, c Change) bool {
	if c.Never {
		return false
	}
	if declared == "/" {
		return c.Path == "/"
	}
	want, have := strings.Split(declared, "/"), strings.Split(c.Path, "/")
	if declared == "" || want[0] != "" || len(want) < 2 || len(want) > len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && want[i] != "*" {
			return false
		}
	}
	return true
}

type judge struct {
	kind  Kind
	made  bool
	found []Change
}

func (j *judge) say(s Sort, path []string, why string) {
	j.found = append(j.found, Change{Sort: s, Path: pointer(path), Why: why})
}

func (j *judge) never(s Sort, path []string, why string) {
	j.found = append(j.found, Change{Sort: s, Path: pointer(path), Why: why, Never: true})
}

func pointer(path []string) string {
	var b strings.Builder
	for _, seg := range path {
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(seg, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
