package kube

import (
	"net/http"
	"testing"

	"handrail/steps"
)

const (
	validatingHooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	mutatingHooks   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
)

// hookEntry is a webhook that decides over nothing of other tests.
func (w *keepersWorld) hookEntry(name, policy string, to fields) fields {
	return fields{"name": name, "failurePolicy": policy, "sideEffects": "None", "admissionReviewVersions": []string{"v1"}, "timeoutSeconds": 3, "clientConfig": to,
		"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": "no-such-" + w.ns}},
		"rules":             []fields{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE", "DELETE"}, "resources": []string{"pods", "configmaps"}}}}
}

func (w *keepersWorld) hookConfig(path, name string, entries ...fields) (uid string) {
	w.t.Helper()
	made := w.create(path, fields{"metadata": fields{"name": name}, "webhooks": entries})
	w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, path+"/"+name, "application/json", fields{}) })
	meta, _ := made["metadata"].(map[string]any)
	uid, _ = meta["uid"].(string)
	return uid
}

// TestWebhook: a webhook is found by its name alone, and a backend is down only where
// that is certain.
func TestWebhook(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	of := func(service string) fields {
		return fields{"service": fields{"namespace": w.ns, "name": service}}
	}
	called := func(name string) string { return name + "." + w.ns + ".example.com" }
	for _, name := range []string{"empty", "serving"} {
		w.create(w.in("", "services", ""), fields{"metadata": fields{"name": name}, "spec": fields{"ports": []fields{{"port": 443}}}})
	}
	w.create(w.in("discovery.k8s.io/v1", "endpointslices", ""), fields{"metadata": fields{"name": "serving-1", "labels": fields{"kubernetes.io/service-name": "serving"}}, "addressType": "IPv4",
		"endpoints": []fields{{"addresses": []string{"10.9.8.7"}, "conditions": fields{"ready": true}}}, "ports": []fields{{"port": 443}}})
	uid := w.hookConfig(validatingHooks, "v-"+w.ns,
		w.hookEntry(called("absent"), "Fail", of("gone")), w.hookEntry(called("empty"), "Ignore", of("empty")), w.hookEntry(called("serving"), "Fail", of("serving")),
		w.hookEntry(called("outside"), "Fail", fields{"url": "https://hooks.example.com/v"}), w.hookEntry(called("twice"), "Fail", of("gone")))
	w.hookConfig(mutatingHooks, "m-"+w.ns, w.hookEntry(called("twice"), "Fail", of("gone")))
	look := func(name string) map[string]steps.Value {
		return w.aboutAs(w.root(), "kube/webhook", steps.Params{"webhook": steps.StringOf(called(name))}).Facts
	}
	for name, want := range map[string]struct{ backend, fails, why string }{
		"absent":  {"down", "closed", "its service " + w.ns + "/gone does not exist"},
		"empty":   {"down", "open", "its service " + w.ns + "/empty has no endpoint that is ready"},
		"serving": {"serving", "closed", ""},
	} {
		f := look(name)
		if !f["exists"].Bool() || f["backend"].Text() != want.backend || f["fails"].Text() != want.fails || f["why"].Text() != want.why {
			t.Errorf("%s = %v, want %v", name, f, want)
		}
		if f["uid"].Text() != uid || f["name"].Text() != "v-"+w.ns || f["resource"].Text() != "validatingwebhookconfigurations.admissionregistration.k8s.io" || f["entries"].Int() != 5 {
			t.Errorf("%s is of %v", name, f)
		}
		if got := f["decides"].Strings(); len(got) != 1 || got[0] != "CREATE,DELETE pods,configmaps of core" || f["everywhere"].Bool() || f["timeout"].Duration().Seconds() != 3 {
			t.Errorf("%s decides %q, everywhere %v", name, got, f["everywhere"])
		}
	}
	if got := look("absent")["also_down"].Table(); len(got) != 1 || got[called("twice")] != "its service "+w.ns+"/gone does not exist" {
		t.Errorf("beside a dead entry %v are dead", got)
	}
	if f := look("outside"); f["backend"].Known() || f["fails"].Text() != "closed" {
		t.Errorf("a URL = %v, want a backend that is unknown", f)
	}
	if f := look("twice"); !f["exists"].Bool() || f["uid"].Known() || f["backend"].Known() {
		t.Errorf("two of a name = %v, want nothing said of either", f)
	}
	if f := look("never"); f["exists"].Bool() || f["backend"].Known() {
		t.Errorf("none of that name = %v", f)
	}
}
