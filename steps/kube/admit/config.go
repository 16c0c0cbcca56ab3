package admit

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/webhook"
)

// reading gathers what configures admission.
type reading struct {
	c       *cluster.Client
	request admission.Request

	mu     sync.Mutex
	config admission.Config
	unread []string
	lost   map[string]bool // phases of which a part is missing

	called string             // the constraint that a refusal names, "" for none
	found  []calledConstraint // those of that name, one of each kind at most
}

func (r *reading) fail(what string, err error, phases ...string) {
	if err == nil || errors.Is(err, cluster.ErrNoKind) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range phases {
		r.lost[p] = true
	}
	r.unread = append(r.unread, what+": "+steps.Clip(err.Error(), 400))
}

// read reads webhook configurations, policies, bindings and parameters side by side.
func (r *reading) read(ctx context.Context) {
	cluster.Together(ctx, []func(context.Context){
		func(ctx context.Context) {
			r.hooks(ctx, admission.Mutating, "MutatingWebhookConfiguration", &r.config.MutatingHooks)
		},
		func(ctx context.Context) {
			r.hooks(ctx, admission.Validating, "ValidatingWebhookConfiguration", &r.config.ValidatingHooks)
		},
		func(ctx context.Context) {
			r.policies(ctx, admission.Mutating, "MutatingAdmissionPolicy", &r.config.MutatingPolicies)
		},
		func(ctx context.Context) {
			r.policies(ctx, admission.Validating, "ValidatingAdmissionPolicy", &r.config.ValidatingPolicies)
		},
		func(ctx context.Context) { r.constraints(ctx) },
	}, func(err error) { r.fail("a part of the search", err, admission.Mutating, admission.Validating) })
}

type named[T any] struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     T                 `json:"spec"`
	Webhooks []admission.Webhook
}

func (r *reading) hooks(ctx context.Context, phase, kind string, into *[]admission.Hooks) {
	of, err := r.c.AnyVersion(admission.Group+"/v1", kind)
	if err == nil {
		err = cluster.Each(ctx, r.c, of.Path("", ""), nil, func(o named[struct{}]) {
			*into = append(*into, admission.Hooks{Name: of.Label("", o.Metadata.Name), Entries: o.Webhooks})
		})
	}
	r.fail(strings.ToLower(kind)+"s", err, phase)
}

// policies reads policies, their bindings, and what the bindings refer to. One that is
// not bound does nothing.
func (r *reading) policies(ctx context.Context, phase, kind string, into *[]admission.Bound) {
	all := map[string]admission.Policy{}
	of, err := r.c.AnyVersion(admission.Group+"/v1", kind)
	if err == nil {
		err = cluster.Each(ctx, r.c, of.Path("", ""), nil, func(o named[admission.Policy]) { all[o.Metadata.Name] = o.Spec })
	}
	var bindings []named[admission.Binding]
	var by cluster.Resource
	if err == nil {
		if by, err = r.c.AnyVersion(admission.Group+"/v1", kind+"Binding"); err == nil {
			err = cluster.Each(ctx, r.c, by.Path("", ""), nil, func(o named[admission.Binding]) { bindings = append(bindings, o) })
		}
	}
	r.fail(strings.ToLower(kind)+" and its bindings", err, phase)
	for _, b := range bindings {
		p, there := all[b.Spec.PolicyName]
		if !there {
			continue
		}
		bound := admission.Bound{Policy: of.Label("", b.Spec.PolicyName), Binding: "bound by " + b.Metadata.Name, Of: p, By: b.Spec}
		if !r.request.Misses(bound) { // others may be of teams whose parameters are not to be read here
			bound.Params, bound.NoParams = r.params(ctx, p, b.Spec)
		}
		*into = append(*into, bound)
	}
}

// params reads what a binding refers to: nothing where it is not there.
func (r *reading) params(ctx context.Context, p admission.Policy, b admission.Binding) (found []map[string]any, why string) {
	if p.ParamKind == nil || b.ParamRef == nil {
		return nil, ""
	}
	kind, err := r.c.KindOf(p.ParamKind.APIVersion, p.ParamKind.Kind)
	if err != nil {
		return nil, steps.Clip(err.Error(), 300)
	}
	if kind.Group == "" && kind.Kind == "Secret" {
		return nil, "the values of a Secret are not read"
	}
	space := ""
	if kind.Namespaced {
		if space = b.ParamRef.Namespace; space == "" {
			space = r.request.Namespace
		}
		if space == "" {
			return nil, "they are in a namespace, and the request has none"
		}
	}
	if b.ParamRef.Name != "" {
		o, err := r.c.Get(ctx, kind, space, b.ParamRef.Name)
		switch {
		case errors.Is(err, cluster.ErrAbsent):
			return nil, ""
		case err != nil:
			return nil, r.unknown(kind.Label(space, b.ParamRef.Name), err)
		}
		return []map[string]any{o.Object}, ""
	}
	query := url.Values{}
	if s := metav1.FormatLabelSelector(b.ParamRef.Selector); b.ParamRef.Selector != nil && s != "<none>" {
		query.Set("labelSelector", s)
	}
	if err := r.c.List(ctx, kind.Path(space, ""), cluster.AsJSON, query, func(o cluster.Object) { found = append(found, o.Object) }); err != nil {
		return nil, r.unknown(kind.String(), err)
	}
	return found, ""
}

func (r *reading) unknown(what string, err error) string {
	r.fail("parameters "+what, err, "params")
	return steps.Clip(err.Error(), 300)
}

// alive says why nothing answers behind the service of a row, "" where something may;
// known is false for what is outside of the cluster or could not be read.
func (r *reading) alive(ctx context.Context, row admission.Row, seen map[string]*[2]string) (why string, known bool) {
	space, name, ok := strings.Cut(row.Service, "/")
	if row.External || !ok {
		return "", false
	}
	got := seen[row.Service]
	if got == nil {
		got = &[2]string{}
		seen[row.Service] = got
		why, err := webhook.Unserved(ctx, r.c, space, name)
		r.fail("what is behind service "+row.Service, err, "backends")
		if err != nil {
			got[1] = "unread"
		}
		got[0] = why
	}
	return got[0], got[1] == ""
}
