package kube

import (
	"net/http"
	"strings"
	"testing"

	"handrail/steps"
)

// about runs a probe of this family with parameters of its own.
func (w *keepersWorld) about(kind string, pairs ...string) steps.Observation {
	w.t.Helper()
	in := steps.Params{"namespace": steps.StringOf(w.ns)}
	for i := 0; i+1 < len(pairs); i += 2 {
		in[pairs[i]] = steps.StringOf(pairs[i+1])
	}
	return w.aboutAs(w.env, kind, in)
}

func (w *keepersWorld) aboutAs(env steps.Env, kind string, in steps.Params) steps.Observation {
	w.t.Helper()
	obs, err := readsProbe(w.t.Context(), env, kind, in, newReadsSink())
	if err != nil {
		w.t.Fatalf("%s: %v", kind, err)
	}
	for name, v := range obs.Facts {
		if !v.Known() && v.Why() == "" {
			w.t.Errorf("%s: fact %s is unknown without a reason", kind, name)
		}
	}
	return obs
}

// TestQuota: what is used up, what is refused, and that an old refusal is
// forgotten once it would fit.
func TestQuota(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	obs := w.about("kube/quota")
	wantFact(t, obs, "quotas", "[]")
	wantFact(t, obs, "refusing", "false")
	w.create(w.in("", "resourcequotas", ""), fields{"metadata": fields{"name": "hardening"}, "spec": fields{"hard": fields{"pods": "0", "requests.cpu": "1", "configmaps": "50"}}})
	w.until("the quota counts", func() bool {
		st := w.read(w.in("", "resourcequotas", "hardening"))["status"].(fields)
		used, _ := st["used"].(fields)
		return len(used) == 3
	})
	w.deployment("web", 1, podSpec(""))
	w.until("the refusal", func() bool { return w.about("kube/quota").Facts["refusing"].Bool() })
	obs = w.about("kube/quota")
	wantFact(t, obs, "exhausted", `["hardening/pods"]`)
	if got := obs.Facts["headroom"].Table(); !strings.HasPrefix(got["hardening/requests.cpu"], "1 free") || len(got) != 3 {
		t.Errorf("headroom = %v", got)
	}
	if got := obs.Facts["refused"].Strings(); len(got) != 1 || !strings.HasPrefix(got[0], "replicaset/web-") {
		t.Errorf("refused = %q", got)
	}
	wantFinding(t, obs, "do not delete it")
	// With Pods allowed, the quota still wants every one of them to ask for CPU.
	w.merge(w.in("", "resourcequotas", "hardening"), fields{"spec": fields{"hard": fields{"pods": "8", "requests.cpu": nil}}})
	w.until("the quota counts anew", func() bool {
		return w.read(w.in("", "resourcequotas", "hardening"))["status"].(fields)["hard"].(fields)["pods"] == "8"
	})
	obs = w.about("kube/quota")
	wantFact(t, obs, "exhausted", "[]")
	w.until("a Pod", func() bool { return len(w.podsOf("web")) == 1 })
	obs = w.about("kube/quota")
	wantFact(t, obs, "refusing", "false")
}

