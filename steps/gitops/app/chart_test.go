package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestArgoChart: a chart gets what `spec.source.helm` says, and the name of the application where it says none.
func TestArgoChart(t *testing.T) {
	t.Parallel()
	of := func(helm string) Rendering {
		return parsed(t, ArgoGroup, "Application", `{"metadata":{"name":"shop"},"spec":{"source":{`+helm+`},"destination":{"namespace":"ns"}}}`).Rendering
	}
	r := of(`"path":"app"`)
	if c := r.Chart; r.Tool != "" || c == nil || c.Release != "shop" || c.Namespace != "ns" || c.Defaults || c.SkipCRDs {
		t.Errorf("%+v %+v", r, c)
	}
	r = of(`"helm":{"releaseName":"r","namespace":"other","valueFiles":["a.yaml","/b.yaml"],"ignoreMissingValueFiles":true,"values":"a: 1","valuesObject":{"a":2},"parameters":[{"name":"x","value":"1","forceString":true}],"skipCrds":true,"skipTests":true,"skipSchemaValidation":true,"kubeVersion":"1.30","apiVersions":["v1"],"passCredentials":true,"version":"v3"}`)
	if got, want := fmt.Sprintf("%+v", *r.Chart), `{Release:r Namespace:other Files:[a.yaml /b.yaml] Defaults:false IgnoreMissing:true From:[] Values:{"a":2} Parameters:[{Name:x Value:1 ForceString:true}] SkipCRDs:true SkipTests:true SkipSchema:true KubeVersion:1.30 APIVersions:[v1] Generation: ByRevision:false Record:<nil>}`; got != want || r.Tool != "helm" || len(r.Changes) > 0 {
		t.Errorf("%s\n%s\n%+v", got, want, r)
	}
	for helm, want := range map[string]string{`"fileParameters":[{"name":"a","path":"b"}]`: "fileParameters", `"parameters":[{"name":"a","value":"$ARGOCD_APP_NAME"}]`: "parameters with a $", `"valueFiles":["$ref/v.yaml"]`: "valueFiles with a $", `"valueFiles":"x"`: "source.helm"} {
		if r := of(`"helm":{` + helm + `}`); len(r.Changes) != 1 || !strings.Contains(r.Changes[0], want) {
			t.Errorf("%s: %q", helm, r.Changes)
		}
	}
}

// TestHelmRendering: a chart of Flux gets what its HelmRelease says; what cannot be followed is named.
func TestHelmRendering(t *testing.T) {
	t.Parallel()
	of := func(spec, status string) App {
		return parsed(t, HelmGroup, "HelmRelease", `{"metadata":{"namespace":"here","name":"shop"},"spec":{"chart":{"spec":{"chart":"./shop","sourceRef":{"kind":"GitRepository","name":"g"}`+spec+`},"status":{`+status+`}}`)
	}
	a := of(`,"valuesFiles":["shop/v.yaml"],"ignoreMissingValuesFiles":true,"reconcileStrategy":"Revision"}},"targetNamespace":"there","values":{"a":1},"valuesFrom":[{"kind":"ConfigMap","name":"c"},{"kind":"ConfigMap","name":"d","valuesKey":"k","optional":true}]`,
		`"storageNamespace":"kept","lastAttemptedRevision":"0.1.0+0123456789ab.4","history":[{"name":"there-shop","version":3,"status":"deployed","chartVersion":"0.1.0"}]`)
	c := *a.Rendering.Chart
	if c.Record == nil || *c.Record != (Record{"kept", "there-shop", 3}) {
		t.Errorf("%+v", c.Record)
	}
	c.Record = nil
	if got, want := fmt.Sprintf("%+v", c), `{Release:there-shop Namespace:there Files:[shop/v.yaml] Defaults:true IgnoreMissing:true From:[{Name:c Key:values.yaml Optional:false} {Name:d Key:k Optional:true}] Values:{"a":1} Parameters:[] SkipCRDs:true SkipTests:false SkipSchema:false KubeVersion: APIVersions:[] Generation:4 ByRevision:true Record:<nil>}`; got != want {
		t.Errorf("%s\n%s", got, want)
	}
	if s := a.Sources[0]; s.Dir() != "shop" || s.Chart != "" || s.Ref != "GitRepository/here/g" || a.Rendering.Namespace != "there" || len(a.Rendering.Changes) > 0 {
		t.Errorf("%+v %+v", s, a.Rendering)
	}
	for spec, want := range map[string]string{`"valuesFrom":[{"kind":"Secret","name":"s"}]`: "spec.valuesFrom of the Secret s", `"valuesFrom":[{"kind":"ConfigMap","name":"s","targetPath":"a.b"}]`: "spec.valuesFrom with a targetPath", `"postRenderers":[{"kustomize":{}}]`: "spec.postRenderers",
		`"commonMetadata":{"labels":{"a":"b"}}`: "spec.commonMetadata", `"upgrade":{"preserveValues":true}`: "spec.upgrade.preserveValues", `"kubeConfig":{"secretRef":{"name":"k"}}`: "spec.kubeConfig"} {
		if r := of(`}},`+spec, "").Rendering; len(r.Changes) != 1 || !strings.HasPrefix(r.Changes[0], want) {
			t.Errorf("%s: %q", spec, r.Changes)
		}
	}
	// One that failed left some of what it has: its record is not what is applied.
	if r := of(`}}`, `"history":[{"name":"shop","version":3,"status":"failed"},{"name":"shop","version":2,"status":"deployed"}]`).Rendering; r.Chart.Record != nil {
		t.Errorf("%+v", r.Chart.Record)
	}
	if got := releaseName(strings.Repeat("n", 54)); len(got) != 53 || !strings.HasPrefix(got, strings.Repeat("n", 40)+"-") {
		t.Errorf("%q", got)
	}
	if got := releaseName(strings.Repeat("n", 53)); got != strings.Repeat("n", 53) {
		t.Errorf("%q", got)
	}
}

// TestHooksAreNotPruned: Argo CD marks what a sync ran as not wanted, and leaves it.
func TestHooksAreNotPruned(t *testing.T) {
	t.Parallel()
	a := parsed(t, ArgoGroup, "Application", `{"status":{"resources":[{"kind":"Job","name":"h","requiresPruning":true,"hook":true},{"kind":"Job","name":"j","status":"OutOfSync","requiresPruning":true}]}}`)
	if got := a.Differing(); len(got) != 1 || got[0].Name != "j" || !slices.Contains(a.Resources, got[0]) {
		t.Errorf("%+v", got)
	}
}
