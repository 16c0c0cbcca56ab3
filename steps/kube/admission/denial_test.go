package admission_test

import (
	"strings"
	"testing"

	"handrail/steps/kube/admission"
)

// TestReadDenial reads what API servers and engines say, to what refused.
func TestReadDenial(t *testing.T) {
	t.Parallel()
	const post = `failed to call webhook: Post "https://guard.security.svc:443/v?timeout=10s": `
	for _, tc := range []struct {
		name, text, source string
		sort               admission.Sort
		rule, cause        string
		verdict            bool
		reasons            int
	}{
		{"a policy", `configmaps "v1" is forbidden: ValidatingAdmissionPolicy 'owner.example' with binding 'tills' denied request: an owner is missing`, "validatingadmissionpolicy/owner.example by tills", "policy", "", "", true, 1},
		{"a policy without a message", `Error from server: deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few-all' denied request: failed expression: object.spec.replicas <= 5`, "validatingadmissionpolicy/few by few-all", "policy", "object.spec.replicas <= 5", "", true, 1},
		{"params are missing", `configmaps "v1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found for policy binding with 'Deny' parameterNotFoundAction`, "validatingadmissionpolicy/p by b", "policy", "", "", false, 1},
		{"an expression broke", `pods "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: expression 'object.spec.nope == 1' resulted in error: no such key: nope`, "validatingadmissionpolicy/p by b", "policy", "object.spec.nope == 1", "", false, 1},
		{"a policy without a binding", `pods "x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'`, "validatingadmissionpolicy/p", "policy", "", "", false, 1},
		{"gatekeeper", `admission webhook "validation.gatekeeper.sh" denied the request: [pods-need-owner] you must provide labels: owner`, "gatekeeper constraint pods-need-owner", "policy", "", "", true, 1},
		{"two constraints", "admission webhook \"validation.gatekeeper.sh\" denied the request: [pods-need-owner] you must provide labels: owner\n[no-latest] image has no tag [web]", "gatekeeper constraint pods-need-owner", "policy", "", "", true, 2},
		{"kyverno", "admission webhook \"validate.kyverno.svc-fail\" denied the request: \n\nresource Pod/shop/web was blocked due to the following policies \n\nrequire-team:\n  check-team: 'validation error: label team is required. rule check-team failed at path /metadata/labels/team/'", "kyverno policy require-team", "policy", "check-team", "", true, 1},
		{"kyverno in one line", `admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/shop/web was blocked due to the following policies\n\nrequire-team:\n  check-team: 'x'`, "kyverno policy require-team", "policy", "check-team", "", true, 1},
		{"kyverno by CEL", `admission webhook "vpol.validate.kyverno.svc-fail-finegrained-x" denied the request: Policy require-team failed: label team is required`, "kyverno policy require-team", "policy", "", "", true, 1},
		{"another engine", `admission webhook "vpod.elbv2.k8s.aws" denied the request: no`, "webhook vpod.elbv2.k8s.aws", "webhook", "", "", true, 1},
		{"without a reason", `admission webhook "guard.example.com" denied the request without explanation`, "webhook guard.example.com", "webhook", "", "", true, 1},
		{"brackets of another engine", `admission webhook "guard.example.com" denied the request: [x] no`, "webhook guard.example.com", "webhook", "", "", true, 1},
		{"pod security", `pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "p" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "p" must set securityContext.capabilities.drop=["ALL"], and more), runAsNonRoot != true (pod or container "p" must set securityContext.runAsNonRoot=true)`, "Pod Security restricted:latest", "podsecurity", "", "", true, 3},
		{"quota", `pods "p" is forbidden: exceeded quota: rq, requested: pods=1, used: pods=1, limited: pods=1`, "resourcequota/rq", "quota", "", "", true, 1},
		{"quota wants requests", `pods "p" is forbidden: failed quota: rq: must specify requests.cpu for: c`, "resourcequota/rq", "quota", "", "", true, 1},
		{"limit range", `pods "p" is forbidden: maximum memory usage per Container is 128Mi, but limit is 1Gi`, "a LimitRange", "limitrange", "", "", true, 1},
		{"rbac", `pods is forbidden: User "alice" cannot create resource "pods" in API group "" in the namespace "lab"`, "RBAC", "rbac", "", "", true, 1},
		{"no endpoints", `Internal error occurred: failed calling webhook "v.guard.io": ` + post + `no endpoints available for service "guard"`, "webhook v.guard.io", "webhook-down", "", "no endpoints", false, 0},
		{"no service", `Internal error occurred: failed calling webhook "v.guard.io": ` + post + `service "guard" not found`, "webhook v.guard.io", "webhook-down", "", "no service", false, 0},
		{"refused", `failed calling webhook "v.guard.io": ` + post + `dial tcp 10.0.0.1:443: connect: connection refused`, "webhook v.guard.io", "webhook-down", "", "connection refused", false, 0},
		{"hangs", `failed calling webhook "v.guard.io": ` + post + `context deadline exceeded`, "webhook v.guard.io", "webhook-down", "", "timeout", false, 0},
		{"expired", `failed calling webhook "v.guard.io": ` + post + `tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-26T12:00:00Z is after 2026-11-25T00:00:00Z`, "webhook v.guard.io", "webhook-down", "", "certificate", false, 0},
		{"wrong path", `failed calling webhook "v.guard.io": failed to call webhook: the server could not find the requested resource`, "webhook v.guard.io", "webhook-down", "", "not found", false, 0},
		{"an old server", `Internal error occurred: failed calling webhook "v.guard.io": Post https://guard.security.svc:443/v?timeout=30s: EOF`, "webhook v.guard.io", "webhook-down", "", "no answer", false, 0},
		{"escaped in a log", `level=error msg="failed calling webhook \"v.guard.io\": failed to call webhook: Post \"https://g\": no endpoints available for service \"g\""`, "webhook v.guard.io", "webhook-down", "", "no endpoints", false, 0},
		{"an outage that quotes a denial", `failed calling webhook "v.guard.io": admission webhook "w" denied the request: x`, "webhook v.guard.io", "webhook-down", "", "no answer", false, 0},
		{"no dry run", `admission webhook "w.guard.io" does not support dry run`, "webhook w.guard.io", "no-dry-run", "", "", false, 0},
		{"another error", `deployments.apps "web" not found`, "", "", "", "", false, 0},
		{"an invalid object", `Service "web" is invalid: spec.ports[0].port: Invalid value: 99999`, "", "", "", "", false, 0},
	} {
		d := admission.ReadDenial(tc.text)
		if d.Source() != tc.source || d.Sort != tc.sort || d.Rule != tc.rule || d.Cause != tc.cause || d.Verdict() != tc.verdict || len(d.Reasons) != tc.reasons {
			t.Errorf("%s: source %q, %+v, want source %q, sort %q, rule %q, cause %q, verdict %v, %d reasons", tc.name, d.Source(), d, tc.source, tc.sort, tc.rule, tc.cause, tc.verdict, tc.reasons)
		}
	}
	if d := admission.ReadDenial("admission webhook \"validation.gatekeeper.sh\" denied the request: [a] x\n[b] y\n[a] z"); len(d.Others) != 1 || d.Others[0] != "b" || len(d.Reasons) != 3 {
		t.Errorf("of three lines by two constraints: %+v", d)
	}
}

