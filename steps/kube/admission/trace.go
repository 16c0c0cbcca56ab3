package admission

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Hooks is one webhook configuration.
type Hooks struct {
	Name    string // as kubectl names it: validatingwebhookconfiguration/guard
	Entries []Webhook
}

// Bound is a policy with one of its bindings.
type Bound struct {
	Policy, Binding string // as kubectl names them
	Of              Policy
	By              Binding
	Params          []map[string]any // that the binding refers to
	NoParams        string           // why they are not known, "" where they are
}

// Config is what configures admission, as it was read.
type Config struct {
	MutatingPolicies, ValidatingPolicies []Bound
	MutatingHooks, ValidatingHooks       []Hooks
	Constraints                          []Constraint // of Gatekeeper, which its webhook holds a request against
}

// The phases of admission, in the order of the server.
const (
	Mutating   = "mutating"
	Validating = "validating"
)

// Row is one thing that a request may meet.
type Row struct {
	Phase   string
	Sort    Sort   // ByWebhook, ByPolicy, ByConstraint, ByLevel
	Name    string // configuration, policy or namespace
	Entry   string // name of the webhook, or the binding
	Service string // namespace/name that the webhook calls; its URL; "" for what the server does itself
	Match   Answer
	Why     string
	Fails   string        // closed refuses a request that it cannot judge, open lets it pass
	Wait    time.Duration // for a webhook: how long a request waits at most
	Again   bool          // it may be asked a second time, after others changed the object
	// Admits is what a policy makes of the object: no with what it says; unknown for a
	// webhook, which only a request can ask.
	Admits Answer
	Says   string
	Rule   string   // the expression that decides
	Acts   []string // what a binding does with a no: Deny, Warn, Audit
	// Exception names what takes the request out on purpose, and until when.
	Exception string
	Until     time.Time
	NoDryRun  bool // the server does not ask it for a dry run, and refuses that
	External  bool // it is asked outside of the cluster
}

// Denies reports whether the row is known to refuse the request.
func (r Row) Denies() bool {
	return r.Match == Yes && r.Admits == No && (r.Sort != ByPolicy || slices.Contains(r.Acts, "Deny"))
}

// Trace lists what a request meets, in the order in which the server asks: what may
// change it, one after the other in order of name, then what may refuse it.
func Trace(r Request, c Config) []Row {
	var rows []Row
	for _, b := range ordered(c.MutatingPolicies) {
		row := r.policy(Mutating, b)
		row.Again = b.Of.Reinvocation == "IfNeeded"
		rows = append(rows, row)
	}
	rows = append(rows, r.hooks(Mutating, c.MutatingHooks)...)
	changed := slices.ContainsFunc(rows, func(row Row) bool { return row.Match != No })
	rows = append(rows, r.levels()...)
	for _, b := range ordered(c.ValidatingPolicies) {
		row := r.policy(Validating, b)
		if changed && r.Partial != "" {
			row.unsure()
		}
		rows = append(rows, row)
	}
	rows = append(rows, r.hooks(Validating, c.ValidatingHooks)...)
	return append(rows, r.constraints(c.Constraints)...)
}

// unsure takes back what a policy makes of an object that others may change first.
func (row *Row) unsure() {
	const first = "what may change the object first may change that"
	if row.Match == Yes && row.Admits != Unknown {
		says := "as it was given, it is admitted"
		if row.Admits == No {
			says = "as it was given, it is refused (" + row.Says + ")"
		}
		row.Admits, row.Says = Unknown, says+"; "+first
	}
}

func ordered(list []Bound) []Bound {
	return slices.SortedFunc(slices.Values(list), func(a, b Bound) int {
		return cmp.Or(strings.Compare(a.Policy, b.Policy), strings.Compare(a.Binding, b.Binding))
	})
}

// Entries are the webhooks of one name, as a request that they see meets them.
func Entries(c Config, name string) []Row {
	any := func(phase string, all []Hooks) []Row {
		var rows []Row
		for _, row := range (Request{}).hooks(phase, all) {
			if row.Entry == name {
				row.Match, row.Why, row.Exception = Yes, "", ""
				rows = append(rows, row)
			}
		}
		return rows
	}
	return append(any(Mutating, c.MutatingHooks), any(Validating, c.ValidatingHooks)...)
}

