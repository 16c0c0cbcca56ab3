package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/stepstest"
)

var shared *lab.Lab

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	opts, err := lab.ForTests(fmt.Sprintf("steps-compare-%d", os.Getpid()))
	if err == nil {
		shared, err = lab.Up(context.Background(), opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// world is a namespace of a real cluster, and a directory with a state beside it.
type world struct {
	t   *testing.T
	ns  lab.Namespace
	dir string
	env steps.Env
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ns, err := shared.Namespace(t.Context(), "compare")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.VacateNamespace(context.Background(), ns.Name) })
	w := &world{t: t, ns: ns, dir: t.TempDir()}
	w.env = steps.Env{Dir: w.dir, Home: t.TempDir(), Kubeconfig: ns.OperatorKubeconfig, Now: time.Now}
	return w
}

// make creates a ConfigMap as a program of some name does, and returns its UID.
func (w *world) make(name, manager string) string {
	w.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", w.ns.RobotKubeconfig)
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"k":"v"}}`, name)
	resp, err := client.Post(fmt.Sprintf("%s/api/v1/namespaces/%s/configmaps?fieldManager=%s", cfg.Host, w.ns.Name, manager), "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var made struct{ Metadata struct{ UID string } }
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || resp.StatusCode != http.StatusCreated {
		w.t.Fatalf("%s: %v", resp.Status, err)
	}
	return made.Metadata.UID
}

func (w *world) write(name, text string) string {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// state writes a state as the kubernetes provider leaves it.
func (w *world) state(instances ...string) {
	w.write("terraform.tfstate", `{"version":4,"terraform_version":"1.12.6","serial":3,"lineage":"l","resources":[`+strings.Join(instances, ",")+`]}`)
}

func (w *world) configMap(name, uid string) string {
	return fmt.Sprintf(`{"mode":"managed","type":"kubernetes_config_map_v1","name":%q,"provider":"provider[\"registry.opentofu.org/hashicorp/kubernetes\"]",
"instances":[{"schema_version":1,"attributes":{"id":"x","metadata":[{"name":%q,"namespace":%q,"uid":%q}]}}]}`, strings.ReplaceAll(name, "-", "_"), name, w.ns.Name, uid)
}

func (w *world) probe(kind string, in steps.Params) steps.Observation {
	w.t.Helper()
	for _, k := range Kinds() {
		if k.Name != kind {
			continue
		}
		obs, err := stepstest.Observe(w.t.Context(), k.Reads(w.env), k.Facts, in, steps.SecretsOnly(nil))
		if err != nil {
			w.t.Fatal(err)
		}
		return obs
	}
	w.t.Fatalf("no kind %s", kind)
	return steps.Observation{}
}

func TestGhostsOrphansAndStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.state(w.configMap("kept", w.make("kept", "Terraform")), w.configMap("gone", "1"), w.configMap("replaced", "2"),
		`{"mode":"managed","type":"aws_instance","name":"a","instances":[{"attributes":{"id":"i-1"}}]}`)
	w.make("replaced", "kubectl")
	w.make("lost", "HashiCorp")
	w.make("unrelated", "kubectl")
	obs := w.probe("compare/state-live", nil)
	f := obs.Facts
	if f["recorded"].Int() != 3 || f["present"].Int() != 1 || strings.Join(f["ghosts"].Strings(), " ") != "kubernetes_config_map_v1.gone" {
		t.Errorf("state = %v", f)
	}
	if f["strangers"].Table()["kubernetes_config_map_v1.replaced"] == "" || len(f["strangers"].Table()) != 1 {
		t.Errorf("strangers = %v", f["strangers"].Table())
	}
	if o := f["orphans"].Strings(); len(o) != 1 || !strings.HasSuffix(o[0], "/lost") {
		t.Errorf("orphans = %v", o)
	}
	if f["unchecked"].Table()["aws_instance"] != "1" || len(obs.Gaps) != 1 {
		t.Errorf("unchecked = %v, gaps %v", f["unchecked"].Table(), obs.Gaps)
	}
	w.wroteNothing()
}

// TestWhatKeepsAnObject: finalizers, and what becomes of the content of a volume, are read
// from the objects that live.
func TestWhatKeepsAnObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg, err := clientcmd.BuildConfigFromFlags("", shared.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, cfg.Host+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if req.Header.Set("Content-Type", "application/json"); method == http.MethodPatch {
			req.Header.Set("Content-Type", "application/merge-patch+json")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var made struct{ Metadata struct{ UID string } }
		if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %s, %v", method, path, resp.Status, err)
		}
		return made.Metadata.UID
	}
	volume := func(name, policy string) string {
		uid := send(http.MethodPost, "/api/v1/persistentvolumes", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"capacity":{"storage":"1Mi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/none"},"persistentVolumeReclaimPolicy":%q,"storageClassName":"none-here"}}`, name, policy))
		t.Cleanup(func() {
			send(http.MethodPatch, "/api/v1/persistentvolumes/"+name, `{"metadata":{"finalizers":null}}`)
			send(http.MethodDelete, "/api/v1/persistentvolumes/"+name, "")
		})
		return uid
	}
	claims := "/api/v1/namespaces/" + w.ns.Name + "/persistentvolumeclaims"
	// The lab's own controller must find no volume for the loose claim: its class is another.
	claim := func(name, of, class string) string {
		return send(http.MethodPost, claims, fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":["example.com/held"]},"spec":{"volumeName":%q,"storageClassName":%q,"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Mi"}}}}`, name, of, class))
	}
	t.Cleanup(func() {
		for _, name := range []string{"data", "loose"} {
			send(http.MethodPatch, claims+"/"+name, `{"metadata":{"finalizers":null}}`)
		}
	})
	recorded := func(typ, name, uid, namespace string) string {
		return fmt.Sprintf(`{"mode":"managed","type":%q,"name":%q,"provider":"provider[\"registry.example/hashicorp/kubernetes\"]","instances":[{"schema_version":1,"attributes":{"id":"x","metadata":[{"name":%q%s,"uid":%q}]}}]}`,
			typ, name, w.ns.Name+"-"+name, namespace, uid)
	}
	keep, drop := w.ns.Name+"-keep", w.ns.Name+"-drop"
	inSpace := fmt.Sprintf(`,"namespace":%q`, w.ns.Name)
	bound := strings.ReplaceAll(recorded("kubernetes_persistent_volume_claim_v1", "data", claim("data", drop, "none-here"), inSpace), w.ns.Name+"-data", "data")
	loose := strings.ReplaceAll(recorded("kubernetes_persistent_volume_claim_v1", "loose", claim("loose", "", "none-else"), inSpace), w.ns.Name+"-loose", "loose")
	w.state(recorded("kubernetes_persistent_volume", "keep", volume(keep, "Retain"), ""), recorded("kubernetes_persistent_volume", "drop", volume(drop, "Delete"), ""),
		bound, loose, w.configMap("plain", w.make("plain", "Terraform")))
	// Who may not read volumes does not learn it, and is told so.
	if got := w.probe("compare/state-live", nil).Facts["kept"].Table()["kubernetes_persistent_volume_claim_v1.data"]; !strings.HasPrefix(got, "not read: permission denied") {
		t.Errorf("kept without the right = %q", got)
	}
	w.env.Kubeconfig = shared.Kubeconfig()
	f := w.probe("compare/state-live", nil).Facts
	kept := f["kept"].Table()
	if kept["kubernetes_persistent_volume.keep"] != "Retain" || kept["kubernetes_persistent_volume.drop"] != "Delete" || kept["kubernetes_persistent_volume_claim_v1.data"] != "Delete" ||
		!strings.Contains(kept["kubernetes_persistent_volume_claim_v1.loose"], "bound to no volume") || len(kept) != 4 {
		t.Errorf("kept = %v (unread %v)", kept, f["unread"])
	}
	if got := f["finalizers"].Table(); !strings.Contains(got["kubernetes_persistent_volume_claim_v1.data"], "example.com/held") || got["kubernetes_config_map_v1.plain"] != "" {
		t.Errorf("finalizers = %v", got)
	}
}

