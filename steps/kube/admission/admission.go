// Package admission says what a request meets on its way into an API server, and
// reads what the server says when it refuses one.
//
// [Webhook.Matches] and [Policy.Matches] say which creations and updates of an object a
// webhook or a policy may see, from any account. [Trace] follows one request: what
// may change it, then what may refuse it, in the order of the server, with conditions
// and demands in CEL evaluated on what is known. What is not known, or not evaluated
// here, is [Unknown] and never a guess. [ReadDenial] traces a refusal to what refused.
// The package reads nothing by itself.
package admission

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Group is the API group of what configures admission.
const Group = "admissionregistration.k8s.io"

// Object is what a request is about.
type Object struct {
	Group, Version, Resource string
	Namespaced               bool
	Name                     string
	Labels                   map[string]string
	NoLabels                 string // why its labels are not known, "" where they are
	// Space are the labels of its namespace; nil with NoSpace where they could
	// not be read.
	Space   map[string]string
	NoSpace string
}

// Rule says which requests are meant.
type Rule struct {
	Operations    []string `json:"operations"`
	APIGroups     []string `json:"apiGroups"`
	APIVersions   []string `json:"apiVersions"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
	Scope         string   `json:"scope"`
}

// Condition is one expression in CEL.
type Condition struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// Webhook is one entry of a webhook configuration.
type Webhook struct {
	Name              string                `json:"name"`
	Rules             []Rule                `json:"rules"`
	FailurePolicy     string                `json:"failurePolicy"`
	MatchPolicy       string                `json:"matchPolicy"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
	ObjectSelector    *metav1.LabelSelector `json:"objectSelector"`
	MatchConditions   []Condition           `json:"matchConditions"`
	TimeoutSeconds    int                   `json:"timeoutSeconds"`
	SideEffects       string                `json:"sideEffects"`
	Reinvocation      string                `json:"reinvocationPolicy"` // of a mutating one
	ClientConfig      struct {
		URL     string `json:"url"`
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			Path      string `json:"path"`
		} `json:"service"`
	} `json:"clientConfig"`
}

// Calls names whom the webhook asks.
func (w Webhook) Calls() string {
	if s := w.ClientConfig.Service; s != nil {
		return "service/" + s.Namespace + "/" + s.Name
	}
	return w.ClientConfig.URL
}

// Resources are the constraints of a policy or of its binding.
type Resources struct {
	ResourceRules        []Rule                `json:"resourceRules"`
	ExcludeResourceRules []Rule                `json:"excludeResourceRules"`
	NamespaceSelector    *metav1.LabelSelector `json:"namespaceSelector"`
	ObjectSelector       *metav1.LabelSelector `json:"objectSelector"`
	MatchPolicy          string                `json:"matchPolicy"`
}

// Policy is an admission policy that the server evaluates by itself.
type Policy struct {
	MatchConstraints *Resources  `json:"matchConstraints"`
	MatchConditions  []Condition `json:"matchConditions"`
	FailurePolicy    string      `json:"failurePolicy"`
	ParamKind        *struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	} `json:"paramKind"`
	Variables    []Variable   `json:"variables"`
	Validations  []Validation `json:"validations"` // of a validating one
	Reinvocation string       `json:"reinvocationPolicy"`
}

// Binding puts a policy into effect.
type Binding struct {
	PolicyName        string     `json:"policyName"`
	MatchResources    *Resources `json:"matchResources"`
	ValidationActions []string   `json:"validationActions"`
	ParamRef          *struct {
		Name      string                `json:"name"`
		Namespace string                `json:"namespace"`
		Selector  *metav1.LabelSelector `json:"selector"`
		NotFound  string                `json:"parameterNotFoundAction"`
	} `json:"paramRef"`
}

// Match says which requests are seen.
type Match struct {
	Operations []string // CREATE and UPDATE, those that match
	Scale      []string // the same of the scale subresource
	Maybe      []string // why it may not see them after all
	Wild       bool     // by a star for the resource
}

// String tells of a match in words.
func (m Match) String() string {
	var ops []string
	for _, op := range m.Operations {
		ops = append(ops, strings.ToLower(op))
	}
	for _, op := range m.Scale {
		ops = append(ops, strings.ToLower(op)+" of scale")
	}
	text := "on " + strings.Join(ops, ", ")
	if len(m.Maybe) > 0 {
		text += ", may match: " + strings.Join(m.Maybe, "; ")
	}
	return text
}

// Exempt reports whether no webhook and no policy ever sees requests about a resource:
// what configures admission can always be repaired.
func Exempt(group, resource string) bool {
	return group == Group && (strings.HasSuffix(resource, "webhookconfigurations") || strings.HasSuffix(resource, "admissionpolicies") || strings.HasSuffix(resource, "admissionpolicybindings"))
}