func (r Request) hooks(phase string, all []Hooks) []Row {
	var rows []Row
	in := r.inputs()
	for _, h := range slices.SortedFunc(slices.Values(all), func(a, b Hooks) int { return strings.Compare(a.Name, b.Name) }) {
		for _, w := range h.Entries {
			row := Row{Phase: phase, Sort: ByWebhook, Name: h.Name, Entry: w.Name, Fails: fails(w.FailurePolicy), Wait: time.Duration(w.TimeoutSeconds) * time.Second, Admits: Unknown,
				Again: w.Reinvocation == "IfNeeded", NoDryRun: w.SideEffects == "Some" || w.SideEffects == "Unknown"}
			if row.Wait == 0 {
				row.Wait = 10 * time.Second // the default of admissionregistration.k8s.io/v1
			}
			if s := w.ClientConfig.Service; s != nil {
				row.Service = s.Namespace + "/" + s.Name
			} else {
				row.Service, row.External = w.ClientConfig.URL, true
			}
			row.Match, row.Why = r.meets(w.Rules, nil, w.NamespaceSelector, w.ObjectSelector, w.MatchPolicy)
			row.condition(in, w.MatchConditions)
			rows = append(rows, row)
		}
	}
	return rows
}

// condition narrows a match by conditions in CEL.
func (row *Row) condition(in Inputs, list []Condition) {
	if row.Match == No || len(list) == 0 {
		return
	}
	is, why := in.Conditions(list)
	switch {
	case is == No:
		row.Match, row.Why = No, why
		for _, c := range list {
			if until, ok := ExceptionUntil(c.Name); ok && in.evaluate(c.Expression).is == No {
				row.Exception, row.Until = c.Name, until
			}
		}
	case row.Match == Yes:
		row.Match, row.Why = is, why
	}
}

var exceptionName = regexp.MustCompile(`-until-([0-9]{4}-[0-9]{2}-[0-9]{2})$`)

// ExceptionName is the name of a match condition that takes one object out until a day:
// conditions have no other place for a date, and every tool shows their names.
func ExceptionName(of string, until time.Time) string {
	return "except-" + of + "-until-" + until.Format(time.DateOnly)
}

// ExceptionUntil reads the last day of an exception from the name of its condition.
func ExceptionUntil(name string) (time.Time, bool) {
	m := exceptionName.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, m[1])
	return day, err == nil
}

func fails(policy string) string {
	if policy == "Ignore" {
		return "open"
	}
	return "closed"
}

func (r Request) policy(phase string, b Bound) Row {
	row := Row{Phase: phase, Sort: ByPolicy, Name: b.Policy, Entry: b.Binding, Fails: fails(b.Of.FailurePolicy), Acts: b.By.ValidationActions}
	if row.Match, row.Why = r.sees(b); row.Match != No {
		r.judge(&row, b)
	}
	return row
}

// Misses reports whether a policy with its binding is known not to see the request, by
// rules and selectors alone: what its parameters are does not matter then.
func (r Request) Misses(b Bound) bool {
	is, _ := r.sees(b)
	return is == No
}

