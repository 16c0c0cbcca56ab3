package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// madeFor is the label of objects that have no namespace, and go with the one that
// they were made for.
const madeFor = "handrail-lab-namespace"

const (
	webhooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	checks   = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	bound    = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
	classes  = "/apis/storage.k8s.io/v1/storageclasses"
	nodes    = "/api/v1/nodes"

	templates   = "/apis/templates.gatekeeper.sh/v1/constrainttemplates"
	constraints = "/apis/constraints.gatekeeper.sh/v1beta1/"
)

// Webhook is an admission webhook of a namespace of the lab, served on loopback.
type Webhook struct {
	Name   string     // of the configuration, unique in the lab
	Entry  string     // of its one entry, "" for one made of that name
	URL    string     // on loopback
	CA     []byte     // that signed its certificate, PEM
	Of     string     // in place of URL and CA: a Service of the namespace, which need not exist
	Closed bool       // a request is refused when it does not answer
	Checks bool       // it validates, and changes nothing
	Rules  []HookRule // what it is asked about
}

// HookRule is one rule of a webhook.
type HookRule struct {
	Group, Version string
	Resources      []string
	Operations     []string
}

// Hook registers a mutating webhook for one namespace: objects of others, and
// objects that have none, never reach it. It goes with DeleteNamespace.
func (l *Lab) Hook(ctx context.Context, ns string, w Webhook) error { return l.hook(ctx, ns, ns, w) }

// hook registers a webhook for one namespace that goes with another.
func (l *Lab) hook(ctx context.Context, ns, with string, w Webhook) error {
	var rules []object
	for _, r := range w.Rules {
		rules = append(rules, object{"apiGroups": list(r.Group), "apiVersions": list(r.Version), "resources": r.Resources,
			"operations": r.Operations, "scope": "Namespaced"}) // a selector of namespaces does not hold others back
	}
	policy := "Ignore"
	if w.Closed {
		policy = "Fail"
	}
	calls := object{"url": w.URL, "caBundle": w.CA}
	if w.Of != "" {
		calls = object{"service": object{"namespace": ns, "name": w.Of}}
	}
	body := object{
		"metadata": object{"name": w.Name, "labels": object{madeFor: with}},
		"webhooks": []object{{
			"name": cmp.Or(w.Entry, "enforce."+w.Name), "admissionReviewVersions": list("v1"), "sideEffects": "None",
			"failurePolicy": policy, "timeoutSeconds": 5, "matchPolicy": "Equivalent",
			"clientConfig":      calls,
			"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": ns}},
			"rules":             rules,
		}},
	}
	at := webhooks
	if w.Checks {
		at = checks
	}
	if err := l.client.do(ctx, http.MethodPost, at, body, nil); err != nil {
		return fmt.Errorf("registering webhook %q in the lab: %w", w.Name, err)
	}
	return nil
}

// Policy is a ValidatingAdmissionPolicy of a namespace of the lab, with its binding.
type Policy struct {
	Name       string     // of both, unique in the lab
	Rules      []HookRule // what it judges
	Expression string     // what must be true, in CEL
	Message    string     // what it says where that is false
	Params     string     // a ConfigMap of the namespace, "" for none
}

// Enforce makes a policy that judges objects of one namespace, and no other. The API
// server enforces it a moment later. It goes with DeleteNamespace.
func (l *Lab) Enforce(ctx context.Context, ns string, p Policy) error {
	var rules []object
	for _, r := range p.Rules {
		rules = append(rules, object{"apiGroups": list(r.Group), "apiVersions": list(r.Version), "resources": r.Resources, "operations": r.Operations, "scope": "Namespaced"})
	}
	meta := object{"name": p.Name, "labels": object{madeFor: ns}}
	spec := object{"failurePolicy": "Fail", "validations": []object{{"expression": p.Expression, "message": p.Message}},
		"matchConstraints": object{"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": ns}}, "resourceRules": rules}}
	binding := object{"policyName": p.Name, "validationActions": list("Deny")}
	if p.Params != "" {
		if err := l.anchorParams(ctx); err != nil {
			return fmt.Errorf("making the policy %q in the lab: %w", p.Name, err)
		}
		spec["paramKind"] = object{"apiVersion": "v1", "kind": "ConfigMap"}
		binding["paramRef"] = object{"name": p.Params, "namespace": ns, "parameterNotFoundAction": "Deny"}
	}
	for path, spec := range map[string]object{policies: spec, bound: binding} {
		if err := l.client.do(ctx, http.MethodPost, path, object{"metadata": meta, "spec": spec}, nil); err != nil {
			return fmt.Errorf("making the policy %q in the lab: %w", p.Name, err)
		}
	}
	return nil
}

