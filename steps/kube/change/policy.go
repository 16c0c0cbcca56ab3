package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/object"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

const (
	policyKind  = "AdmissionPolicy"
	bindingKind = "AdmissionPolicyBinding"
)

// isPolicies tells admission policies and their bindings, of both sorts.
func isPolicies(r cluster.Resource) bool {
	return r.Group == "admissionregistration.k8s.io" && (strings.HasSuffix(r.Kind, policyKind) || strings.HasSuffix(r.Kind, bindingKind))
}

// policyDeleteGate deletes one binding of an admission policy, or a policy that nothing
// binds.
type policyDeleteGate struct{ deleteGate }

// Preview implements steps.Gater.
func (g policyDeleteGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return unmoved(ctx, in, func() (steps.Preview, error) {
		var failed error
		p, err := g.preview(ctx, in, out, func(f floors, s *subject, p *steps.Preview) { failed = f.policyDelete(ctx, s, p) })
		if err == nil {
			err = failed
		}
		return p, err
	})
}

func (f floors) policyDelete(ctx context.Context, s *subject, p *steps.Preview) error {
	if !isPolicies(s.t.Resource) {
		f.unmet("name a mutatingadmissionpolicybinding, a validatingadmissionpolicybinding, or one of their policies", "%s is no admission policy and no binding of one.", s.t)
		return nil
	}
	doc, err := patch.Decode(s.o.Raw)
	if err != nil {
		f.unmet("read it again", "%s: %v.", s.t, err)
		return nil
	}
	show := func(key, pointer string) {
		if v, ok := patch.Get(doc, pointer); ok && !act.Vacant(v) {
			p.Shown = append(p.Shown, steps.KV{Key: key, Value: steps.Clip(object.ShowValue(v), 300)})
		}
	}
	show("decides over", "/spec/matchConstraints")
	show("only where", "/spec/matchConditions")
	show("narrowed to", "/spec/matchResources")
	show("changes", "/spec/mutations")
	show("demands", "/spec/validations")
	show("where it fails", "/spec/failurePolicy")
	show("acts by", "/spec/validationActions")
	p.Shown = append(p.Shown, servedBy(s.o, nil)[1:]...)
	if strings.HasSuffix(s.t.Kind, bindingKind) {
		policy := textAt(doc, "/spec/policyName")
		p.Shown = append(p.Shown, steps.KV{Key: "binds", Value: report.OrNothing(policy)})
		p.Effect = fmt.Sprintf("take away %s in the whole cluster: the policy %s does nothing by it any more, and stays as it is. Who installed it may write it again within minutes.", s.t, report.OrNothing(policy))
	} else {
		if err := f.unbound(ctx, s); err != nil {
			return err
		}
		p.Effect = fmt.Sprintf("take away %s, which nothing binds. Who installed it may write it again within minutes.", s.t)
	}
	p.Undo = "It can be made again from its copy, under a new UID."
	p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("either %s is put back, or its installer stops doing so; until then nothing enforces what it enforced", s.t)}}
	return nil
}

