package change

import (
	"context"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
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
	return unmoved(in, func() (steps.Preview, error) {
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