// Template is a template of Gatekeeper, with its one constraint.
type Template struct {
	Kind       string // of the constraint, unique in the lab
	Rego       string
	Constraint string         // its name
	Group      string         // of what it judges, in one namespace
	OfKind     string         // likewise
	Parameters map[string]any // that the Rego reads
}

// Name is that of the template, and of the resource of its constraints.
func (t Template) Name() string { return strings.ToLower(t.Kind) }

// WriteTemplate makes a template of Gatekeeper, or writes another Rego into it, as the writer that by names. It goes with
// DeleteNamespace, and its constraint with it.
func (l *Lab) WriteTemplate(ctx context.Context, ns, by string, t Template) error {
	body := object{"apiVersion": "templates.gatekeeper.sh/v1", "kind": "ConstraintTemplate", "metadata": object{"name": t.Name(), "labels": object{madeFor: ns}},
		"spec": object{
			"crd": object{"spec": object{"names": object{"kind": t.Kind}, "validation": object{"openAPIV3Schema": object{"type": "object",
				"properties": object{"labels": object{"type": "array", "items": object{"type": "string"}}}}}}},
			"targets": []object{{"target": "admission.k8s.gatekeeper.sh", "rego": t.Rego}}}}
	return l.client.send(ctx, http.MethodPatch, templates+"/"+t.Name()+"?force=true&fieldManager="+by, "application/apply-patch+yaml", body, nil)
}

// Constrain makes the constraint of a template, for one namespace, once Gatekeeper has made its kind: until then the error is
// that of a kind that is not there.
func (l *Lab) Constrain(ctx context.Context, ns, by string, t Template) error {
	body := object{"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": t.Kind, "metadata": object{"name": t.Constraint},
		"spec": object{"enforcementAction": "deny", "parameters": t.Parameters,
			"match": object{"kinds": []object{{"apiGroups": list(t.Group), "kinds": list(t.OfKind)}}, "namespaces": list(ns)}}}
	return l.client.send(ctx, http.MethodPatch, constraints+t.Name()+"/"+t.Constraint+"?force=true&fieldManager="+by, "application/apply-patch+yaml", body, nil)
}

// anchorParams keeps a policy with parameters that matches nothing, for as long as the
// lab runs. Without one the API server stops to watch ConfigMaps with the last policy
// that has some as parameters, and never begins again: it starts an informer that all
// share with the life of that policy (ensureParamsForPolicyLocked, Kubernetes 1.36).
// Every later policy would find no parameters.
func (l *Lab) anchorParams(ctx context.Context) error {
	const name = "handrail-lab-params"
	never := object{"matchLabels": object{"kubernetes.io/metadata.name": "handrail-lab-no-such"}}
	spec := object{"failurePolicy": "Ignore", "validations": []object{{"expression": "true"}}, "paramKind": object{"apiVersion": "v1", "kind": "ConfigMap"},
		"matchConstraints": object{"namespaceSelector": never, "resourceRules": []object{
			{"apiGroups": list(""), "apiVersions": list("v1"), "resources": list("configmaps"), "operations": list("CREATE")}}}}
	binding := object{"policyName": name, "validationActions": list("Audit"), "paramRef": object{"name": "none", "namespace": "default", "parameterNotFoundAction": "Allow"}}
	for path, spec := range map[string]object{policies: spec, bound: binding} {
		if err := l.client.do(ctx, http.MethodPost, path, object{"metadata": named(name), "spec": spec}, nil); err != nil && !hasCode(err, http.StatusConflict) {
			return err
		}
	}
	return nil
}

