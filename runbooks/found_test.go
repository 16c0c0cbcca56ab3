package runbooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFound: what a text says of the thing that it is about, in YAML, JSON, commands and
// errors; and nothing where it names several.
func TestFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		book, text string
		want       map[string]string
	}{
		"YAML": {"stuck-finalizer", "apiVersion: batch/v1\nkind: Job\nmetadata:\n  annotations:\n    name: other\n  name: migrate-41\n  namespace: payments\n  finalizers:\n  - example.org/hold\nspec:\n  template:\n    metadata:\n      name: pod\n",
			map[string]string{"resource": "job", "name": "migrate-41", "namespace": "payments"}},
		"JSON": {"stuck-finalizer", "$ kubectl get pod x -o json\n{\"kind\": \"Pod\", \"metadata\": {\"name\": \"web-1\", \"namespace\": \"shop\"}}",
			map[string]string{"resource": "pod", "name": "web-1", "namespace": "shop"}},
		"two objects": {"stuck-finalizer", "kind: Job\nmetadata:\n  name: a\n---\nkind: Pod\nmetadata:\n  name: b\n", map[string]string{}},
		"a namespace": {"stuck-finalizer", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: payments\nstatus:\n  phase: Terminating\n", map[string]string{"space": "payments"}},
		"a namespace where only objects are": {"reverting-fixes", "kind: ConfigMap\nmetadata:\n  name: rates\n  namespace: shop\n",
			map[string]string{"resource": "configmap", "name": "rates", "namespace": "shop"}},
		"kubectl":           {"stuck-finalizer", "ana@host:~$ kubectl -n payments delete job/migrate-41 --wait=false\njob.batch \"migrate-41\" deleted", map[string]string{"resource": "job", "name": "migrate-41", "namespace": "payments"}},
		"kubectl namespace": {"stuck-finalizer", "$ kubectl delete ns payments", map[string]string{"space": "payments"}},
		"a destroy that waits for a namespace": {"stuck-finalizer", "kubernetes_config_map.a: Still destroying... [id=preview-142/a, 10s elapsed]\nkubernetes_config_map.a: Destruction complete after 11s\nkubernetes_namespace.preview: Still destroying... [id=preview-142, 5m0s elapsed]\n\nError: timeout while waiting for resource to be gone (last state: 'Terminating', timeout: 5m0s)",
			map[string]string{"space": "preview-142"}},
		"a destroy that waits for a claim": {"stuck-finalizer", "module.db[\"a\"].kubernetes_persistent_volume_claim_v1.data: Still destroying... [id=ledger/ledger-data, 5m0s elapsed]",
			map[string]string{"resource": "persistentvolumeclaim", "name": "ledger-data", "namespace": "ledger"}},
		"a destroy that waits for two":   {"stuck-finalizer", "kubernetes_pod.a: Still destroying... [id=shop/a, 10s elapsed]\nkubernetes_pod.b: Still destroying... [id=shop/b, 10s elapsed]", map[string]string{}},
		"a destroy of labels":            {"stuck-finalizer", "kubernetes_labels.a: Still destroying... [id=apiVersion=v1,kind=Pod,namespace=shop,name=a, 10s elapsed]", map[string]string{"namespace": "shop"}},
		"a destroy of something cut off": {"stuck-finalizer", "kubernetes_secret.a: Still destroying... [id=shop/a-very-long-na…, 10s elapsed]", map[string]string{}},
		"an API error": {"stuck-finalizer", `Error from server (NotFound): jobs.batch "migrate-41" not found in the namespace "payments"`,
			map[string]string{"resource": "jobs.batch", "name": "migrate-41", "namespace": "payments"}},
		"terraform": {"stale-plan", "+ cd /srv/infra\n+ TF_WORKSPACE=prod terraform apply -input=false release.tfplan 2>&1 | tee -a /var/log/apply.log\nError: Saved plan is stale",
			map[string]string{"dir": "/srv/infra", "workspace": "prod", "plan": "release.tfplan", "log": "/var/log/apply.log"}},
		"an apply of no saved plan": {"stale-plan", "$ terraform apply -auto-approve | tee tfplan.log", map[string]string{"log": "tfplan.log"}},
		"what is no log":            {"stale-plan", "$ tofu state pull > prod.tfstate\n$ tofu apply release.tfplan\nError: Saved plan is stale", map[string]string{"plan": "release.tfplan"}},
		"the log of another run":    {"state-lock", "$ tofu plan | tee plan.log\nError: Error acquiring the state lock", map[string]string{}},
		"chdir":                     {"state-lock", "$ tofu -chdir=infra/network plan\nError: Error acquiring the state lock", map[string]string{"dir": "infra/network"}},
		"workspace": {"state-lock", "Switched to workspace \"prod-eu\".\nError: Error acquiring the state lock",
			map[string]string{"workspace": "prod-eu"}},
		"two workspaces":   {"state-lock", "Switched to workspace \"a\".\nSwitched to workspace \"b\".", map[string]string{}},
		"no value of it":   {"stuck-finalizer", "$ kubectl -n -x get pod 'a b'", map[string]string{}},
		"words about a cd": {"state-lock", "we burned the cd of the backup yesterday", map[string]string{}},
		"a story": {"reverting-fixes", "We set it back in configmap pay-env in namespace pay, and it always comes back to 300s.",
			map[string]string{"resource": "configmap", "name": "pay-env", "namespace": "pay"}},
		"a story with a slash": {"reverting-fixes", "Deployment/api goes back to 0 again. The deployment is new.", map[string]string{"resource": "deployment", "name": "api"}},
		"a story with a hyphen in its namespace": {"reverting-fixes", "We patch configmap pay-env in namespace shop-eu and it is back to 300s.",
			map[string]string{"resource": "configmap", "name": "pay-env", "namespace": "shop-eu"}},
		"a story of a short name": {"reverting-fixes", "The targetPort of service gateway in namespace sk-edge keeps going back to 9099.",
			map[string]string{"resource": "service", "name": "gateway", "namespace": "sk-edge"}},
		"a namespace says where":          {"reverting-fixes", "configmap pay-env in namespace shop-eu comes back", map[string]string{"resource": "configmap", "name": "pay-env", "namespace": "shop-eu"}},
		"an object as handrail writes it": {"reverting-fixes", "deployment/shop-eu/api\nit comes back", map[string]string{"resource": "deployment", "name": "api", "namespace": "shop-eu"}},
		"a Deployment whose Pods a quota refuses": {"hardening-cascade", "deployment/shop-eu/api\nFailedCreate: pods \"api-58579ff6bc-tplsf\" is forbidden: exceeded quota: budget, requested: pods=1",
			map[string]string{"namespace": "shop-eu", "app": "api"}},
		"a Secret is no workload":      {"secret-sync", "Error: secret \"payments-db\" not found", map[string]string{}},
		"nor is a Pod":                 {"secret-sync", "$ kubectl -n shop describe pod payments-6d4cf56db6-x2x9z", map[string]string{"namespace": "shop"}},
		"a workload by its short name": {"secret-sync", "$ kubectl -n shop describe sts/payments", map[string]string{"resource": "statefulset", "name": "payments", "namespace": "shop"}},
		"an application by its word":   {"gitops-out-of-sync", "$ kubectl -n argocd get application shop", map[string]string{"name": "shop", "namespace": "argocd"}},
		"a story of two":               {"reverting-fixes", "configmap pay-env and configmap shop-env come back", map[string]string{}},
		"a story without one":          {"reverting-fixes", "the deployment is broken, the pod too", map[string]string{}},
		"nothing":                      {"state-lock", "Error: Error acquiring the state lock", map[string]string{}},
		"list":                         {"stuck-finalizer", `{"kind": "PodList", "items": []}`, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, bookOf(t, tc.book).Found(tc.text, nil)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