// unbound: no binding names the policy. Its bindings are smaller steps, and left
// behind they would bind whatever takes its name.
func (f floors) unbound(ctx context.Context, s *subject) error {
	r, err := s.c.Find(ctx, strings.ToLower(s.t.Kind)+"bindings."+s.t.Group)
	if err != nil {
		f.unmet("look why they cannot be listed, then preview again", "Whether a binding names %s is not known: %s.", s.t, report.Ended(err.Error()))
		return nil
	}
	err = s.c.List(ctx, r.Path("", ""), cluster.AsJSON, nil, func(o cluster.Object) {
		if textAt(o.Object, "/spec/policyName") == s.t.Name {
			f.unmet("delete that binding first: the policy then does nothing, and can stay", "%s binds %s.", r.Label("", o.GetName()), s.t)
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		f.unmet("get the right to list "+r.String()+", then preview again", "Whether a binding names %s is not known: %s.", s.t, report.Ended(err.Error()))
	}
	return nil
}

const (
	// longestException bounds how many days an object may be left out of a policy.
	longestException = 90
	// mostConditions is the API server's own bound.
	mostConditions = 64
)

// newExceptGate makes the gate that takes one object out of a policy until a day.
func newExceptGate(env steps.Env) steps.Gater {
	return alterGate{env: env, verb: "except", plan: planExcept, find: act.JudgeAlter}
}

// planExcept adds a match condition that is false for the one object. Its name carries
// the last day: a condition has no other place for one, and every tool shows its name.
// A constraint of Gatekeeper has no conditions, and goes by a label.
func planExcept(ctx context.Context, pl *alterPlan) error {
	constraint := pl.t.Group == admission.ConstraintGroup
	if !constraint && (!isPolicies(pl.t.Resource) || strings.HasSuffix(pl.t.Kind, bindingKind)) {
		pl.unmet("name a validatingadmissionpolicy, a mutatingadmissionpolicy or a constraint of Gatekeeper", "%s is no admission policy.", pl.t)
		return nil
	}
	of, err := pl.c.Find(ctx, pl.in.Text("object_resource"))
	if err != nil {
		return err
	}
	name, space := pl.in.Text("object"), pl.in.Text("object_namespace")
	if of.Namespaced && space == "" {
		pl.unmet("say the namespace of the object", "In which namespace %s/%s is left out is not said.", of, name)
		return nil
	}
	days := pl.in.Int("days")
	if days < 1 || days > longestException {
		pl.unmet("take fewer days, and correct the policy or the object until then", "An exception of %d days is none: it is 1 to %d.", days, longestException)
		return nil
	}
	until := pl.c.Env.Now().UTC().AddDate(0, 0, int(days))
	if constraint {
		return exceptLabel(ctx, pl, of, space, name, until)
	}
	condition := admission.ExceptionName(strings.Trim(name, "."), until)
	list, _ := patch.Get(pl.doc, "/spec/matchConditions")
	items, _ := list.([]any)
	for _, item := range items {
		if have := textAt(item, "/name"); have == condition {
			pl.unmet("nothing: it is so already", "%s leaves the object out already, until %s.", pl.t, until.Format(time.DateOnly))
			return nil
		}
	}
	if len(items) >= mostConditions {
		pl.unmet("take ended exceptions away first", "%s has %d match conditions, and can hold no more.", pl.t, len(items))
		return nil
	}
	expression := fmt.Sprintf("!(request.resource.group == '%s' && request.resource.resource == '%s' && request.namespace == '%s' && request.name == '%s')", of.Group, of.Plural, space, name)
	one := map[string]any{"name": condition, "expression": expression}
	pl.ops = []patch.Op{{Op: patch.Add, Path: "/spec/matchConditions", Value: []any{one}}}
	if len(items) > 0 {
		pl.ops[0].Path, pl.ops[0].Value = "/spec/matchConditions/-", any(one)
	}
	pl.show("leaves out", "%s", of.Label(space, name))
	pl.show("last day", "%s", until.Format(time.DateOnly))
	pl.p.Shown = append(pl.p.Shown, servedBy(pl.o, nil)[1:]...)
	pl.p.Effect = fmt.Sprintf("let %s leave %s alone, by each of its bindings: nothing there is checked or changed by it any more. The server does not end that by itself: its last day, %s, stands in the name of the condition. Every other object it judges as before. Who installed it may write it again within minutes.",
		pl.t, of.Label(space, name), until.Format(time.DateOnly))
	pl.p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("the condition %s of %s is taken away by %s, and its source knows of it", condition, pl.t, until.Format(time.DateOnly))}}
	return nil
}

// mostSearches bounds the lists that show that nothing else carries a label.
const mostSearches = 40

// exceptLabel lets a constraint of Gatekeeper leave one object out. Its match takes names in and leaves none out, so that it
// goes by a label of the object: one that nothing else carries which the constraint judges. An annotation says which, and
// until when.
func exceptLabel(ctx context.Context, pl *alterPlan, of cluster.Resource, space, name string, until time.Time) error {
	key, value, err := admission.ReadLabel(pl.in.Text("label"))
	if err != nil {
		pl.unmet("name a label that the object carries and nothing else does, as key=value", "A constraint leaves objects out by their labels, and %v.", err)
		return nil
	}
	var c struct {
		Spec admission.ConstraintSpec `json:"spec"`
	}
	if err := json.Unmarshal(pl.o.Raw, &c); err != nil {
		pl.unmet("read it again", "%s: %v.", pl.t, err)
		return nil
	}
	if !c.Spec.Denies() {
		pl.unmet("look what else refused it", "%s denies nothing: its action is %s.", pl.t, report.OrNothing(strings.Join(c.Spec.Acts(), ", ")))
		return nil
	}
	if s := c.Spec.Match.LabelSelector; s != nil && slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
		return e.Key == key && e.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(e.Values, value)
	}) {
		pl.unmet("nothing: it is so already", "%s leaves out what carries %s=%s already.", pl.t, key, value)
		return nil
	}
	carries, err := pl.carries(ctx, of, space, name, key, value)
	if err != nil {
		return err
	}
	if err := pl.alone(ctx, c.Spec.Match, of, space, name, key+"="+value); err != nil {
		return err
	}
	note, text := admission.LabelException(name, key, value, until)
	pl.ops = labelOps(pl.doc, key, value, note, text)
	label := of.Label(space, name)
	pl.show("leaves out", "%s", label)
	pl.show("by its label", "%s=%s, %s", key, value, carries)
	pl.show("last day", "%s", until.Format(time.DateOnly))
	pl.show("judges", "%s", steps.Clip(steps.Flat(c.Spec.Match.String()), 400))
	pl.p.Shown = append(pl.p.Shown, servedBy(pl.o, nil)[1:]...)
	pl.p.Effect = fmt.Sprintf("let %s leave out what carries the label %s=%s: that is %s, and nothing else that it judges carries it now. Whatever gets that label later is left out too. Nothing ends that by itself: its last day, %s, stands in the name of an annotation. Every other object it judges as before. Who installed it may write it again within minutes.",
		pl.t, key, value, label, until.Format(time.DateOnly))
	pl.p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("the expression %s NotIn (%s) of %s and its annotation %s are taken away by %s, and its source knows of it", key, value, pl.t, note, until.Format(time.DateOnly))}}
	return nil
}

