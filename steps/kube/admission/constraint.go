package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The API groups of Gatekeeper: a template makes a kind, and objects of that kind are its constraints.
const (
	ConstraintGroup = "constraints.gatekeeper.sh"
	TemplateGroup   = "templates.gatekeeper.sh"
)

// ExceptionPrefix begins the annotations of a constraint that say which label leaves one object out, and until when, as in
// handrail/except-till-7-until-2026-12-11: a selector has no place for a date.
const ExceptionPrefix = "handrail/"

// Constraint is one of Gatekeeper. Its Rego is its template's, and is not evaluated here: only a request tells.
type Constraint struct {
	Name       string // as kubectl names it: k8srequiredlabels/tills-need-team
	Template   string // as kubectl names it
	Of         ConstraintSpec
	Exceptions map[string]string // by name, as ExceptionsIn reads them
}

// ConstraintSpec is what a constraint says of whom it judges, and what it does with a violation.
type ConstraintSpec struct {
	EnforcementAction string          `json:"enforcementAction"`
	Scoped            []ScopedAction  `json:"scopedEnforcementActions"`
	Match             ConstraintMatch `json:"match"`
}

// ScopedAction is what a constraint does at some of the points where Gatekeeper asks it.
type ScopedAction struct {
	Action string `json:"action"`
	Points []struct {
		Name string `json:"name"`
	} `json:"enforcementPoints"`
}

// ConstraintMatch says which objects a constraint judges. Each part that is not there takes all in.
type ConstraintMatch struct {
	Source             string                `json:"source"`
	Scope              string                `json:"scope"`
	Name               string                `json:"name"`
	Kinds              []ConstraintKinds     `json:"kinds"`
	Namespaces         []string              `json:"namespaces"`
	ExcludedNamespaces []string              `json:"excludedNamespaces"`
	LabelSelector      *metav1.LabelSelector `json:"labelSelector"`
	NamespaceSelector  *metav1.LabelSelector `json:"namespaceSelector"`
}

// ConstraintKinds are kinds of some API groups.
type ConstraintKinds struct {
	APIGroups []string `json:"apiGroups"`
	Kinds     []string `json:"kinds"`
}

// webhookPoint is where Gatekeeper asks a constraint for a request. At its others it audits, or writes admission policies.
const webhookPoint = "validation.gatekeeper.sh"

// Acts is what a constraint does with a request that violates it: deny where it says nothing. dryrun reports at the audit
// alone.
func (s ConstraintSpec) Acts() []string {
	if s.EnforcementAction != "scoped" {
		if s.EnforcementAction == "" {
			return []string{"deny"}
		}
		return []string{s.EnforcementAction}
	}
	var acts []string
	for _, a := range s.Scoped {
		for _, p := range a.Points {
			if (p.Name == "*" || p.Name == webhookPoint) && !slices.Contains(acts, a.Action) {
				acts = append(acts, a.Action)
			}
		}
	}
	return acts
}

// Denies reports whether a violation refuses the request.
func (s ConstraintSpec) Denies() bool { return slices.Contains(s.Acts(), "deny") }

// String tells of a match in words, "everything" where nothing narrows it.
func (m ConstraintMatch) String() string {
	var parts []string
	var kinds []string
	for _, k := range m.Kinds {
		kinds = append(kinds, strings.Join(orAll(k.Kinds), ", ")+" of "+groups(k.APIGroups))
	}
	add := func(what string, list []string) {
		if len(list) > 0 {
			parts = append(parts, what+" "+strings.Join(list, ", "))
		}
	}
	add("kinds", kinds)
	add("namespaces", m.Namespaces)
	add("excludedNamespaces", m.ExcludedNamespaces)
	for what, s := range map[string]*metav1.LabelSelector{"labelSelector": m.LabelSelector, "namespaceSelector": m.NamespaceSelector} {
		if s != nil {
			parts = append(parts, what+" "+shown(s))
		}
	}
	for what, v := range map[string]string{"name": m.Name, "scope": m.Scope, "source": m.Source} {
		if v != "" && v != "*" {
			parts = append(parts, what+" "+v)
		}
	}
	if len(parts) == 0 {
		return "everything"
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func orAll(list []string) []string {
	if len(list) == 0 {
		return []string{"*"}
	}
	return list
}

func groups(list []string) string {
	out := slices.Clone(orAll(list))
	for i, g := range out {
		if g == "" {
			out[i] = "core"
		}
	}
	return strings.Join(out, ", ")
}

// constraints are the rows of the constraints that Gatekeeper holds a request against, in order of name.
func (r Request) constraints(list []Constraint) []Row {
	var rows []Row
	for _, c := range slices.SortedFunc(slices.Values(list), func(a, b Constraint) int { return strings.Compare(a.Name, b.Name) }) {
		acts := c.Of.Acts()
		row := Row{Phase: Validating, Sort: ByConstraint, Name: c.Name, Entry: "of " + c.Template, Fails: "open", Admits: Unknown, Acts: acts,
			Says: "its action is " + strings.Join(acts, ", ") + ", and only a request tells"}
		if len(acts) == 0 {
			row.Says = "it acts on no request"
		}
		row.Match, row.Why = r.constrained(c.Of.Match)
		if row.Match == No {
			row.Exception, row.Until = c.exception(r)
		}
		rows = append(rows, row)
	}
	return rows
}

// exception names what leaves the request out on purpose: an annotation whose label it carries, where the selector of the
// constraint leaves that label out.
func (c Constraint) exception(r Request) (name string, until time.Time) {
	s := c.Of.Match.LabelSelector
	if s == nil || r.NoLabels != "" {
		return "", time.Time{}
	}
	without := c.Of.Match
	without.LabelSelector = nil
	if is, _ := r.constrained(without); is == No { // it would not see the request in any case, as one of another namespace
		return "", time.Time{}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Exceptions)) {
		key, value, ok := strings.Cut(c.Exceptions[name], "=")
		day, dated := ExceptionUntil(name)
		if v, has := r.Labels[key]; ok && dated && has && v == value && slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
			return e.Key == key && e.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(e.Values, value)
		}) {
			return name, day
		}
	}
	return "", time.Time{}
}