// StorageClass makes a class of the whole lab whose volumes nothing makes, and which stays:
// drills that go side by side share it, as applications of a cluster do.
func (l *Lab) StorageClass(ctx context.Context, name, provisioner string) error {
	body := object{"metadata": named(name), "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
	if err := l.client.do(ctx, http.MethodPost, classes, body, nil); err != nil && !hasCode(err, http.StatusConflict) {
		return fmt.Errorf("making the storage class %q in the lab: %w", name, err)
	}
	return nil
}

// Unhook takes the webhooks and policies of a namespace away: what served them may be
// gone, and then they would hold up the clean-up.
func (l *Lab) Unhook(ctx context.Context, ns string) error {
	for _, at := range []string{webhooks, checks, bound, policies} {
		if err := l.client.do(ctx, http.MethodDelete, at+ofNamespace(ns), nil, nil); err != nil {
			return fmt.Errorf("taking the webhooks and policies of namespace %q away: %w", ns, err)
		}
	}
	return nil
}

// customs is where the definitions of custom resources are.
const customs = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Define lets the lab serve a kind of objects of any content, in namespaces, as version v1. It
// goes with DeleteNamespace, and its objects with it.
func (l *Lab) Define(ctx context.Context, ns, group, kind, plural string) error {
	spec := object{"group": group, "scope": "Namespaced", "names": object{"kind": kind, "plural": plural, "singular": strings.ToLower(kind)},
		"versions": []object{{"name": "v1", "served": true, "storage": true,
			"schema": object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}
	meta := object{"name": plural + "." + group, "labels": object{madeFor: ns}}
	if err := l.client.do(ctx, http.MethodPost, customs, object{"metadata": meta, "spec": spec}, nil); err != nil {
		return fmt.Errorf("defining the kind %q in the lab: %w", kind, err)
	}
	return nil
}

func ofNamespace(ns string) string { return "?labelSelector=" + url.QueryEscape(madeFor+"="+ns) }

// Node registers a node for the Pods of one namespace, whose kubelet listens on a
// port of loopback. No scheduler and no DaemonSet puts anything else on it. It goes
// with DeleteNamespace.
func (l *Lab) Node(ctx context.Context, ns, name string, port int) error {
	wrap := func(err error) error { return fmt.Errorf("registering node %q in the lab: %w", name, err) }
	body := object{
		"metadata": object{"name": name, "labels": object{madeFor: ns, "kubernetes.io/os": "linux"}},
		"spec":     object{"taints": []object{{"key": madeFor, "value": ns, "effect": "NoSchedule"}}},
	}
	if err := l.client.do(ctx, http.MethodPost, nodes, body, nil); err != nil {
		return wrap(err)
	}
	amount := object{"cpu": "4", "memory": "16Gi", "pods": "110"}
	status := object{"status": object{
		"addresses":       []object{{"type": "InternalIP", "address": "127.0.0.1"}},
		"daemonEndpoints": object{"kubeletEndpoint": object{"Port": port}},
		"capacity":        amount, "allocatable": amount,
		"conditions": []object{{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "the drill runs"}},
	}}
	if err := l.client.patch(ctx, nodes+"/"+name+"/status", status); err != nil {
		return wrap(err)
	}
	return nil
}

// depart removes what a namespace has outside of itself, and the Pods that only
// their node could let go, which is no more.
func (l *Lab) depart(ctx context.Context, ns string) error {
	var errs []error
	var there struct{ Items []struct{} }
	if err := l.client.do(ctx, http.MethodGet, nodes+ofNamespace(ns), nil, &there); err != nil {
		errs = append(errs, err)
	}
	if len(there.Items) > 0 {
		now := object{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
		if err := l.client.do(ctx, http.MethodDelete, core(ns, "pods"), now, nil); err != nil && !hasCode(err, http.StatusNotFound) {
			errs = append(errs, err)
		}
	}
	// Gatekeeper puts the labels of a template on the kind that it makes of it, whose constraints go with it.
	if err := l.client.do(ctx, http.MethodDelete, templates+ofNamespace(ns), nil, nil); err != nil && !hasCode(err, http.StatusNotFound) {
		errs = append(errs, err)
	}
	for _, path := range []string{webhooks, checks, bound, policies, nodes, bindings, rbac + "/clusterroles", customs} {
		if err := l.client.do(ctx, http.MethodDelete, path+ofNamespace(ns), nil, nil); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, l.leave(ctx, ns))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("removing what namespace %q has in the lab beside itself: %w", ns, err)
	}
	return nil
}

// leave asks for the deletion of the namespaces beside one.
func (l *Lab) leave(ctx context.Context, ns string) error {
	var there struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := l.client.do(ctx, http.MethodGet, "/api/v1/namespaces"+ofNamespace(ns), nil, &there); err != nil {
		return err
	}
	var errs []error
	for _, item := range there.Items {
		err := l.client.do(ctx, http.MethodDelete, "/api/v1/namespaces/"+url.PathEscape(item.Metadata.Name), nil, nil)
		if err != nil && !hasCode(err, http.StatusNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
