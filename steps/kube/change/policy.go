package change

import (
	"context"
	"fmt"
	"strings"
	"time"

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