// constrained says whether a match takes the object of a request in, as Gatekeeper's own matching does (pkg/mutation/match).
func (r Request) constrained(m ConstraintMatch) (Answer, string) {
	space, spaced := r.Namespace, r.Namespaced
	isSpace := r.Group == "" && r.Resource == "namespaces"
	if isSpace {
		space, spaced = r.Name, true
	}
	if len(m.Kinds) > 0 && !slices.ContainsFunc(m.Kinds, func(k ConstraintKinds) bool { return some(orAll(k.Kinds), r.Kind) && some(orAll(k.APIGroups), r.Group) }) {
		return No, "its kinds leave " + r.Kind + " out"
	}
	switch {
	case m.Scope == "Cluster" && r.Namespaced, m.Scope == "Namespaced" && !r.Namespaced:
		return No, "its scope is " + m.Scope
	case spaced && len(m.Namespaces) > 0 && !slices.ContainsFunc(m.Namespaces, func(p string) bool { return wild(p, space) }):
		return No, "its namespaces leave " + space + " out"
	case spaced && slices.ContainsFunc(m.ExcludedNamespaces, func(p string) bool { return wild(p, space) }):
		return No, "its excludedNamespaces name " + space
	case m.Name != "" && !wild(m.Name, r.Name):
		return No, "its name is " + m.Name
	case m.Source == "Generated":
		return No, "it judges what a workload would make, and no request by itself"
	}
	is, why := Yes, ""
	for _, s := range []struct {
		what string
		by   *metav1.LabelSelector
		in   func() (Answer, string)
	}{
		{"namespaceSelector", m.NamespaceSelector, func() (Answer, string) { return selected(m.NamespaceSelector, r.spaceLabels) }},
		{"labelSelector", m.LabelSelector, func() (Answer, string) { return r.object(m.LabelSelector) }},
	} {
		if s.by == nil {
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

// wild reports whether a name fits one that may have a star at either end.
func wild(pattern, name string) bool {
	word, begins := strings.CutSuffix(pattern, "*")
	word, ends := strings.CutPrefix(word, "*")
	switch {
	case begins && ends:
		return strings.Contains(name, word)
	case begins:
		return strings.HasPrefix(name, word)
	case ends:
		return strings.HasSuffix(name, word)
	}
	return pattern == name
}

// ExceptionsIn are the exceptions that the annotations of a constraint tell of: by name, each with its label as key=value.
func ExceptionsIn(annotations map[string]string) map[string]string {
	out := map[string]string{}
	for key, text := range annotations {
		name, ours := strings.CutPrefix(key, ExceptionPrefix)
		if _, dated := ExceptionUntil(name); ours && dated {
			out[name] = text
		}
	}
	return out
}

// LabelException is the annotation by which a constraint says that it leaves out what carries one label, and its text. Names
// of annotations are short: a long name of an object is cut.
func LabelException(object, key, value string, until time.Time) (annotation, text string) {
	const most = 63 - len("except-") - len("-until-2006-01-02")
	object = strings.TrimRight(object[:min(len(object), most)], ".-")
	return ExceptionPrefix + ExceptionName(object, until), key + "=" + value
}

// ReadLabel reads key=value. The value is not empty: everything without a value would carry it.
func ReadLabel(text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" || value == "" {
		return "", "", fmt.Errorf("%q is no label: want key=value", text)
	}
	if _, err := labels.NewRequirement(key, "=", []string{value}); err != nil {
		return "", "", fmt.Errorf("%q is no label: %w", text, err)
	}
	return key, value, nil
}
