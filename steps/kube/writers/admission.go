package writers

import (
	"context"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
)

type meta struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	OwnerReferences []struct {
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		Controller bool   `json:"controller"`
	} `json:"ownerReferences"`
}

// webhooks finds the entries of webhook configurations that see a change of the
// object.
func (w *writers) webhooks(ctx context.Context, about admission.Object, kind, fact string, into *[]admissionRule) {
	type configuration struct {
		Metadata meta                `json:"metadata"`
		Webhooks []admission.Webhook `json:"webhooks"`
	}
	r, err := w.c.AnyVersion(admission.Group+"/v1", kind)
	if err == nil {
		err = cluster.Each(ctx, w.c, r.Path("", ""), nil, func(cfg configuration) {
			for _, hook := range cfg.Webhooks {
				if m, ok := hook.Matches(about); ok {
					w.admits(into, admissionRule{name: r.Label("", cfg.Metadata.Name), entry: hook.Name, calls: hook.Calls(), match: m})
				}
			}
		})
	}
	w.fail(strings.ToLower(kind)+"s", err, fact)
}

func (w *writers) admits(into *[]admissionRule, a admissionRule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*into = append(*into, a)
}

// policies finds the bound policies that see a change of the object. One that
// is not bound does nothing.
func (w *writers) policies(ctx context.Context, about admission.Object, which, fact string, into *[]admissionRule) {
	type policy struct {
		Metadata meta             `json:"metadata"`
		Spec     admission.Policy `json:"spec"`
	}
	type binding struct {
		Metadata meta              `json:"metadata"`
		Spec     admission.Binding `json:"spec"`
	}
	all := map[string]policy{}
	r, err := w.c.AnyVersion(admission.Group+"/v1", which+"AdmissionPolicy")
	if err == nil {
		err = cluster.Each(ctx, w.c, r.Path("", ""), nil, func(p policy) { all[p.Metadata.Name] = p })
	}
	w.fail(strings.ToLower(which)+"admissionpolicies", err, fact)
	if err != nil {
		return
	}
	b, err := w.c.AnyVersion(admission.Group+"/v1", which+"AdmissionPolicyBinding")
	if err == nil {
		err = cluster.Each(ctx, w.c, b.Path("", ""), nil, func(of binding) {
			p, there := all[of.Spec.PolicyName]
			if m, ok := p.Spec.Matches(of.Spec, about); there && ok {
				a := admissionRule{name: r.Label("", of.Spec.PolicyName), entry: "bound by " + of.Metadata.Name, match: m}
				if acts := of.Spec.ValidationActions; len(acts) > 0 {
					a.more = ", to " + strings.ToLower(strings.Join(acts, ", "))
				}
				w.admits(into, a)
			}
		})
	}
	w.fail(strings.ToLower(which)+"admissionpolicybindings", err, fact)
}