// TestClaims: five claims that are not bound, for five reasons; one of them is
// none.
func TestClaims(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	lazy := "lazy-" + w.ns
	slow := "slow-" + w.ns
	class := func(name, mode string) {
		w.create("/apis/storage.k8s.io/v1/storageclasses", fields{"metadata": fields{"name": name}, "provisioner": "example.com/nobody", "volumeBindingMode": mode})
		w.t.Cleanup(func() {
			_, _, _ = w.try(http.MethodDelete, "/apis/storage.k8s.io/v1/storageclasses/"+name, "", fields{})
		})
	}
	class(lazy, "WaitForFirstConsumer")
	class(slow, "Immediate")
	claim := func(name string, of any) {
		spec := fields{"accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "1Gi"}}}
		if of != nil {
			spec["storageClassName"] = of
		}
		w.create(w.in("", "persistentvolumeclaims", ""), fields{"metadata": fields{"name": name}, "spec": spec})
	}
	claim("gone", "gone-"+w.ns)
	claim("lazy", lazy)
	claim("slow", slow)
	claim("none", "")
	claim("lost", slow)
	w.merge(w.in("", "persistentvolumeclaims", "lost")+"/status", fields{"status": fields{"phase": "Lost"}})
	in := steps.Params{"namespace": steps.StringOf(w.ns)}
	obs := w.aboutAs(w.root(), "kube/claims", in)
	for fact, want := range map[string]string{"count": "5", "pending": `["gone" "none" "slow"]`, "missing_class": `["gone"]`, "no_class": `["none"]`,
		"provisioning": `["slow"]`, "waiting": `["lazy"]`, "lost": `["lost"]`} {
		wantFact(t, obs, fact, want)
	}
	wantFinding(t, obs, "Look at that Pod, not at the claim")
	// The operator of the lab may not see classes: the controller's events say the
	// same, and half of them are Normal.
	w.until("the events of the claims", func() bool {
		return w.about("kube/claims").Facts["pending"].Known()
	})
	obs = w.about("kube/claims")
	wantFact(t, obs, "missing_class", `["gone"]`)
	wantFact(t, obs, "waiting", `["lazy"]`)
	wantFact(t, obs, "classes", "?permission denied")
	// Who may see neither cannot tell.
	blind := w.limited("blind", may("", "persistentvolumeclaims", "list"))
	obs = w.aboutAs(blind, "kube/claims", steps.Params{})
	wantFact(t, obs, "pending", "?why claim")
	wantFact(t, obs, "lost", `["lost"]`)
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	service := func(name string, selector any, target any) {
		spec := fields{"ports": []fields{{"port": 80, "targetPort": target}}}
		if selector != nil {
			spec["selector"] = selector
		}
		w.create(w.in("", "services", ""), fields{"metadata": fields{"name": name}, "spec": spec})
	}
	service("nopods", fields{"app": "nobody"}, 80)
	service("web", fields{"app": "web"}, 80)
	service("byname", fields{"app": "web"}, "http")
	service("bare", nil, 80)
	spec := podSpec(w.kubelet().node)
	w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": "web", "labels": fields{"app": "web"}}, "spec": spec})
	for name, want := range map[string]string{"nopods": "no_pods", "web": "not_ready", "bare": "no_selector", "nobody": "absent"} {
		obs := w.about("kube/endpoints", "service", name)
		wantFact(t, obs, "why", want)
		wantFact(t, obs, "ready", "0")
	}
	w.podStatus("web", fields{"phase": "Running", "podIP": "10.9.8.7", "podIPs": []fields{{"ip": "10.9.8.7"}}, "conditions": []fields{{"type": "Ready", "status": "True"}}})
	w.until("the backend", func() bool { return w.about("kube/endpoints", "service", "web").Facts["ready"].Int() == 1 })
	obs := w.about("kube/endpoints", "service", "web")
	wantFact(t, obs, "why", "ok")
	wantFact(t, obs, "backends", `["10.9.8.7 web"]`)
	wantFact(t, w.about("kube/endpoints", "service", "byname"), "why", "port")
	blind := w.limited("blind", may("", "services", "get"), may("discovery.k8s.io", "endpointslices", "list"))
	wantFact(t, w.aboutAs(blind, "kube/endpoints", what("service", "nopods")), "why", "?permission denied")
}

// TestEgress holds the probe against a real server: a namespace that denies all
// on its way out, then lets DNS and one Service through.
func TestEgress(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	const netv1 = "networking.k8s.io/v1"
	w.deployment("shop", 1, podSpec(""))
	w.create(w.in("", "services", ""), fields{"metadata": fields{"name": "db"}, "spec": fields{"selector": fields{"app": "db"}, "ports": []fields{{"port": 5432}}}})
	ask := func(to string, want map[string]string) {
		t.Helper()
		obs := w.about("kube/egress", "resource", "deployment", "name", "shop", "to", to)
		for fact, v := range want {
			wantFact(t, obs, fact, v)
		}
	}
	ask("service/db", map[string]string{"dns_udp": "open", "dns_tcp": "open", "api_server": "open", "target": "open", "policies": "[]", "foreign": "[]"})
	policy := func(name string, spec fields) {
		w.create(w.in(netv1, "networkpolicies", ""), fields{"metadata": fields{"name": name}, "spec": spec})
	}
	policy("deny", fields{"podSelector": fields{}, "policyTypes": []string{"Egress"}})
	ask("service/db", map[string]string{"dns_udp": "blocked", "dns_tcp": "blocked", "api_server": "blocked", "target": "blocked", "policies": `["deny"]`})
	policy("dns", fields{"podSelector": fields{}, "policyTypes": []string{"Egress"}, "egress": []fields{{
		"to":    []fields{{"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": "kube-system"}}}},
		"ports": []fields{{"protocol": "UDP", "port": 53}}}}})
	policy("same", fields{"podSelector": fields{}, "policyTypes": []string{"Egress"}, "egress": []fields{{"to": []fields{{"podSelector": fields{}}}}}})
	ask("service/db", map[string]string{"dns_udp": "open", "dns_tcp": "blocked", "api_server": "blocked", "target": "open", "peer_policies": "[]"})
	ask("db:5432", map[string]string{"target": "open"})
	ask("db."+w.ns+".svc.cluster.local:5432", map[string]string{"target": "open"})
	ask("198.51.100.7:5432", map[string]string{"target": "?depends"})
	ask("db.example.com:5432", map[string]string{"target": "blocked"})
	ask("service/nobody", map[string]string{"target": "?not found", "dns_udp": "open"})
	policy("db", fields{"podSelector": fields{"matchLabels": fields{"app": "db"}}, "policyTypes": []string{"Ingress"}})
	ask("service/db", map[string]string{"target": "blocked", "peer_policies": `["db"]`})
	// A policy of the network plugin counts too, and is not computed.
	obs := w.about("kube/egress", "resource", "deployment", "name", "nobody")
	wantFact(t, obs, "dns_udp", "?not there")
	if _, err := (probeOf("kube/egress", w.limited("blind", may("apps", "deployments", "get")))).Probe(t.Context(), what("resource", "deployment", "name", "shop"), steps.SecretsOnly(nil)); err == nil {
		t.Error("policies that may not be read gave an answer")
	}
}
