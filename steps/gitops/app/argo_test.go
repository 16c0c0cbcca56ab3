package app

import (
	"testing"
	"time"
)

func parsed(t *testing.T, group, kind, raw string) App {
	t.Helper()
	a, err := Parse(group, kind, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func argo(t *testing.T, raw string) App { return parsed(t, ArgoGroup, "Application", raw) }

// TestArgoLinks: each way in which a sync of Argo CD fails is told apart, by texts of
// v3.2.1.
func TestArgoLinks(t *testing.T) {
	t.Parallel()
	failed := func(message, results string) string {
		return `{"status":{"operationState":{"phase":"Failed","message":"` + message + `","syncResult":{"resources":[` + results + `]}}}}`
	}
	condition := func(kind, message string) string {
		return `{"status":{"conditions":[{"type":"` + kind + `","message":"` + message + `"}]}}`
	}
	for name, tc := range map[string]struct {
		raw   string
		link  Link
		wrote Tristate
	}{
		"well":             {`{"status":{"sync":{"status":"Synced"},"health":{"status":"Healthy"},"operationState":{"phase":"Succeeded","message":"successfully synced (all tasks run)"}}}`, LinkNone, Unknown},
		"no revision":      {condition("ComparisonError", `Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = unable to resolve 'nosuch' to a commit SHA`), LinkSource, Unknown},
		"Git is gone":      {condition("ComparisonError", `Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = failed to list refs: Get \"http://127.0.0.1:1/shop.git\": dial tcp 127.0.0.1:1: connect: connection refused`), LinkSource, Unknown},
		"no helm":          {condition("ComparisonError", `failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = Manifest generation error (cached): exec: \"helm\": executable file not found in $PATH`), LinkRender, Unknown},
		"project":          {condition("InvalidSpecError", `application destination server 'x' and namespace 'y' do not match any of the allowed destinations in project 'tight'`), LinkSpec, Unknown},
		"CRD is missing":   {failed("one or more synchronization tasks are not valid", `{"kind":"Widget","group":"example.com","name":"w","status":"SyncFailed","message":"The Kubernetes API could not find example.com/Widget for requested resource shop/w. Make sure the \"Widget\" CRD is installed on the destination cluster."}`), LinkDependency, No},
		"another version":  {failed("one or more synchronization tasks are not valid", `{"kind":"Widget","group":"example.com","name":"w","status":"SyncFailed","message":"The Kubernetes API could not find version \"v2\" of example.com/Widget for requested resource shop/w. Version \"v1\" of example.com/Widget is installed on the destination cluster."}`), LinkDependency, No},
		"admission":        {failed("one or more objects failed to apply", `{"kind":"ConfigMap","name":"a","status":"Synced"},{"kind":"Deployment","group":"apps","name":"web","status":"SyncFailed","message":"admission webhook \"validate.example.com\" denied the request: no team label"}`), LinkAdmission, Yes},
		"dead webhook":     {failed("one or more objects failed to apply", `{"kind":"Pod","name":"a","status":"SyncFailed","message":"Internal error occurred: failed calling webhook \"v.example.com\": failed to call webhook: Post \"https://v.s.svc:443/\": no endpoints available for service \"v\""}`), LinkAdmission, No},
		"forbidden":        {failed("one or more objects failed to apply", `{"kind":"Role","name":"a","status":"SyncFailed","message":"roles.rbac.authorization.k8s.io \"a\" is forbidden: user \"system:serviceaccount:argocd:x\" is attempting to grant RBAC permissions not currently held"}`), LinkApply, No},
		"not permitted":    {failed("one or more synchronization tasks are not valid", `{"kind":"Deployment","group":"apps","name":"a","status":"SyncFailed","message":"resource apps:Deployment is not permitted in project tight"}`), LinkApply, No},
		"hook failed":      {failed("one or more synchronization tasks completed unsuccessfully. Retrying attempt #2", `{"group":"batch","kind":"Job","name":"migrate","status":"Synced","hookType":"PreSync","hookPhase":"Failed","message":"Job has reached the specified backoff limit"}`), LinkHook, Yes},
		"hook runs":        {`{"status":{"operationState":{"phase":"Running","message":"waiting for completion of hook batch/Job/migrate","syncResult":{"resources":[{"kind":"Job","group":"batch","name":"migrate","hookType":"PreSync","hookPhase":"Running"}]}}}}`, LinkHook, Yes},
		"a wave waits":     {`{"status":{"operationState":{"phase":"Running","message":"waiting for healthy state of apps/Deployment/web","syncResult":{"resources":[{"kind":"Deployment","group":"apps","name":"web","status":"Synced","hookPhase":"Running"}]}}}}`, LinkHealth, Yes},
		"held in deletion": {`{"status":{"sync":{"status":"OutOfSync"},"operationState":{"phase":"Succeeded","syncResult":{"resources":[{"kind":"ConfigMap","namespace":"shop","name":"ledger","status":"Pruned","message":"pruned"}]}},"resources":[{"kind":"ConfigMap","namespace":"shop","name":"ledger","status":"OutOfSync","requiresPruning":true}]}}`, LinkPrune, Yes},
		"pruned and gone":  {`{"status":{"sync":{"status":"Synced"},"operationState":{"phase":"Succeeded","syncResult":{"resources":[{"kind":"ConfigMap","namespace":"shop","name":"ledger","status":"Pruned","message":"pruned"}]}}}}`, LinkNone, Yes},
		"not to prune":     {`{"status":{"sync":{"status":"OutOfSync"},"operationState":{"phase":"Succeeded","syncResult":{"resources":[{"kind":"ConfigMap","namespace":"shop","name":"ledger","status":"PruneSkipped","message":"ignored (requires pruning)"}]}},"resources":[{"kind":"ConfigMap","namespace":"shop","name":"ledger","status":"OutOfSync","requiresPruning":true}]}}`, LinkNone, Unknown},
		"degraded":         {`{"status":{"sync":{"status":"Synced"},"health":{"status":"Degraded","message":"Deployment \"web\" exceeded its progress deadline"},"operationState":{"phase":"Succeeded"}}}`, LinkHealth, Unknown},
		"a person ended":   {failed("Operation terminated", ""), LinkUnknown, Unknown},
		"failed and quiet": {failed("something new that this version says", ""), LinkUnknown, Unknown},
		"render of a sync": {failed("ComparisonError: failed to generate manifest: kustomize build failed", ""), LinkRender, No},
	} {
		a := argo(t, tc.raw)
		if a.Link != tc.link || a.Operation.Wrote != tc.wrote {
			t.Errorf("%s: link %s, wrote %d (%s); want %s, %d", name, a.Link, a.Operation.Wrote, a.Says, tc.link, tc.wrote)
		}
		if (a.Link == LinkNone) != (a.Says == "") {
			t.Errorf("%s: link %s says %q", name, a.Link, a.Says)
		}
	}
}

// TestElsewhere: an application that delivers to another cluster says so, however its controller names one, and one of that
// very server does not.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	const here = "https://10.0.0.1:6443"
	for want, all := range map[string][]App{
		"": {
			argo(t, `{"spec":{"destination":{"namespace":"shop"}}}`), argo(t, `{"spec":{"destination":{"server":"https://kubernetes.default.svc"}}}`),
			argo(t, `{"spec":{"destination":{"name":"in-cluster"}}}`), argo(t, `{"spec":{"destination":{"server":"https://10.0.0.1:6443/"}}}`), kustomization(t, `{"spec":{}}`),
		},
		"https://10.0.0.2:6443":  {argo(t, `{"spec":{"destination":{"server":"https://10.0.0.2:6443"}}}`)},
		"spoke":                  {argo(t, `{"spec":{"destination":{"name":"spoke"}}}`)},
		"of Secret ops/spoke":    {kustomization(t, `{"metadata":{"namespace":"ops"},"spec":{"kubeConfig":{"secretRef":{"name":"spoke"}}}}`)},
		"of ConfigMap ops/spoke": {kustomization(t, `{"metadata":{"namespace":"ops"},"spec":{"kubeConfig":{"configMapRef":{"name":"spoke"}}}}`), parsed(t, HelmGroup, "HelmRelease", `{"metadata":{"namespace":"ops"},"spec":{"kubeConfig":{"configMapRef":{"name":"spoke"}}}}`)},
	} {
		for i, a := range all {
			if got := a.Elsewhere(here); got != want {
				t.Errorf("Elsewhere() of %d is %q, want %q", i, got, want)
			}
		}
	}
}

// TestArgoPolicy: auto-sync is on while its block is there and not switched off, and a
// suspension has its author where managedFields have one.
func TestArgoPolicy(t *testing.T) {
	t.Parallel()
	const books = `"managedFields":[{"manager":"kubectl-patch","operation":"Update","time":"2026-11-24T09:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:syncPolicy":{"f:automated":{"f:enabled":{}}}}}},` +
		`{"manager":"argocd-controller","operation":"Update","time":"2026-11-24T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}}}]`
	at := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		raw              string
		auto, heal       bool
		suspended, least bool
		by               string
		since            time.Time
	}{
		"by hand":       {raw: `{"spec":{}}`},
		"null block":    {raw: `{"spec":{"syncPolicy":{"automated":null}}}`},
		"on":            {raw: `{"spec":{"syncPolicy":{"automated":{}}}}`, auto: true},
		"heals":         {raw: `{"spec":{"syncPolicy":{"automated":{"enabled":null,"selfHeal":true}}}}`, auto: true, heal: true},
		"switched off":  {raw: `{"metadata":{` + books + `},"spec":{"syncPolicy":{"automated":{"enabled":false,"selfHeal":true}}}}`, suspended: true, by: "kubectl-patch", since: at},
		"no author":     {raw: `{"spec":{"syncPolicy":{"automated":{"enabled":false}}},"status":{"history":[{"deployedAt":"2026-11-24T08:00:00Z"},{"deployedAt":"2026-11-24T09:00:00Z","initiatedBy":{"automated":true}}]}}`, suspended: true, since: at, least: true},
		"skipped":       {raw: `{"metadata":{"annotations":{"argocd.argoproj.io/skip-reconcile":"true"}},"spec":{"syncPolicy":{"automated":{}}}}`, auto: true, suspended: true, least: true},
		"skipped: text": {raw: `{"metadata":{"annotations":{"argocd.argoproj.io/skip-reconcile":"perhaps"}},"spec":{"syncPolicy":{"automated":{}}}}`, auto: true},
	} {
		a := argo(t, tc.raw)
		if a.AutoSync != tc.auto || a.SelfHeal != tc.heal || (a.Suspension != nil) != tc.suspended {
			t.Errorf("%s: auto-sync %v, self-heal %v, suspended %v", name, a.AutoSync, a.SelfHeal, a.Suspension)
			continue
		}
		if s := a.Suspension; s != nil && (s.By != tc.by || !s.Since.Equal(tc.since) || s.AtLeast != tc.least) {
			t.Errorf("%s: suspended by %q since %s, a lower bound %v", name, s.By, s.Since, s.AtLeast)
		}
	}
}

