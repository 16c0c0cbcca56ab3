package centre

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/webhook"
)

// refused finds what refuses requests and is no custom policy: webhooks that fail
// closed and have nothing behind them, API services that do not answer, and the quotas,
// limits, Pod Security levels, accounts and namespaces that the Warnings of the last hour name.
func (s *Centre) refused(ctx context.Context, w *answer) {
	s.deadWebhooks(ctx, w)
	s.deadAPIs(ctx, w)
	denials := map[string]*denial{}
	r := cluster.Resource{Version: "v1", Plural: "events", Kind: "Event", Namespaced: true}
	s.every(ctx, w, r, cluster.AsJSON, url.Values{"fieldSelector": {"type=Warning"}}, func(o cluster.Object) {
		message := textIn(o, "message")
		if _, _, policy := deniedBy(message); policy {
			return // of the question about policies
		}
		by, name := podstate.RefusedBy(message)
		if by == podstate.ByOther {
			return
		}
		who := map[string]string{podstate.ByAccount: "rights of an account", podstate.ByLimits: "limit range", podstate.ByNamespace: "terminating namespace", podstate.ByPolicy: "policy"}[by]
		if who == "" {
			who = by
		}
		if name != "" {
			who += " " + steps.Clip(name, 253)
		}
		if by != podstate.ByWebhook && by != podstate.ByPolicy {
			who += " in namespace " + steps.Clip(textIn(o, "involvedObject", "namespace"), 63)
		}
		d := denials[who]
		if d == nil {
			d = &denial{}
			if strings.Contains(message, "failed calling webhook") {
				d.webhook = name
			}
			denials[who] = d
		}
		d.add(o, message)
	})
	for _, who := range slices.Sorted(maps.Keys(denials)) {
		row := denials[who].row(s.c, who)
		row.What = fmt.Sprintf("refused %d times, last %s", denials[who].times, steps.Clip(denials[who].object, 150))
		if hook := denials[who].webhook; hook != "" {
			row.Runbook, row.Params = bookOfWebhooks, map[string]string{"webhook": hook}
		}
		w.row(row)
	}
}

// bookOfWebhooks is the runbook for a webhook that cannot be asked.
const bookOfWebhooks = "admission-denied"

// backend is the service that a webhook calls.
type backend struct{ namespace, name string }

// closed is a webhook that refuses what it cannot judge.
type closed struct {
	of   cluster.Resource
	in   cluster.Object // the configuration
	name string
	to   backend
}

// deadWebhooks finds webhooks that refuse what they cannot judge, and whose service
// is absent or has no endpoint that is ready. That an endpoint is ready is no answer: how many
// are not known to give one is said too, since nothing is asked of them here.
func (s *Centre) deadWebhooks(ctx context.Context, w *answer) {
	var all []closed
	for _, r := range webhook.Resources() {
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
			hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
			for _, item := range hooks {
				hook, _ := item.(map[string]any)
				name, _ := hook["name"].(string)
				policy, _ := hook["failurePolicy"].(string)
				space, _, _ := unstructured.NestedString(hook, "clientConfig", "service", "namespace")
				service, _, _ := unstructured.NestedString(hook, "clientConfig", "service", "name")
				if policy != "Ignore" {
					all = append(all, closed{of: r, in: o, name: name, to: backend{space, service}})
				}
			}
		})
	}
	known := map[backend]string{{}: ""} // a URL outside of the cluster
	var unasked []string
	for _, hook := range all {
		why, ok := known[hook.to]
		if !ok {
			var err error
			if why, err = webhook.Unserved(ctx, s.c, hook.to.namespace, hook.to.name); err != nil {
				w.gap("what is behind service "+hook.to.namespace+"/"+hook.to.name, lateError(ctx, s.c, err))
			}
			known[hook.to] = why
		}
		if why == "" {
			unasked = append(unasked, steps.Clip(hook.name, 100))
			continue
		}
		w.row(steps.Standing{Level: steps.Critical, Where: hook.of.Label("", hook.in.GetName()), Since: hook.in.GetCreationTimestamp().Time, Owner: keptBy(hook.in),
			What:    fmt.Sprintf("webhook %s fails closed, and %s", steps.Clip(hook.name, 100), why),
			Detail:  "Each request that it selects is refused until its service answers.",
			Runbook: bookOfWebhooks, Params: map[string]string{"webhook": hook.name},
			Command: s.c.Kubectl(hook.to.namespace, "get", "endpointslices", "-l", "kubernetes.io/service-name="+hook.to.name)})
	}
	if len(unasked) > 0 {
		w.row(steps.Standing{Level: steps.Info, Where: "webhooks that fail closed",
			What:    fmt.Sprintf("%d are there and are not asked here; a wrong answer refuses too", len(unasked)),
			Detail:  "They are " + steps.Clip(strings.Join(unasked, ", "), 2000) + ". A request that one of them refuses for want of an answer says `failed calling webhook`; paste that error here.",
			Command: s.c.Kubectl("", "get", "events", "-A", "--field-selector", "type=Warning")})
	}
}

// deadAPIs finds API services that the server cannot reach.
func (s *Centre) deadAPIs(ctx context.Context, w *answer) {
	s.every(ctx, w, cluster.APIServices(), cluster.AsJSON, nil, func(o cluster.Object) {
		if row, is := deadAPI(o); is {
			row.Where, row.Command = cluster.APIServices().Label("", o.GetName()), s.get(cluster.APIServices(), o)
			w.row(row)
		}
	})
}

// deadAPI is the row of an API service that another server serves and that is not available.
func deadAPI(o cluster.Object) (steps.Standing, bool) {
	available := conditionsOf(o)["Available"]
	service := textIn(o, "spec", "service", "name")
	if available.status != "False" || service == "" {
		return steps.Standing{}, false
	}
	return steps.Standing{Level: steps.Critical, Since: available.since, Owner: keptBy(o),
		What: saying(fmt.Sprintf("its API does not answer, served by service %s/%s", steps.Clip(textIn(o, "spec", "service", "namespace"), 63), steps.Clip(service, 253)), available.message),
		Detail: "Each request for its API is refused, and no namespace of this cluster can be deleted, until its service answers or the APIService is deleted. " +
			available.message}, true
}
