package index

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// filed is what an entry is found by, as key=value.
func filed(t *testing.T, body triage.Body) []string {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{}
	p.add(evidence.Entry{Type: body.Type(), T: "2026-01-05T12:00:00.000000000Z", Data: data})
	if len(p.entries) != 1 {
		t.Fatalf("%d entries, want one", len(p.entries))
	}
	var out []string
	for _, l := range p.entries[0].lines {
		if l.key != NoKey {
			out = append(out, l.key.String()+"="+l.val())
		}
	}
	return out
}

// TestEveryKeyHasAProducer: each of the eleven keys is found in what people say, in what
// steps report and in what objects are annotated with, and nothing lies under a wrong one.
func TestEveryKeyHasAProducer(t *testing.T) {
	t.Parallel()
	str := steps.StringOf
	list := func(s ...string) triage.Value { return steps.StringsOf(s) }
	facts := func(f map[string]triage.Value) triage.Body {
		return triage.ProbeEnd{Step: "b/s", N: 1, Outcome: "ok", Facts: f}
	}
	for name, tc := range map[string]struct {
		body       triage.Body
		want, none []string
	}{
		"a proof by its items": {
			triage.Manual{Step: "b/run", Proof: "see below", Gives: []triage.Given{{Item: "E1", Value: "5e1c9a7c"}, {Item: "E2", Value: "42"}, {Item: "E3", Value: "9001"}, {Item: "E6", Value: "grace"}, {Item: "E10", Value: "prod"}, {Item: "E5", None: true, Value: "none"}}},
			[]string{"commit=5e1c9a7c", "pr=42", "run=9001", "actor=grace", "environment=prod"}, []string{"policy="},
		},
		"links in a proof": {
			triage.Manual{Step: "b/run", Proof: "https://forge.example/acme/infra/pull/4711 and https://forge.example/acme/infra/actions/runs/88"},
			[]string{"pr=4711", "run=88"}, nil,
		},
		"a merge request in an answer": {triage.Answer{Step: "b/s", Value: "yes", How: "https://lab.example/x/-/merge_requests/12, under exception EXC-2041"}, []string{"pr=12", "exception=EXC-2041"}, nil},
		"a waiver":                     {triage.Waive{Law: 1, Subject: "b/s", Person: "ana", Why: "exception ID: SEC-7"}, []string{"exception=SEC-7", "actor=ana"}, nil},
		"a debt that is paid":          {triage.Settle{Debt: "d", How: "paid", Proof: "PR #77"}, []string{"pr=77"}, nil},
		"a ref":                        {triage.Note{Text: "refs/merge-requests/9/head"}, []string{"pr=9"}, nil},
		"annotations": {
			facts(map[string]triage.Value{"annotations": steps.TableOf(map[string]string{"policy.example/exception-id": "EXC-9", "forge.example/pull-request": "31", "cloud.example/account-id": "000000000007", "meta.helm.sh/release-name": "web", "example/name": "x"})}),
			[]string{"exception=EXC-9", "pr=31", "account=000000000007"}, []string{"resource=x"},
		},
		"an account in a role":      {facts(map[string]triage.Value{"why": str("AccessDenied: arn:aws:sts::123456789012:assumed-role/ci/run is not authorised")}), []string{"account=123456789012"}, nil},
		"another cloud's":           {facts(map[string]triage.Value{"why": str("/subscriptions/0f0f0f0f-1111-2222-3333-444444444444/resourceGroups/x")}), []string{"account=0f0f0f0f-1111-2222-3333-444444444444"}, nil},
		"a service account":         {triage.ProbeStart{Step: "b/s", N: 1, Kind: "kube/may", With: map[string]triage.Value{"account": str("ci/deployer")}}, []string{"actor=ci/deployer"}, []string{"account="}},
		"accounts that may write":   {facts(map[string]triage.Value{"accounts": list("system:serviceaccount:a:b")}), []string{"actor=system:serviceaccount:a:b"}, []string{"account="}},
		"a cloud account by name":   {facts(map[string]triage.Value{"account_id": str("210987654321")}), []string{"account=210987654321"}, nil},
		"a webhook that denies":     {facts(map[string]triage.Value{"line": str(`Error: admission webhook "guard.example.org" denied the request: no owner`)}), []string{"policy=guard.example.org"}, nil},
		"a policy that denies":      {facts(map[string]triage.Value{"line": str(`ValidatingAdmissionPolicy 'need-owner' with binding 'b' denied request`)}), []string{"policy=need-owner"}, nil},
		"a webhook that is paused":  {facts(map[string]triage.Value{"webhook": str("guard.example.org"), "policy_binding": str("b")}), []string{"policy=guard.example.org", "policy=b"}, nil},
		"a hook of a chart":         {triage.Plan{Runbook: "hardening-cascade", Params: map[string]triage.Value{"hook": str("db-migrate"), "policy": str("deny-all")}}, []string{"resource=db-migrate", "resource=deny-all"}, []string{"policy="}},
		"a hook that is a fact":     {facts(map[string]triage.Value{"hook": steps.BoolOf(true), "policy": str("hook-succeeded")}), nil, []string{"policy=", "resource="}},
		"a file is no run":          {triage.Plan{Runbook: "init-cascade", Params: map[string]triage.Value{"job": steps.PathOf("job.yaml")}}, nil, []string{"run="}},
		"a service and its cluster": {facts(map[string]triage.Value{"service": str("shop/web"), "cluster": str("prod")}), []string{"service=shop/web", "cluster=prod"}, nil},
		"long output names nothing": {triage.Note{Text: strings.Repeat("x", longestTold) + " PR #77"}, nil, []string{"pr="}},
	} {
		got := filed(t, tc.body)
		for _, w := range tc.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %q is not filed; filed are %q", name, w, got)
			}
		}
		for _, n := range tc.none {
			if slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, n) }) {
				t.Errorf("%s: something lies under %q: %q", name, n, got)
			}
		}
	}
}
