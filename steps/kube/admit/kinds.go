package admit

import (
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// What a rehearsal comes to.
const (
	admitted    = "admitted"
	denied      = "denied"
	undecided   = "undecided"
	down        = "webhook-down"
	unrehearsed = "no-dry-run"
	forbidden   = "forbidden"
	invalid     = "invalid"
	refused     = "refused"
)

func results() []string {
	return []string{admitted, denied, undecided, down, unrehearsed, forbidden, invalid, refused}
}

// Kinds are the step kinds of this package.
func Kinds() []steps.Kind {
	file := steps.Field{Name: "file", Type: steps.Path, Doc: "manifest of the object as it is submitted, as YAML or JSON; without one the object that is there"}
	operation := steps.Field{Name: "operation", Type: steps.Enum, Values: []string{"create", "update"}, Default: "create", Doc: "which request: a creation, as controllers apply what is missing, or an update"}
	traceParams := func(more ...steps.Field) []steps.Field {
		list := cluster.ObjectParams(more...)
		for i := range list {
			list[i].Required = false
		}
		return append(list, steps.Field{Name: "constraint", Type: steps.String, Pattern: cluster.ObjectName, Doc: "name of a constraint of Gatekeeper that refused it, as the error quotes it"},
			steps.Field{Name: "webhook", Type: steps.String, Pattern: cluster.ObjectName, Doc: "name of one webhook, in place of an object: whether it refuses what it cannot judge"})
	}
	return []steps.Kind{
		{
			Name: "kube/admission", Class: steps.Probe, Facts: traceFacts(), Params: traceParams(file, operation),
			Doc:     "Traces the creation or update of one object through admission: the webhooks, policies, constraints of Gatekeeper and Pod Security level that it meets, in the order of the server, with why each does or does not see it, and whether it can be asked. Sends nothing.",
			Touches: []string{"gets the object and its namespace", "lists webhook configurations, admission policies and their bindings", "gets the parameters of policies", "gets the Services of webhooks and lists their EndpointSlices", "lists the constraints of Gatekeeper, and gets the template of the one that is named"},
			Reads:   func(e steps.Env) steps.Prober { return traceProbe{e} },
		},
		{
			Name: "kube/dry-run", Class: steps.Heavy, Facts: dryFacts(),
			Params:  cluster.ObjectParams(file, operation, steps.Field{Name: "peer", Type: steps.String, Pattern: cluster.ObjectName, Doc: "name of an object of the same kind and namespace that is known to be good"}),
			Doc:     "Rehearses the creation or update of one object by a server-side dry run, and that of a good peer for comparison. Nothing is stored; webhooks run. An outage of a webhook is told from a verdict.",
			Touches: []string{"gets the object and its peer", "creates or patches each with dryRun=All, which stores nothing and asks webhooks"},
			Layers:  []string{"rehearsal transport: reads, and writes with dryRun=All alone"},
			Reads:   func(e steps.Env) steps.Prober { return dryProbe{e} },
			Takes:   func(steps.Params) time.Duration { return 2 * time.Minute },
		},
	}
}

func traceFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there now"},
		{Name: "mutating", Type: steps.Strings, Doc: "what may change the request, in order: webhooks and policies that see it or may"},
		{Name: "validating", Type: steps.Strings, Doc: "what may refuse it, in the same form"},
		{Name: "refuses", Type: steps.Strings, Doc: "policies that are known to refuse it, each with what it says"},
		{Name: "admits", Type: steps.Bool, Doc: "true where each policy that denies is known to admit it or not to see it, false where one refuses it; unknown where one could not be judged. Webhooks are not asked, nor what a constraint of Gatekeeper makes of it"},
		{Name: "unsure", Type: steps.Strings, Doc: "those of which it is not known whether they see the request, and why"},
		{Name: "dead", Type: steps.Strings, Doc: "webhooks that see the request or may, and of which nothing answers"},
		{Name: "blocked", Type: steps.Bool, Doc: "whether one of these fails closed and sees the request for certain; unknown where one that fails closed may be dead, as outside of the cluster"},
		{Name: "exceptions", Type: steps.Strings, Doc: "exceptions that take the request out of a policy, with their last day"},
		{Name: "expired", Type: steps.Int, Doc: "exceptions among these whose last day is past"},
		{Name: "level", Type: steps.String, Doc: "Pod Security level that its namespace enforces, with its version; empty where it names none"},
		{Name: "budget", Type: steps.Duration, Doc: "the longest that webhooks may hold the request: those that change it one after the other, those that judge it together"},
		{Name: "constraint", Type: steps.String, Doc: "the constraint of Gatekeeper that was named, with its kind; empty where none is called so"},
		{Name: "constraint_resource", Type: steps.String, Doc: "its resource, as kubectl takes it"},
		{Name: "constraint_uid", Type: steps.Ident, Doc: "its UID"},
		{Name: "constraint_by", Type: steps.String, Doc: "who wrote it last, and when: a lead, never a proof"},
		{Name: "enforces", Type: steps.String, Doc: "what it does with a violation, as in deny, warn or dryrun"},
		{Name: "judges", Type: steps.String, Doc: "whom it judges: kinds, namespaces, excludedNamespaces, selectors"},
		{Name: "template", Type: steps.String, Doc: "the template that holds its Rego"},
		{Name: "template_generation", Type: steps.Int, Doc: "how often the spec of the template was written; 1 where it is as it was made"},
		{Name: "template_by", Type: steps.String, Doc: "who wrote the template last, and when"},
		{Name: "rego_by", Type: steps.String, Doc: "who wrote its Rego last, and when; unknown where the server does not say"},
		{Name: "rego_changed", Type: steps.Time, Doc: "when that was"},
		{Name: "rego_age", Type: steps.Duration, Doc: "how long ago that was, by the clock of this machine"},
		{Name: "complete", Type: steps.Bool, Doc: "true where everything was read; else unknown"},
	}
}