// FuzzReadDenial: an outage is never a verdict, and what is named stands in the text.
func FuzzReadDenial(f *testing.F) {
	f.Add(`admission webhook "validation.gatekeeper.sh" denied the request: [a] x`)
	f.Add(`failed calling webhook "v.guard.io": Post "https://g": x509: unknown`)
	f.Add(`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: x`)
	f.Add(`pods "p" is forbidden: violates PodSecurity "baseline:v1.30": host namespaces (hostNetwork=true), x(((,`)
	f.Add("admission webhook \"validate.kyverno.svc-fail\" denied the request: following policies \n\np:\n  r: x")
	f.Add(`exceeded quota: rq, requested: pods=1, used: pods=1, limited: pods=1`)
	f.Fuzz(func(t *testing.T, text string) {
		d := admission.ReadDenial(text)
		if d.Verdict() && d.Sort == admission.Down || (d.Sort == admission.Down) != (d.Cause != "") {
			t.Fatalf("%q: %+v", text, d)
		}
		if (d.Sort == "") != (d.Source() == "") && d.Policy+d.Webhook != "" {
			t.Fatalf("%q: sort %q by %q", text, d.Sort, d.Source())
		}
		for _, name := range append([]string{d.Webhook, d.Policy, d.Binding, d.Rule, d.Level}, d.Others...) {
			if len(name) < 253 && !strings.Contains(text, name) {
				t.Fatalf("%q names %q, which is not in it", text, name)
			}
		}
		if len(d.Reasons) > 32 || len(d.Others) > 32 {
			t.Fatalf("%q has %d reasons", text, len(d.Reasons))
		}
	})
}
