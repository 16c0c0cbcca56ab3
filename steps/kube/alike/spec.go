package alike

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// mostSpecs bounds the objects whose specs are compared, and specsWithin the time: the
// preview that asks has other things to read.
const (
	mostSpecs   = 2000
	specsWithin = 10 * time.Second
)

// leastSpec is how long the spec of a custom resource is that tells something.
const leastSpec = 40

// specs looks for objects of other names that do the same work, here and in other
// namespaces: the same image and selector, the same backend, the same volume.
func (a *around) specs(ctx context.Context) {
	mine, what := specOf(a.t.Resource, a.o)
	if mine == "" {
		return
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(whole, specsWithin)
	defer cancel()
	err := a.sameSpec(ctx, a.t.Path("", ""), mine, what)
	if a.t.Namespaced && errors.Is(err, steps.ErrDenied) {
		a.gap("equal specs in other namespaces", err)
		err = a.sameSpec(ctx, a.t.Path(a.t.Namespace, ""), mine, what)
	}
	if err != nil && whole.Err() == nil {
		a.gap("equal specs", err)
	}
}

func (a *around) sameSpec(ctx context.Context, path, mine, what string) error {
	n := 0
	return a.ListItems(ctx, path, cluster.AsJSON, nil, func(s *cluster.Scanner) (cluster.Object, error) {
		if n++; n > mostSpecs {
			return cluster.Object{}, errEnough
		}
		return cluster.WholeItem(s)
	}, func(other cluster.Object) {
		if its, _ := specOf(a.t.Resource, other); its == mine && other.GetName() != a.t.Name {
			a.take(a.t.Resource, other, "under another name the same "+what)
		}
	})
}

// specOf is what an object works with, beside its name, in a form that is the same
// where that is, and what it is in words; "" for kinds of which that tells nothing, or
// whose content is none to be listed.
func specOf(r cluster.Resource, o cluster.Object) (form, what string) {
	at := func(path ...string) any { return memberOf(o.Object, path...) }
	switch r.String() {
	case "deployments.apps", "statefulsets.apps", "daemonsets.apps", "rollouts.argoproj.io":
		return formOf("image and selector", images(o.Object, "spec", "template", "spec"), at("spec", "selector"))
	case "jobs.batch":
		return formOf("image and command", images(o.Object, "spec", "template", "spec"), commands(o.Object, "spec", "template", "spec"))
	case "cronjobs.batch":
		pod := []string{"spec", "jobTemplate", "spec", "template", "spec"}
		return formOf("image and command", images(o.Object, pod...), commands(o.Object, pod...))
	case "services":
		return formOf("selector", at("spec", "selector"))
	case "persistentvolumes":
		return formOf("volume behind it", volume(at("spec")))
	case "persistentvolumeclaims":
		return formOf("volume", at("spec", "volumeName"))
	case "ingresses.networking.k8s.io":
		return formOf("hosts and backends", at("spec", "rules"), at("spec", "defaultBackend"))
	case "networkpolicies.networking.k8s.io":
		return formOf("pods and rules", at("spec"))
	case "rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io":
		return formOf("role and subjects", at("roleRef"), at("subjects"))
	case "validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io":
		return formOf("service behind it", backends(at("webhooks")))
	case "apiservices.apiregistration.k8s.io":
		return formOf("service behind it", at("spec", "service"))
	}
	if strings.Contains(r.Group, ".") && !strings.HasSuffix(r.Group, ".k8s.io") {
		if form, what = formOf("spec", at("spec")); len(form) >= leastSpec {
			return form, what
		}
	}
	return "", ""
}

// formOf writes what is there in one form, "" where any of it is missing.
func formOf(what string, parts ...any) (string, string) {
	there := parts[:0]
	for _, p := range parts {
		switch v := p.(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case []any:
			if len(v) == 0 {
				continue
			}
		case map[string]any:
			if len(v) == 0 {
				continue
			}
		}
		there = append(there, p)
	}
	if len(there) == 0 {
		return "", ""
	}
	text, err := json.Marshal(there)
	if err != nil {
		return "", ""
	}
	return string(text), what
}

// memberOf is what stands at a path of members, nil where there is nothing.
func memberOf(o map[string]any, path ...string) any {
	v, _, err := unstructured.NestedFieldNoCopy(o, path...)
	if err != nil {
		return nil
	}
	return v
}

func containers(o map[string]any, pod ...string) []map[string]any {
	list, _ := memberOf(o, append(slices.Clone(pod), "containers")...).([]any)
	var out []map[string]any
	for _, c := range list {
		if c, ok := c.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

func images(o map[string]any, pod ...string) []any {
	var out []string
	for _, c := range containers(o, pod...) {
		out = append(out, fmt.Sprint(c["image"]))
	}
	slices.Sort(out)
	return anyOf(out)
}

func commands(o map[string]any, pod ...string) []any {
	var out []any
	for _, c := range containers(o, pod...) {
		out = append(out, []any{c["command"], c["args"]})
	}
	return out
}

// volume is the member of a volume's spec that says where its bytes are.
func volume(spec any) any {
	m, _ := spec.(map[string]any)
	csi, _ := m["csi"].(map[string]any)
	if csi != nil {
		return []any{csi["driver"], csi["volumeHandle"]} // the rest is how it is mounted
	}
	for _, source := range []string{"nfs", "hostPath", "local", "iscsi", "fc", "rbd", "cephfs", "awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "azureFile", "vsphereVolume"} {
		if v, ok := m[source]; ok {
			return map[string]any{source: v}
		}
	}
	return nil
}

// backends are the addresses that a webhook configuration sends requests to.
func backends(webhooks any) []any {
	list, _ := webhooks.([]any)
	var out []string
	for _, w := range list {
		m, _ := w.(map[string]any)
		to, _ := memberOf(m, "clientConfig", "service").(map[string]any)
		where := fmt.Sprint(memberOf(m, "clientConfig", "url"))
		if to != nil {
			where = fmt.Sprint(to["namespace"], "/", to["name"], to["path"])
		}
		out = append(out, where)
	}
	slices.Sort(out)
	return anyOf(slices.Compact(out))
}

func anyOf(list []string) []any {
	var out []any
	for _, v := range list {
		out = append(out, v)
	}
	return out
}