// TestSuspensionNote: what handrail wrote beside a pause counts where the pause is its own; one that something else
// made since is not that of the incident.
func TestSuspensionNote(t *testing.T) {
	t.Parallel()
	at := func(manager string) App {
		return argo(t, `{"metadata":{"annotations":{"handrail/paused-in":"i-1","handrail/paused-until":"2026-11-24T13:00:00Z","handrail/paused-why":"a hook"},"managedFields":[{"manager":"`+manager+`","operation":"Update","time":"2026-11-24T09:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:syncPolicy":{"f:automated":{"f:enabled":{}}}}}}]},"spec":{"syncPolicy":{"automated":{"enabled":false}}}}`)
	}
	if n := at("handrail").Suspension.Note; n.String() != "in incident i-1 until 2026-11-24T13:00:00Z: a hook" {
		t.Errorf("the note is %q", n)
	}
	if n := at("argocd-server").Suspension.Note; n.String() != "" {
		t.Errorf("of a pause by another program the note is %q", n)
	}
}

// TestArgoCarriedResults: an operation that ends as Error, or has just begun, keeps the results of the one before, and they are
// no word about what it wrote.
func TestArgoCarriedResults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		phase, message string
		carried        bool
		wrote          Tristate
	}{
		"could not begin": {"Error", "ComparisonError: failed to generate manifest: yaml", true, Unknown},
		"just begun":      {"Running", "", true, Unknown},
		"waits":           {"Running", "waiting for completion of hook batch/Job/migrate", false, Yes},
		"failed":          {"Failed", "one or more objects failed to apply", false, Yes},
		"succeeded":       {"Succeeded", "successfully synced", false, Yes},
	} {
		op := argo(t, `{"status":{"operationState":{"phase":"`+tc.phase+`","message":"`+tc.message+`","startedAt":"2026-11-24T09:00:00Z",
			"syncResult":{"revision":"b","resources":[{"kind":"ConfigMap","namespace":"a","name":"b","status":"Synced","syncPhase":"Sync"}]}}}}`).Operation
		if (len(op.Earlier) > 0) != tc.carried || (len(op.Results) > 0) == tc.carried || op.Wrote != tc.wrote {
			t.Errorf("%s: results %v, of an earlier one %v, wrote %d", name, op.Results, op.Earlier, op.Wrote)
		}
	}
}