// Exempt is that of the resource of an object.
func (o Object) Exempt() bool { return Exempt(o.Group, o.Resource) }

// Matches says which creations and updates of o the webhook sees.
func (w Webhook) Matches(o Object) (Match, bool) {
	return o.match(w.Rules, nil, w.NamespaceSelector, w.ObjectSelector, w.MatchPolicy, w.MatchConditions)
}

// Matches says which creations and updates of o a bound policy sees.
func (p Policy) Matches(b Binding, o Object) (Match, bool) {
	if p.MatchConstraints == nil {
		return Match{}, false
	}
	c := p.MatchConstraints
	m, ok := o.match(c.ResourceRules, c.ExcludeResourceRules, c.NamespaceSelector, c.ObjectSelector, c.MatchPolicy, p.MatchConditions)
	if !ok || b.MatchResources == nil {
		return m, ok
	}
	// A binding can narrow what its policy sees, and nothing else.
	r := b.MatchResources
	rules := r.ResourceRules
	if len(rules) == 0 {
		rules = []Rule{{Operations: []string{"*"}, APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*", "*/*"}}}
	}
	n, ok := o.match(rules, r.ExcludeResourceRules, r.NamespaceSelector, r.ObjectSelector, r.MatchPolicy, nil)
	m.Operations = both(m.Operations, n.Operations)
	m.Scale = both(m.Scale, n.Scale)
	m.Maybe = append(m.Maybe, n.Maybe...)
	return m, ok && len(m.Operations)+len(m.Scale) > 0
}

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func (o Object) match(rules, except []Rule, space, labelled *metav1.LabelSelector, policy string, conditions []Condition) (Match, bool) {
	if o.Exempt() {
		return Match{}, false
	}
	var m Match
	for _, op := range []string{"CREATE", "UPDATE"} {
		for _, sub := range []string{"", "scale"} {
			i := slices.IndexFunc(rules, func(r Rule) bool { return r.sees(op, sub, o) })
			if i < 0 || sub != "" && op != "UPDATE" || slices.ContainsFunc(except, func(r Rule) bool { return r.sees(op, sub, o) }) {
				continue
			}
			m.Wild = m.Wild || rules[i].wild()
			if policy == "Exact" && !some(rules[i].APIVersions, o.Version) {
				m.Maybe = append(m.Maybe, "it sees other versions of "+o.Resource+" alone")
			}
			if sub == "" {
				m.Operations = append(m.Operations, op)
			} else {
				m.Scale = append(m.Scale, op)
			}
		}
	}
	if len(m.Operations)+len(m.Scale) == 0 {
		return Match{}, false
	}
	m.Maybe = slices.Compact(m.Maybe)
	if ok := m.selects("namespace", o.spaceLabels, space); !ok {
		return Match{}, false
	}
	if ok := m.selects("object", func() (map[string]string, string) { return o.Labels, o.NoLabels }, labelled); !ok {
		return Match{}, false
	}
	if len(conditions) > 0 {
		var names []string
		for _, c := range conditions {
			names = append(names, c.Name)
		}
		m.Maybe = append(m.Maybe, "it has conditions ("+strings.Join(names, ", ")+")")
	}
	return m, true
}

// spaceLabels are what a namespace selector looks at: nothing for what has no
// namespace, but for namespaces themselves.
func (o Object) spaceLabels() (map[string]string, string) {
	switch {
	case o.Namespaced:
		return o.Space, o.NoSpace
	case o.Group == "" && o.Resource == "namespaces":
		return o.Labels, ""
	}
	return nil, "-"
}

func (m *Match) selects(what string, of func() (map[string]string, string), s *metav1.LabelSelector) bool {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return true
	}
	set, why := of()
	switch {
	case why == "-":
		return true
	case why != "":
		m.Maybe = append(m.Maybe, "the labels of the "+what+" are not known: "+why)
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		m.Maybe = append(m.Maybe, fmt.Sprintf("its %s selector cannot be read", what))
		return true
	}
	return selector.Matches(labels.Set(set))
}

// sees: the version does not matter. By default a rule for one version of a
// resource sees requests in all others.
func (r Rule) sees(op, sub string, o Object) bool {
	switch {
	case !some(r.Operations, op), !some(r.APIGroups, o.Group), r.Scope == "Cluster" && o.Namespaced, r.Scope == "Namespaced" && !o.Namespaced:
		return false
	case len(r.ResourceNames) > 0 && !slices.Contains(r.ResourceNames, o.Name):
		return false
	}
	for _, in := range r.Resources {
		resource, below, _ := strings.Cut(in, "/")
		if (resource == "*" || resource == o.Resource) && (below == "*" || below == sub) {
			return true
		}
	}
	return false
}

func (r Rule) wild() bool {
	return slices.Contains(r.Resources, "*") || slices.Contains(r.Resources, "*/*")
}

func some(list []string, word string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, word)
}