// wroteNothing asks the server's own audit log, which has the writes of the test.
func (w *world) wroteNothing() {
	w.t.Helper()
	events, err := shared.AuditEvents(w.t.Context(), lab.AuditFilter{Namespace: w.ns.Name})
	if err != nil {
		w.t.Fatal(err)
	}
	made := 0
	for _, e := range events {
		if e.User == w.ns.Operator {
			w.t.Errorf("the probe did more than read: %+v", e)
		}
		if e.User == w.ns.Robot && e.Persists() {
			made++
		}
	}
	if made == 0 {
		w.t.Error("the audit log has no write of the test: it proves nothing")
	}
}

// TestNothingOfItIsHere: an empty cluster is likelier another one than a disaster.
func TestNothingOfItIsHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.state(w.configMap("one", "1"), w.configMap("two", "2"))
	obs := w.probe("compare/state-live", nil)
	if obs.Facts["ghosts"].Known() || !strings.Contains(obs.Summary, "None") {
		t.Errorf("state = %v", obs.Facts)
	}
}

// TestNoClusterIsNeeded: a state without an object of a cluster can be read where there is
// none; one with such an object cannot.
func TestNoClusterIsNeeded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &world{t: t, dir: dir, env: steps.Env{Dir: dir, Home: t.TempDir(), Now: time.Now}}
	w.state(`{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"1"}}]}`)
	f := w.probe("compare/state-live", nil).Facts
	if !f["ghosts"].Known() || len(f["ghosts"].Strings()) != 0 || f["server"].Known() || f["unchecked"].Table()["terraform_data"] != "1" {
		t.Errorf("state = %v, want no ghosts, and one that was not looked for", f)
	}
	plan := func(typ string) string {
		return w.write(typ+".json", `{"format_version":"1.2","terraform_version":"1.12.6","resource_changes":[{"address":"`+typ+`.a","mode":"managed","type":"`+typ+
			`","name":"a","change":{"actions":["create"],"before":null,"after":{"metadata":[{"name":"a","namespace":"b"}]}}}]}`)
	}
	f = w.probe("compare/plan-live", steps.Params{"file": steps.PathOf(plan("terraform_data"))}).Facts
	if got := f["unchecked"].Strings(); !slices.Equal(got, []string{"terraform_data.a"}) || f["server"].Known() {
		t.Errorf("plan = %v, want one that was not looked for", f)
	}
	w.state(w.configMap("one", "1"))
	for kind, in := range map[string]steps.Params{"compare/state-live": nil, "compare/plan-live": {"file": steps.PathOf(plan("kubernetes_config_map_v1"))}} {
		i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == kind })
		if _, err := Kinds()[i].Reads(w.env).Probe(t.Context(), in, steps.SecretsOnly(nil)); !errors.Is(err, cluster.ErrNoCluster) {
			t.Errorf("%s = %v, want ErrNoCluster", kind, err)
		}
	}
}

