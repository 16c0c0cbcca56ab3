package alike

import (
	"testing"

	"handrail/steps/cluster"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// TestSpecOf: what two cluster.Objects work with is the same whatever they are called and
// however it is written, and another where it is another.
func TestSpecOf(t *testing.T) {
	t.Parallel()
	apps := func(plural string) cluster.Resource { return cluster.Resource{Group: "apps", Plural: plural} }
	hooks := cluster.Resource{Group: "admissionregistration.k8s.io", Plural: "validatingwebhookconfigurations"}
	pv := cluster.Resource{Plural: "persistentvolumes"}
	queue := cluster.Resource{Group: "mq.example.com", Plural: "queues"}
	for _, tc := range []struct {
		name string
		r    cluster.Resource
		a, b string
		same bool
	}{
		{"image and selector", apps("deployments"),
			`{"metadata":{"name":"a"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"x"}},"template":{"spec":{"containers":[{"name":"c","image":"i:1"},{"name":"d","image":"j:1"}]}}}}`,
			`{"metadata":{"name":"b"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},"template":{"spec":{"containers":[{"name":"e","image":"j:1"},{"name":"c","image":"i:1"}]}}}}`, true},
		{"another image", apps("deployments"),
			`{"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"spec":{"containers":[{"image":"i:1"}]}}}}`,
			`{"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"spec":{"containers":[{"image":"i:2"}]}}}}`, false},
		{"another selector", cluster.Resource{Plural: "services"}, `{"spec":{"selector":{"app":"x"}}}`, `{"spec":{"selector":{"app":"y"}}}`, false},
		{"the same volume, mounted otherwise", pv,
			`{"spec":{"csi":{"driver":"d","volumeHandle":"vol-1","readOnly":true},"capacity":{"storage":"1Gi"}}}`,
			`{"spec":{"csi":{"driver":"d","volumeHandle":"vol-1"},"capacity":{"storage":"2Gi"}}}`, true},
		{"another volume", pv, `{"spec":{"nfs":{"server":"s","path":"/a"}}}`, `{"spec":{"nfs":{"server":"s","path":"/b"}}}`, false},
		{"the same hook", hooks,
			`{"webhooks":[{"name":"a","clientConfig":{"service":{"namespace":"n","name":"s","path":"/v"}}}]}`,
			`{"webhooks":[{"name":"z","failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"n","name":"s","path":"/v"}}}]}`, true},
		{"custom resource", queue, `{"spec":{"broker":"mq.example.com","queue":"parcels","vhost":"/platform"}}`, `{"spec":{"vhost":"/platform","queue":"parcels","broker":"mq.example.com"}}`, true},
	} {
		form := func(src string) string {
			o := cluster.Object{Unstructured: &unstructured.Unstructured{}}
			if err := json.Unmarshal([]byte(src), &o.Object); err != nil {
				t.Fatal(err)
			}
			got, what := specOf(tc.r, o)
			if got == "" || what == "" {
				t.Errorf("%s: %s tells nothing", tc.name, src)
			}
			return got
		}
		if a, b := form(tc.a), form(tc.b); (a == b) != tc.same {
			t.Errorf("%s: %s and %s", tc.name, a, b)
		}
	}
	for _, tc := range []struct {
		r   cluster.Resource
		src string
	}{
		{cluster.Resource{Plural: "secrets"}, `{"data":{"k":"c2VjcmV0"}}`}, {cluster.Resource{Plural: "configmaps"}, `{"data":{"k":"v"}}`},
		{cluster.Resource{Plural: "services"}, `{"spec":{"selector":{}}}`}, {cluster.Resource{Plural: "namespaces"}, `{"spec":{"finalizers":["kubernetes"]}}`},
		{queue, `{"spec":{"paused":true}}`}, {pv, `{"spec":{"capacity":{"storage":"1Gi"}}}`}, {apps("deployments"), `{}`}, {hooks, `{"webhooks":[]}`},
	} {
		o := cluster.Object{Unstructured: &unstructured.Unstructured{}}
		if err := json.Unmarshal([]byte(tc.src), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got, _ := specOf(tc.r, o); got != "" {
			t.Errorf("%v: %s is compared by %s", tc.r, tc.src, got)
		}
	}
}
