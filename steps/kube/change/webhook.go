package change

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/object"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// isWebhooks tells the two kinds of webhook configuration.
func isWebhooks(r cluster.Resource) bool {
	return r.Group == "admissionregistration.k8s.io" && (r.Kind == "ValidatingWebhookConfiguration" || r.Kind == "MutatingWebhookConfiguration")
}

// webhookDeleteGate deletes one webhook configuration.
type webhookDeleteGate struct{ deleteGate }

// Preview implements steps.Gater.
func (g webhookDeleteGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return unmoved(ctx, in, func() (steps.Preview, error) { return g.preview(ctx, in, out, floors.webhookDelete) })
}

func (f floors) webhookDelete(s *subject, p *steps.Preview) {
	if !f.webhooks(s) {
		return
	}
	doc, err := patch.Decode(s.o.Raw)
	if err != nil {
		f.unmet("read it again", "%s: %v.", s.t, err)
		return
	}
	entries := webhookEntries(doc)
	for _, e := range entries {
		p.Shown = append(p.Shown, steps.KV{Key: "protects", Value: e.String()})
	}
	p.Shown = append(p.Shown, servedBy(s.o, entries)...)
	all := "the one webhook"
	if len(entries) != 1 {
		all = fmt.Sprintf("all %d webhooks", len(entries))
	}
	p.Effect = fmt.Sprintf("take away %s of %s in the whole cluster: nothing is checked or changed by it any more. %s",
		all, s.t, "Who installed it may write it again within minutes.")
	p.Undo = "It can be made again from its copy, under a new UID."
	p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("either %s is put back, or its installer stops doing so; until then nothing enforces what it enforced", s.t)}}
}

// webhooks: the object is a webhook configuration.
func (f floors) webhooks(s *subject) bool {
	if isWebhooks(s.t.Resource) {
		return true
	}
	f.unmet("name a validatingwebhookconfiguration or a mutatingwebhookconfiguration", "%s is not a webhook configuration.", s.t)
	return false
}

// webhookEntry is one webhook of a configuration.
type webhookEntry struct {
	index   int
	name    string
	rules   []string // operations and resources
	policy  string   // failurePolicy
	place   string   // whom it asks
	exempts string   // selectors, "" for none
}

func (e webhookEntry) String() string {
	return fmt.Sprintf("%s: %s; %s; where it cannot be asked: %s; asks %s", steps.Clip(e.name, 200), steps.Clip(report.OrNothing(strings.Join(e.rules, ", ")), 300), cmp.Or(e.exempts, "in every namespace"), e.policy, e.place)
}

func webhookEntries(doc map[string]any) []webhookEntry {
	list, _ := doc["webhooks"].([]any)
	var out []webhookEntry
	for i, item := range list {
		m, _ := item.(map[string]any)
		e := webhookEntry{index: i, policy: cmp.Or(textAt(m, "/failurePolicy"), "Fail"), name: textAt(m, "/name")}
		rules, _ := m["rules"].([]any)
		for _, rule := range rules {
			r, _ := rule.(map[string]any)
			e.rules = append(e.rules, strings.Join(words(r["operations"]), "/")+" of "+strings.Join(words(r["resources"]), "/")+" in "+report.OrNothing(strings.Join(words(r["apiGroups"]), "/")))
		}
		var limits []string
		for _, key := range []string{"namespaceSelector", "objectSelector", "matchConditions"} {
			if v := m[key]; !act.Vacant(v) {
				limits = append(limits, key+" "+steps.Clip(object.ShowValue(v), 150))
			}
		}
		e.exempts = strings.Join(limits, ", ")
		e.place = "an unknown place"
		if name := textAt(m, "/clientConfig/service/name"); name != "" {
			e.place = "service/" + textAt(m, "/clientConfig/service/namespace") + "/" + name
		} else if u, err := url.Parse(textAt(m, "/clientConfig/url")); err == nil && u.Host != "" {
			e.place = u.Scheme + "://" + u.Host
		}
		out = append(out, e)
	}
	return out
}

func textAt(v any, pointer string) string {
	if m, is := v.(manifest); is {
		v = map[string]any(m)
	}
	got, _ := patch.Get(v, pointer)
	s, _ := got.(string)
	return s
}