// carries says of the object whether it has the label. Gatekeeper looks at an object as it was and as it is sent: one that has
// the label only then is judged still.
func (pl *alterPlan) carries(ctx context.Context, of cluster.Resource, space, name, key, value string) (string, error) {
	o, err := pl.c.Get(ctx, of, space, name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return "which it must have as it is sent: it is not there yet", nil
	case err != nil:
		return "", err
	}
	if have, is := o.GetLabels()[key]; !is || have != value {
		pl.unmet("name a label that it carries, or let that label be delivered first", "%s does not carry %s=%s, and would be judged as before.", of.Label(space, name), key, value)
	}
	return "which it carries", nil
}

// alone: nothing but the object carries the label, of all that the constraint judges.
func (pl *alterPlan) alone(ctx context.Context, m admission.ConstraintMatch, of cluster.Resource, space, name, label string) error {
	const cure = "narrow the kinds of the constraint where it comes from, or correct its template"
	kinds, ok := judgedKinds(pl.c.Served().All, m)
	if !ok {
		pl.unmet(cure, "%s judges kinds by a star, so that nothing shows what else carries %s.", pl.t, label)
		return nil
	}
	spaces := m.Namespaces
	if len(spaces) == 0 || len(spaces)*len(kinds) > mostSearches || slices.ContainsFunc(spaces, func(s string) bool { return strings.Contains(s, "*") }) {
		spaces = []string{""}
	}
	if len(kinds)*len(spaces) > mostSearches {
		pl.unmet(cure, "%s judges %d kinds, too many to look through for what else carries %s.", pl.t, len(kinds), label)
		return nil
	}
	others, query := []string{}, url.Values{"labelSelector": {label}}
	for _, kind := range kinds {
		within := spaces
		if !kind.Namespaced {
			within = []string{""}
		}
		for _, in := range within {
			err := pl.c.List(ctx, kind.Path(in, ""), cluster.AsMetaList, query, func(o cluster.Object) {
				if kind != of || o.GetName() != name || o.GetNamespace() != space {
					others = append(others, kind.Label(o.GetNamespace(), o.GetName()))
				}
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				pl.unmet("get the right to list "+kind.String()+", then preview again", "Whether anything else carries %s is not known: %s.", label, report.Ended(err.Error()))
			}
		}
	}
	if len(others) > 0 {
		pl.unmet("name a label that nothing else carries", "%s carries %s too, and would be left out as well.", steps.Clip(strings.Join(others, ", "), 400), label)
	}
	return nil
}

// judgedKinds are the kinds that a match names, as the server has them. The second result is false where it takes in kinds
// that it does not name.
func judgedKinds(all []cluster.Resource, m admission.ConstraintMatch) (kinds []cluster.Resource, named bool) {
	star := func(list []string) bool { return len(list) == 0 || slices.Contains(list, "*") }
	for _, k := range m.Kinds {
		if star(k.Kinds) || star(k.APIGroups) {
			return nil, false
		}
		for _, r := range all {
			if slices.Contains(k.Kinds, r.Kind) && slices.Contains(k.APIGroups, r.Group) && !slices.Contains(kinds, r) {
				kinds = append(kinds, r)
			}
		}
	}
	return kinds, len(m.Kinds) > 0
}

// labelOps leave out what carries a label, and say until when.
func labelOps(doc map[string]any, key, value, note, text string) []patch.Op {
	const selector = "/spec/match/labelSelector"
	one := map[string]any{"key": key, "operator": "NotIn", "values": []any{value}}
	out := patch.Op{Op: patch.Add, Path: selector + "/matchExpressions/-", Value: one}
	if have, is := patch.Get(doc, selector); !is || have == nil {
		out.Path, out.Value = selector, map[string]any{"matchExpressions": []any{one}}
	} else if list, is := patch.Get(doc, selector+"/matchExpressions"); !is || list == nil {
		out.Path, out.Value = selector+"/matchExpressions", []any{one}
	}
	says := patch.Op{Op: patch.Add, Path: patch.Join([]string{"metadata", "annotations", note}), Value: text}
	if have, is := patch.Get(doc, "/metadata/annotations"); !is || have == nil {
		says.Path, says.Value = "/metadata/annotations", map[string]any{note: text}
	}
	return []patch.Op{out, says}
}
