package kube

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
)

const vapPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

// limitPolicy makes a policy that denies a ConfigMap of this namespace whose data.most
// is above that of its parameters, and waits until the API server enforces it: a policy,
// its binding and its parameters reach the server one after the other.
func (w *keepersWorld) limitPolicy(name string) string {
	w.t.Helper()
	name += "-" + w.ns
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "limits"}, "data": fields{"limit": "5"}})
	if err := w.lab.Enforce(w.t.Context(), w.ns, lab.Policy{Name: name, Params: "limits", Message: "most is above the limit",
		Expression: "!has(object.data) || !('most' in object.data) || int(object.data.most) <= int(params.data.limit)",
		Rules:      []lab.HookRule{{Version: "v1", Resources: []string{"configmaps"}, Operations: []string{"CREATE", "UPDATE"}}}}); err != nil {
		w.t.Fatal(err)
	}
	w.enforced(name, fields{"metadata": fields{"name": "seen-" + name}, "data": fields{"most": "9"}})
	return name
}

// enforced waits until a policy denies an object by its own verdict.
func (w *keepersWorld) enforced(policy string, object fields) {
	w.t.Helper()
	said, last := "", 0
	defer func() {
		if w.t.Failed() {
			w.t.Logf("the last answer was %d %q; %v", last, said, w.read(vapPolicies + "/" + policy)["status"])
		}
	}()
	w.until("the policy "+policy+" denies", func() bool {
		code, out, err := w.try(http.MethodPost, w.in("", "configmaps", "")+"?dryRun=All", "application/json", object)
		said, _ = out["message"].(string)
		last = code
		return err == nil && strings.Contains(said, "ValidatingAdmissionPolicy '"+policy+"'") && strings.Contains(said, "above the limit")
	})
}