func words(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		out = append(out, steps.Clip(fmt.Sprint(item), 60))
	}
	return out
}

// servedBy says whose the webhooks are, as far as the configuration tells.
func servedBy(o cluster.Object, entries []webhookEntry) []steps.KV {
	var places []string
	for _, e := range entries {
		if !slices.Contains(places, e.place) {
			places = append(places, e.place)
		}
	}
	m := owner.MarkersOf(o)
	return []steps.KV{{Key: "asks", Value: report.OrNothing(steps.Clip(strings.Join(places, ", "), 300))},
		{Key: "managed by", Value: report.OrNothing(steps.Clip(cmp.Or(m.ManagedBy, m.OwnerValue, m.Release), 200))},
		{Key: "written by", Value: report.OrNothing(strings.TrimPrefix(strings.Trim((act.Sighting{ObjectMeta: metav1.ObjectMeta{ManagedFields: o.GetManagedFields()}}).By(), " ()"), "last recorded writer: "))}}
}

// newNarrowGate makes the gate that takes one webhook back.
func newNarrowGate(env steps.Env) steps.Gater {
	return alterGate{env: env, verb: "narrow", plan: planNarrow, find: act.JudgeAlter}
}

func planNarrow(_ context.Context, pl *alterPlan) error {
	if !pl.webhooks(pl.subject) {
		return nil
	}
	entries, name := webhookEntries(pl.doc), pl.in.Text("webhook")
	at := slices.IndexFunc(entries, func(e webhookEntry) bool { return e.name == name })
	pl.p.Shown = append(pl.p.Shown, servedBy(pl.o, entries)...)
	if at < 0 {
		var names []string
		for _, e := range entries {
			names = append(names, e.name)
		}
		pl.unmet("name one of its entries", "%s has no webhook %q; it has %s.", pl.t, steps.Clip(name, 200), report.OrNothing(steps.Clip(strings.Join(names, ", "), 600)))
		return nil
	}
	e := entries[at]
	pl.show("protects", "%s", e)
	base := fmt.Sprintf("/webhooks/%d", e.index)
	again := "Who installed it may write it again within minutes."
	switch pl.in.Text("to") {
	case "ignore":
		if e.policy == "Ignore" {
			pl.unmet("nothing: it is so already", "Requests pass already where %s cannot be asked.", e.name)
			return nil
		}
		pl.ops = []patch.Op{{Op: patch.Add, Path: base + "/failurePolicy", Value: "Ignore"}}
		pl.p.Effect = fmt.Sprintf("let requests pass where the webhook %s cannot be asked. Where it answers, it still refuses and rewrites as before. %s", e.name, again)
	default:
		ns := pl.in.Text("exclude")
		if ns == "" {
			pl.unmet("name the namespace that it shall leave alone", "Which namespace the webhook %s shall leave alone is not said.", e.name)
			return nil
		}
		pl.ops = excludeOps(pl.doc, base, ns)
		pl.p.Effect = fmt.Sprintf("let the webhook %s leave the namespace %s alone: nothing there is checked or changed by it any more. %s %s", e.name, ns,
			"What has no namespace it sees as before.", again)
	}
	pl.p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("the webhook %s of %s is put back as it was, or its installer changes it", e.name, pl.t)}}
	return nil
}

// excludeOps add an expression to the namespaceSelector of a webhook.
func excludeOps(doc map[string]any, base, namespace string) []patch.Op {
	one := map[string]any{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": []any{namespace}}
	if selector, ok := patch.Get(doc, base+"/namespaceSelector"); !ok || act.Vacant(selector) {
		return []patch.Op{{Op: patch.Add, Path: base + "/namespaceSelector", Value: map[string]any{"matchExpressions": []any{one}}}}
	}
	if list, ok := patch.Get(doc, base+"/namespaceSelector/matchExpressions"); !ok || act.Vacant(list) {
		return []patch.Op{{Op: patch.Add, Path: base + "/namespaceSelector/matchExpressions", Value: []any{one}}}
	}
	return []patch.Op{{Op: patch.Add, Path: base + "/namespaceSelector/matchExpressions/-", Value: one}}
}