// TestForbiddenIsUnknown: what may not be listed is not absent.
func TestForbiddenIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.state(w.configMap("kept", w.make("kept", "Terraform")), strings.ReplaceAll(w.configMap("elsewhere", "1"), w.ns.Name, "kube-system"))
	obs := w.probe("compare/state-live", nil)
	if f := obs.Facts; f["ghosts"].Known() || f["unread"].Table()["kubernetes_config_map_v1.elsewhere"] == "" || len(f["unread"].Table()) != 1 {
		t.Errorf("state = %v", f)
	}
}

func TestCreatesThatExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make("there", "helm")
	create := func(address, typ, after string) string {
		return fmt.Sprintf(`{"address":%q,"mode":"managed","type":%q,"provider_name":"p","change":{"actions":["create"],"after":%s,"after_unknown":{}}}`, address, typ, after)
	}
	meta := func(name string) string {
		return fmt.Sprintf(`{"metadata":[{"name":%q,"namespace":%q}]}`, name, w.ns.Name)
	}
	manifest := fmt.Sprintf(`{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there","namespace":%q}}}`, w.ns.Name)
	crd := fmt.Sprintf(`{"manifest":{"apiVersion":"no.such.group/v1","kind":"Thing","metadata":{"name":"x","namespace":%q}}}`, w.ns.Name)
	w.write("plan.json", `{"format_version":"1.2","resource_changes":[`+strings.Join([]string{
		create("kubernetes_config_map.a", "kubernetes_config_map", meta("there")), create(`kubernetes_config_map.b["k"]`, "kubernetes_config_map", meta("not-there")),
		create("kubernetes_manifest.m", "kubernetes_manifest", manifest), create("kubernetes_manifest.c", "kubernetes_manifest", crd),
		create("aws_s3_bucket.x", "aws_s3_bucket", `{"bucket":"x"}`),
	}, ",")+`]}`)
	obs := w.probe("compare/plan-live", steps.Params{"file": steps.PathOf("plan.json")})
	f := obs.Facts
	if strings.Join(f["exists"].Strings(), " ") != "kubernetes_config_map.a kubernetes_manifest.m" || strings.Join(f["absent"].Strings(), " ") != `kubernetes_config_map.b["k"] kubernetes_manifest.c` {
		t.Errorf("plan = %v", f)
	}
	want := fmt.Sprintf("import {\n  to = kubernetes_config_map.a\n  id = \"%s/there\"\n}\n", w.ns.Name)
	if !strings.HasPrefix(f["import_blocks"].Text(), want) || !strings.Contains(f["origin"].Table()["kubernetes_config_map.a"], "helm") {
		t.Errorf("blocks = %q, origin %v", f["import_blocks"].Text(), f["origin"].Table())
	}
	if strings.Join(f["unchecked"].Strings(), " ") != "aws_s3_bucket.x" {
		t.Errorf("unchecked = %v", f["unchecked"].Strings())
	}
	w.wroteNothing()

	// A list settles what is of no cluster, by its id, and what does not exist. What the
	// cluster answers, it does not overrule.
	w.write("looked", "# by its own tools\naws_s3_bucket.x  shop-x\nkubernetes_config_map.b[\"k\"] -\nkubernetes_manifest.m -\n")
	f = w.probe("compare/plan-live", steps.Params{"file": steps.PathOf("plan.json"), "list": steps.PathOf("looked")}).Facts
	if found := f["found"].Table(); found["aws_s3_bucket.x"] != "shop-x" || found["kubernetes_config_map.a"] == "" || len(found) != 2 {
		t.Errorf("found = %v", found)
	}
	if why := f["unread"].Table()["kubernetes_manifest.m"]; !strings.Contains(why, "the cluster says otherwise") || f["exists"].Known() {
		t.Errorf("a list that the cluster contradicts: unread %q, exists %v", why, f["exists"])
	}
	if got := strings.Join(f["listed"].Strings(), " "); got != "aws_s3_bucket.x" || len(f["unchecked"].Strings()) != 0 {
		t.Errorf("by the list alone = %q, unchecked %v", got, f["unchecked"].Strings())
	}
	w.write("looked", "aws_s3_bucket.x -\n")
	if f := w.probe("compare/plan-live", steps.Params{"file": steps.PathOf("plan.json"), "list": steps.PathOf("looked")}).Facts; !strings.Contains(strings.Join(f["absent"].Strings(), " "), "aws_s3_bucket.x") {
		t.Errorf("absent = %v", f["absent"].Strings())
	}

	// A create without a name cannot be looked for: what exists is then unknown.
	w.write("plan.json", `{"format_version":"1.2","resource_changes":[`+create("kubernetes_secret.g", "kubernetes_secret", `{"metadata":[{"generate_name":"x-"}]}`)+`]}`)
	if f := w.probe("compare/plan-live", steps.Params{"file": steps.PathOf("plan.json")}).Facts; f["exists"].Known() || len(f["unread"].Table()) != 1 || !f["found"].Known() {
		t.Errorf("unnamed = %v", f)
	}
}
