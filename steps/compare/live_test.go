package compare

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	"handrail/steps/terraform"
)

func (w *world) unmake(name string) {
	w.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", shared.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	req, _ := http.NewRequest(http.MethodDelete, cfg.Host+"/api/v1/namespaces/"+w.ns.Name+"/configmaps/"+name, nil)
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.t.Fatal(resp.Status)
	}
}

func (w *world) removal(addresses ...string) steps.Preview {
	w.t.Helper()
	env := w.env
	env.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.env.Home}
	env.Tool = func(string) (string, error) { return shared.TofuPath(), nil }
	env.Trusted = func(string) error { return nil }
	for _, k := range terraform.Kinds(Look) {
		if k.Name == "terraform/state-rm" {
			p, err := k.Changes(env).Preview(w.t.Context(), steps.Params{"addresses": steps.StringsOf(addresses)}, steps.SecretsOnly(nil))
			if err != nil {
				w.t.Fatal(err)
			}
			return p
		}
	}
	w.t.Fatal("there is no terraform/state-rm")
	return steps.Preview{}
}

// TestNothingThatExistsIsForgotten: the gate looks on the real API server twice,
// refuses what is there, and says what it could not know.
func TestNothingThatExistsIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, other, gone := w.make("here", "Terraform"), w.make("other", "Terraform"), w.make("gone", "Terraform")
	w.state(w.configMap("here", here), w.configMap("other", other), w.configMap("gone", gone), w.configMap("again", "11111111-2222-3333-4444-555555555555"),
		`{"mode":"managed","type":"aws_instance","name":"a","provider":"provider[\"registry.opentofu.org/hashicorp/aws\"]","instances":[{"schema_version":1,"attributes":{"id":"i-1"}}]}`,
		`{"mode":"managed","type":"terraform_data","name":"t","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"x"}}]}`)
	w.unmake("gone")
	w.make("again", "kubectl")
	why := func(p steps.Preview) string {
		var all []string
		for _, n := range p.Unmet {
			all = append(all, n.Why)
		}
		return strings.Join(all, "\n")
	}
	if got := why(w.removal("kubernetes_config_map_v1.here")); !strings.Contains(got, "exists: configmaps "+w.ns.Name+"/here on ") {
		t.Errorf("an object that is there: %q", got)
	}
	if got := why(w.removal("kubernetes_config_map_v1.again", "kubernetes_config_map_v1.gone")); !strings.Contains(got, "another object with its name") {
		t.Errorf("a stranger with the name: %q", got)
	}
	p := w.removal("kubernetes_config_map_v1.gone")
	if got := why(p); got != "" || !strings.Contains(steps.Find(p.Shown, "absent"), "gone is not on https://") {
		t.Errorf("an object that is gone: %q, shown %v", got, p.Shown)
	}
	p = w.removal("kubernetes_config_map_v1.gone", "aws_instance.a", "terraform_data.t")
	if got := why(p); got != "" || !strings.Contains(steps.Find(p.Shown, "unknown"), "aws_instance.a still exists: handrail cannot look for objects of the type aws_instance") {
		t.Errorf("an object of no cluster: %q, shown %v", got, p.Shown)
	}

	// Nothing of the state is there: it is not known that this is the cluster.
	w.unmake("here")
	w.unmake("other")
	p = w.removal("kubernetes_config_map_v1.gone")
	if got := why(p); got != "" || !strings.Contains(steps.Find(p.Shown, "unknown"), "may be another cluster") {
		t.Errorf("an empty cluster: %q, shown %v", got, p.Shown)
	}
	w.env.Kubeconfig = w.write("kubeconfig", "apiVersion: v1\nkind: Config\n")
	p = w.removal("kubernetes_config_map_v1.gone")
	if got := why(p); got != "" || !strings.Contains(steps.Find(p.Shown, "unknown"), "no cluster could be asked") {
		t.Errorf("no cluster: %q, shown %v", got, p.Shown)
	}
}