// TestArgoUncompared: where Argo CD has no manifests to compare with, nothing is known to differ or to be surplus.
func TestArgoUncompared(t *testing.T) {
	t.Parallel()
	a := argo(t, `{"status":{"sync":{"status":"Unknown"},"resources":[{"kind":"ConfigMap","namespace":"a","name":"b","status":"Unknown","requiresPruning":true}]}}`)
	if a.Sync != SyncUnknown || len(a.Differing()) > 0 || a.Resources[0].Prune {
		t.Errorf("%+v", a.Resources)
	}
}

// TestArgoRepairedSince: what kept an operation from beginning is over once a later comparison does not say it any more. What
// the API server refused stays until it is synced again.
func TestArgoRepairedSince(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		phase, compared string
		want            Link
	}{
		"not compared since":       {"Error", "2026-11-24T09:00:05Z", LinkRender},
		"compared since":           {"Error", "2026-11-24T09:00:06Z", LinkNone},
		"refused by the API since": {"Failed", "2026-11-24T09:00:06Z", LinkRender},
	} {
		a := argo(t, `{"status":{"sync":{"status":"OutOfSync"},"reconciledAt":"`+tc.compared+`","operationState":{"phase":"`+tc.phase+`",
			"message":"ComparisonError: failed to generate manifest: yaml","startedAt":"2026-11-24T09:00:00Z","finishedAt":"2026-11-24T09:00:05Z"}}}`)
		if a.Link != tc.want {
			t.Errorf("%s: it fails at %s, want %s", name, a.Link, tc.want)
		}
	}
}