func dryFacts() []steps.Field {
	kinds := []string{"none", "policy", "webhook", "webhook-down", "no-dry-run", "podsecurity", "quota", "limitrange", "rbac"}
	return []steps.Field{
		{Name: "result", Type: steps.Enum, Values: results(), Doc: "admitted, or how it was not: denied by a verdict, undecided by a policy that could not be evaluated, webhook-down, no-dry-run where a webhook does not support rehearsals, forbidden to the account that asks, invalid by itself, else refused"},
		{Name: "denied_now", Type: steps.Bool, Doc: "whether admission refuses the object; unknown where nothing judged it"},
		{Name: "deny_kind", Type: steps.Enum, Values: kinds, Doc: "what refused it"},
		{Name: "source", Type: steps.String, Doc: "policy, constraint, webhook or level that refused it, empty where none did"},
		{Name: "policy", Type: steps.String, Doc: "name of the policy or constraint, empty where none is named"},
		{Name: "binding", Type: steps.String, Doc: "its binding, likewise"},
		{Name: "rule", Type: steps.String, Doc: "its rule or expression, likewise"},
		{Name: "webhook", Type: steps.String, Doc: "entry of a webhook configuration that refused it or could not be asked"},
		{Name: "reasons", Type: steps.Strings, Doc: "what is wrong with it, one reason each"},
		{Name: "said", Type: steps.String, Doc: "the words of the server, empty where it was admitted"},
		{Name: "warnings", Type: steps.Strings, Doc: "what the server warned of"},
		{Name: "peer_result", Type: steps.Enum, Values: append(results(), "none"), Doc: "the same of the good peer; none where no peer was named"},
		{Name: "denies_good", Type: steps.Bool, Doc: "whether admission refuses the good peer too; unknown without one, or where nothing judged it"},
		{Name: "peer_said", Type: steps.String, Doc: "the words of the server about the peer"},
	}
}