// TestAdmission traces and rehearses the same requests on a real API server: what the
// trace says of a policy with parameters, the server does.
func TestAdmission(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	name := w.limitPolicy("limit")
	hook := "guard." + w.ns + ".example.com"
	entry := w.hookEntry(hook, "Fail", fields{"service": fields{"namespace": w.ns, "name": "gone"}})
	entry["namespaceSelector"] = fields{"matchLabels": fields{"kubernetes.io/metadata.name": w.ns}}
	entry["matchConditions"] = []fields{{"name": "of-guarded", "expression": "'guarded' in object.?metadata.labels.orValue({})"}}
	w.hookConfig(validatingHooks, "guard-"+w.ns, entry)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "good"}, "data": fields{"most": "3"}})
	manifest := func(name, body string) string {
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\n"+body), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	bad := manifest("bad", "metadata: {name: bad}\ndata: {most: '7'}\n")
	guarded := manifest("guarded", "metadata: {name: guarded, labels: {guarded: 'yes'}}\ndata: {most: '3'}\n")
	w.until("the webhook guards", func() bool {
		_, out, err := w.try(http.MethodPost, w.in("", "configmaps", "")+"?dryRun=All", "application/json", fields{"metadata": fields{"name": "x", "labels": fields{"guarded": "y"}}})
		said, _ := out["message"].(string)
		return err == nil && strings.Contains(said, hook)
	})
	about := func(kind string, pairs ...string) steps.Observation {
		return w.aboutAs(w.root(), kind, what(append([]string{"resource", "cm", "namespace", w.ns}, pairs...)...))
	}
	denies := func(facts map[string]steps.Value, want bool) {
		t.Helper()
		got := slices.ContainsFunc(facts["refuses"].Strings(), func(s string) bool {
			return strings.Contains(s, name) && strings.Contains(s, "most is above the limit")
		})
		if got != want || !facts["refuses"].Known() || !facts["complete"].Known() {
			t.Errorf("refuses %v, complete %v, want by %s: %v", facts["refuses"], facts["complete"], name, want)
		}
	}

	f := about("kube/admission", "name", "bad", "file", bad).Facts
	denies(f, true)
	if f["blocked"].Bool() || f["exists"].Bool() {
		t.Errorf("the object that breaks the policy: %v", f)
	}
	f = about("kube/dry-run", "name", "bad", "file", bad, "peer", "good").Facts
	if f["result"].Text() != "denied" || !f["denied_now"].Bool() || f["policy"].Text() != name || f["binding"].Text() != name || f["deny_kind"].Text() != "policy" ||
		f["peer_result"].Text() != "admitted" || !f["denies_good"].Known() || f["denies_good"].Bool() {
		t.Errorf("the rehearsal of the object that breaks the policy: %v", f)
	}

	f = about("kube/admission", "name", "good").Facts
	denies(f, false)
	f = about("kube/dry-run", "name", "good", "operation", "update").Facts
	if f["result"].Text() != "admitted" || f["denied_now"].Bool() {
		t.Errorf("the rehearsal of the good one: %v", f)
	}

	obs := about("kube/admission", "name", "guarded", "file", guarded)
	if f = obs.Facts; !f["blocked"].Bool() || len(f["dead"].Strings()) == 0 {
		t.Errorf("what the dead webhook sees: %v", f)
	}
	wantFinding(t, obs, "What it refuses it never judged")
	f = about("kube/dry-run", "name", "guarded", "file", guarded).Facts
	if f["result"].Text() != "webhook-down" || f["denied_now"].Known() || f["webhook"].Text() != hook {
		t.Errorf("the rehearsal of what the dead webhook sees: %v", f)
	}

	// A limit that is wrong refuses the good one too.
	w.merge(w.in("", "configmaps", "limits"), fields{"data": fields{"limit": "1"}})
	w.enforced(name, fields{"metadata": fields{"name": "x"}, "data": fields{"most": "3"}})
	f = about("kube/dry-run", "name", "good", "operation", "update", "peer", "good").Facts
	if f["result"].Text() != "denied" || !f["denies_good"].Bool() {
		t.Errorf("below a wrong limit: %v", f)
	}
	denies(about("kube/admission", "name", "good", "operation", "update").Facts, true)

	// Without the parameters nothing was decided, and all is refused.
	w.remove(w.in("", "configmaps", "limits"), nil)
	w.until("the parameters are gone", func() bool {
		_, out, err := w.try(http.MethodPost, w.in("", "configmaps", "")+"?dryRun=All", "application/json", fields{"metadata": fields{"name": "x"}})
		said, _ := out["message"].(string)
		return err == nil && strings.Contains(said, "no params found")
	})
	if f = about("kube/dry-run", "name", "good", "operation", "update").Facts; f["result"].Text() != "undecided" || !f["denied_now"].Bool() {
		t.Errorf("without parameters: %v", f)
	}
	if got := w.read(w.in("", "configmaps", "good"))["data"].(fields)["most"]; got != "3" {
		t.Errorf("the good one holds %v: a rehearsal wrote it", got)
	}
}

// TestDryRunOfSecret: a trace of a Secret asks for its metadata alone, and a rehearsal
// names what it sends.
func TestDryRunOfSecret(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "key"}, "stringData": fields{"password": "hunter2hunter2"}})
	of := what("resource", "secret", "name", "key", "namespace", w.ns, "operation", "update")
	env := w.front(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/secrets/key") && r.Method == http.MethodGet && !strings.HasPrefix(r.Header.Get("Accept"), "application/json;as=PartialObjectMetadata") {
			t.Errorf("%s asks for %s", r.URL.Path, r.Header.Get("Accept"))
		}
		if r.Method != http.MethodGet && r.URL.Query().Get("dryRun") != "All" && !strings.Contains(r.URL.Path, "authorization") {
			t.Errorf("%s %s is sent", r.Method, r.URL)
		}
		return false
	})
	if f := w.aboutAs(env, "kube/admission", of).Facts; !f["exists"].Bool() {
		t.Errorf("the trace of a Secret: %v", f)
	}
	if f := w.aboutAs(env, "kube/dry-run", of).Facts; f["result"].Text() != "admitted" {
		t.Errorf("the rehearsal of a Secret: %v", f)
	}
}
