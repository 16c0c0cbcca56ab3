package kube

import (
	"strings"
	"testing"

	"handrail/steps"
)

func TestField(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "c"}, "data": fields{"redis-host": "redis", "long": strings.Repeat("x", 4096+1)}})
	w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "s"}, "stringData": fields{"a": "b"}})
	for field, want := range map[string]string{"data.redis-host": "redis", "data.nothing": "", "data.long": "?longer than", "metadata.labels": ""} {
		obs := w.probe(w.env, "kube/field", "configmap", "c", "field", field)
		wantFact(t, obs, "value", want)
	}
	wantFact(t, w.probe(w.env, "kube/field", "configmap", "c", "field", "data.nothing"), "present", "false")
	wantFact(t, w.probe(w.env, "kube/field", "configmap", "nobody", "field", "data.a"), "value", "?not there")
	obs := w.probe(w.env, "kube/field", "configmap", "c", "field", "data")
	if e := obs.Facts["entries"].Table(); len(e) != 2 || e["redis-host"] != "redis" || obs.Facts["rv"].Text() == "" {
		t.Errorf("the entries are %v, of version %q", e, obs.Facts["rv"].Text())
	}
	wantFact(t, w.probe(w.env, "kube/field", "configmap", "c", "field", "data.redis-host"), "entries", "?no names")
	wantFact(t, w.probe(w.env, "kube/field", "configmap", "c", "field", "metadata"), "entries", "?is no text")
	_, err := (probeOf("kube/field", w.env)).Probe(t.Context(), steps.Params{"resource": steps.StringOf("secret"), "name": steps.StringOf("s"), "field": steps.StringOf("data.a")}, steps.SecretsOnly(nil))
	if err == nil || !strings.Contains(err.Error(), "values of a Secret are never read") {
		t.Errorf("the value of a Secret: %v", err)
	}
}