// sees says whether the rules and selectors of a policy and its binding take the request in.
func (r Request) sees(b Bound) (Answer, string) {
	c := b.Of.MatchConstraints
	if c == nil {
		return No, "it has no rules"
	}
	is, why := r.meets(c.ResourceRules, c.ExcludeResourceRules, c.NamespaceSelector, c.ObjectSelector, c.MatchPolicy)
	m := b.By.MatchResources
	if m == nil || is == No {
		return is, why
	}
	rules := m.ResourceRules
	if len(rules) == 0 {
		rules = []Rule{{Operations: []string{"*"}, APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*", "*/*"}}}
	}
	if bound, by := r.meets(rules, m.ExcludeResourceRules, m.NamespaceSelector, m.ObjectSelector, m.MatchPolicy); bound == No || bound == Unknown {
		return bound, "by its binding, " + by
	}
	return is, why
}

// judge evaluates conditions and demands of a policy, once for each of its parameters.
func (r Request) judge(row *Row, b Bound) {
	in := r.inputs()
	if b.Of.ParamKind == nil {
		r.judgeWith(row, b, in)
		return
	}
	switch {
	case b.NoParams != "":
		in.Hidden["params"] = b.NoParams
		r.judgeWith(row, b, in)
	case len(b.Params) == 0 && b.By.ParamRef != nil && b.By.ParamRef.NotFound == "Allow":
		row.Match, row.Why = No, "its parameters are not there, and its binding lets requests pass then"
	case len(b.Params) == 0:
		row.Admits, row.Says = No, "its parameters are not there"
		if row.Fails == "open" {
			row.Admits = Yes
		}
	default:
		worst, at := *row, -1
		for i, p := range b.Params {
			in.Values["params"] = p
			one := *row
			r.judgeWith(&one, b, in)
			if at < 0 || rank(one) > rank(worst) {
				worst, at = one, i
			}
		}
		*row = worst
	}
}

// rank orders rows by what they mean for the request.
func rank(r Row) int {
	switch {
	case r.Match == Yes && r.Admits == No:
		return 3
	case r.Match == Unknown || r.Match == Yes && r.Admits == Unknown:
		return 2
	case r.Match == Yes:
		return 1
	}
	return 0
}

func (r Request) judgeWith(row *Row, b Bound, in Inputs) {
	row.condition(in, b.Of.MatchConditions)
	if row.Match == No || row.Phase == Mutating {
		return
	}
	row.Admits, row.Says, row.Rule = in.Judge(b.Of.Variables, b.Of.Validations)
}

// withPods are the resources whose Pods meet the level, besides Pods.
var withPods = []string{"deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs", "replicationcontrollers", "podtemplates"}

// levels is the Pod Security of the namespace. The level enforced is for Pods alone:
// what makes Pods is admitted, and its Pods are refused later.
func (r Request) levels() []Row {
	pods := r.Group == "" && r.Resource == "pods" && (r.Subresource == "" || r.Subresource == "ephemeralcontainers")
	if !r.Namespaced || r.Operation == "DELETE" || !pods && !slices.Contains(withPods, r.Resource) {
		return nil
	}
	row := Row{Phase: Validating, Sort: ByLevel, Name: "namespace/" + r.Namespace, Match: Unknown, Admits: Unknown, Fails: "closed"}
	const enforce = "pod-security.kubernetes.io/enforce"
	level := r.Space[enforce]
	switch {
	case r.NoSpace != "":
		row.Why = "the labels of the namespace are not known: " + r.NoSpace
	case level == "":
		row.Entry, row.Why = "no level", "the namespace names no level: the server's own default holds, which no object shows, and which is privileged unless it was set"
	case level == "privileged":
		row.Entry, row.Match, row.Why = level, No, "the level privileged refuses nothing"
	case !pods:
		row.Entry, row.Match = levelOf(level, r.Space), No
		row.Why = "the level is enforced on Pods: this is admitted, and its Pods meet it"
	default:
		row.Entry, row.Match = levelOf(level, r.Space), Yes
		row.Why = "the server alone knows whom its configuration exempts"
	}
	return []Row{row}
}

func levelOf(level string, space map[string]string) string {
	return level + ":" + cmp.Or(space["pod-security.kubernetes.io/enforce-version"], "latest")
}

// Budget is the longest that the webhooks of a trace may hold a request: those that
// change it are asked one after the other, those that judge it at the same time.
func Budget(rows []Row) time.Duration {
	var sum, longest time.Duration
	changers := 0
	for _, r := range rows {
		if r.Phase == Mutating && r.Match != No {
			changers++
		}
	}
	for _, r := range rows {
		switch {
		case r.Match == No:
		case r.Phase == Validating:
			longest = max(longest, r.Wait)
		case r.Again && changers > 1:
			sum += 2 * r.Wait
		default:
			sum += r.Wait
		}
	}
	return sum + longest
}

// String is a row as one line.
func (r Row) String() string {
	what := r.Name
	if r.Entry != "" {
		what += ": " + r.Entry
	}
	text := fmt.Sprintf("%s %s, match %s", r.Phase, what, r.Match)
	if r.Why != "" {
		text += " (" + r.Why + ")"
	}
	if r.Exception != "" {
		text += ", exception " + r.Exception
	}
	if r.Match == No {
		return text
	}
	if r.Wait > 0 {
		text += fmt.Sprintf(", fails %s, waits up to %s", r.Fails, r.Wait)
	}
	switch r.Admits {
	case Yes:
		text += ", admits"
	case No:
		text += ", refuses: " + r.Says
		if r.Sort == ByPolicy && !slices.Contains(r.Acts, "Deny") {
			text += " (to " + strings.ToLower(strings.Join(r.Acts, ", ")) + ")"
		}
	case Unknown:
		if r.Says != "" {
			text += ", not known whether it refuses: " + r.Says
		}
	}
	return text
}