// TestArgoParts: what the object lists is carried over whole.
func TestArgoParts(t *testing.T) {
	t.Parallel()
	a := argo(t, `{"metadata":{"name":"shop","namespace":"argocd","uid":"u"},"spec":{"project":"default","source":{"repoURL":"http://g/shop.git","path":"app","targetRevision":"main"}},
		"status":{"sync":{"status":"OutOfSync","revision":"abc"},"reconciledAt":"2026-11-24T09:00:00Z",
		"history":[{"revision":"one","deployedAt":"2026-11-24T07:00:00Z"},{"revision":"two","deployedAt":"2026-11-24T08:00:00Z"}],
		"resources":[{"group":"apps","kind":"Deployment","namespace":"shop","name":"web","status":"OutOfSync"},{"kind":"ConfigMap","namespace":"shop","name":"old","status":"OutOfSync","requiresPruning":true},{"kind":"Service","namespace":"shop","name":"web","status":"Synced","health":{"status":"Healthy"}}]}}`)
	if a.String() != "argocd application argocd/shop" || a.Applied != "two" || a.Tried != "abc" || a.Sync != OutOfSync || a.Checked.IsZero() || len(a.Sources) != 1 || a.Sources[0].Path != "app" {
		t.Errorf("%+v", a)
	}
	if d := a.Differing(); len(d) != 2 || d[0].String() != "deployment.apps/shop/web" || !d[1].Prune || a.Resources[2].Health != Healthy {
		t.Errorf("differing %v of %v", d, a.Resources)
	}
}
