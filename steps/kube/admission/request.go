package admission

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Request is one write of one object.
type Request struct {
	Object
	Kind        string
	Operation   string // CREATE, UPDATE or DELETE
	Subresource string
	Namespace   string
	// Served are the versions in which the server serves the resource, nil where that
	// is not known.
	Served []string
	// Content is the object as it is sent, nil for a deletion; Old is what is there,
	// nil for a creation. Live namespaces are whole, for namespaceObject.
	Content, Old, LiveNamespace map[string]any
	// Sealed says that what the object holds as data and stringData is not known here.
	Sealed bool
	// Partial says why Content is not the whole of what admission sees, "" where it is.
	Partial string
}

// inputs are what expressions may look at, without parameters.
func (r Request) inputs() Inputs {
	kind := map[string]any{"group": r.Group, "version": r.Version, "kind": r.Kind}
	resource := map[string]any{"group": r.Group, "version": r.Version, "resource": r.Resource}
	in := Inputs{Partial: r.Partial, Sealed: r.Sealed, Hidden: map[string]string{}, Values: map[string]any{
		"request": map[string]any{"kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource, "subResource": r.Subresource, "requestSubResource": r.Subresource,
			"name": r.Name, "namespace": r.Namespace, "operation": r.Operation, "dryRun": false},
	}}
	in.set("object", r.Content, r.Operation != "DELETE")
	in.set("oldObject", r.Old, r.Operation != "CREATE")
	in.set("namespaceObject", r.LiveNamespace, r.Namespaced)
	return in
}

// set gives a variable its value: null where the request has none, hidden where it has
// one that is not known.
func (in Inputs) set(name string, v map[string]any, has bool) {
	switch {
	case !has:
		in.Values[name] = nil
	case v == nil:
		in.Hidden[name] = "it was not read"
	default:
		in.Values[name] = v
	}
}

// meets says whether rules and selectors take the request in, and why not.
func (r Request) meets(rules, except []Rule, space, labelled *metav1.LabelSelector, policy string) (Answer, string) {
	if r.Exempt() {
		return No, "what configures admission is seen by none"
	}
	is, why := r.rules(rules, policy)
	if is == No {
		return No, "no rule of it is for " + strings.ToLower(r.Operation) + " of " + r.about()
	}
	if out, _ := r.rules(except, policy); out == Yes {
		return No, "a rule of it leaves " + r.about() + " out"
	} else if out == Unknown {
		is, why = Unknown, "whether a rule of it leaves it out is not known"
	}
	for _, s := range []struct {
		what string
		by   *metav1.LabelSelector
		in   func() (Answer, string)
	}{
		{"namespaceSelector", space, func() (Answer, string) { return selected(space, r.spaceLabels) }},
		{"objectSelector", labelled, func() (Answer, string) { return r.object(labelled) }},
	} {
		if s.by == nil || len(s.by.MatchLabels)+len(s.by.MatchExpressions) == 0 {
			continue
		}
		switch a, reason := s.in(); a {
		case No:
			return No, "its " + s.what + " leaves it out: " + shown(s.by)
		case Unknown:
			is, why = Unknown, "its "+s.what+" cannot be judged: "+reason
		}
	}
	return is, why
}

func (r Request) about() string {
	if r.Subresource != "" {
		return r.Resource + "/" + r.Subresource
	}
	return r.Resource
}

// rules judges the rules: by default one for another version that the server serves of
// the same resource sees the request too.
func (r Request) rules(rules []Rule, policy string) (Answer, string) {
	is, why := No, ""
	for _, rule := range rules {
		if !rule.sees(r.Operation, r.Subresource, r.Object) {
			continue
		}
		switch {
		case some(rule.APIVersions, r.Version):
			return Yes, ""
		case policy == "Exact":
		case r.Served == nil:
			is, why = Unknown, fmt.Sprintf("its rule is for %s, and which versions are served is not known", strings.Join(rule.APIVersions, ", "))
		case slices.ContainsFunc(r.Served, func(v string) bool { return some(rule.APIVersions, v) }):
			return Yes, ""
		}
	}
	return is, why
}

// object: an update is seen where the object before or after it is selected.
func (r Request) object(s *metav1.LabelSelector) (Answer, string) {
	is, why := selected(s, func() (map[string]string, string) { return r.Labels, r.NoLabels })
	if is == Yes || r.Operation != "UPDATE" || r.Old == nil {
		return is, why
	}
	return selected(s, func() (map[string]string, string) { return labelsIn(r.Old), "" })
}

func labelsIn(o map[string]any) map[string]string {
	meta, _ := o["metadata"].(map[string]any)
	list, _ := meta["labels"].(map[string]any)
	out := map[string]string{}
	for k, v := range list {
		out[k], _ = v.(string)
	}
	return out
}

func selected(s *metav1.LabelSelector, of func() (map[string]string, string)) (Answer, string) {
	set, why := of()
	if why == "-" {
		return Yes, ""
	}
	if why != "" {
		return Unknown, why
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return Unknown, err.Error()
	}
	if selector.Matches(labels.Set(set)) {
		return Yes, ""
	}
	return No, ""
}

// shown is a selector as kubectl prints it.
func shown(s *metav1.LabelSelector) string { return metav1.FormatLabelSelector(s) }
