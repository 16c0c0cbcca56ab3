package persist

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/kube/allowlist"
)

// Part returns a mapping inside an object, empty where there is none.
func Part(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// Text returns a text of a mapping, "" where there is none.
func Text(m map[string]any, key string) string { s, _ := m[key].(string); return s }
func flag(m map[string]any, key string) bool   { b, _ := m[key].(bool); return b }

// Maps returns the mappings of a list.
func Maps(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	var out []map[string]any
	for _, item := range list {
		if one, ok := item.(map[string]any); ok {
			out = append(out, one)
		}
	}
	return out
}

// Texts returns the texts of a list.
func Texts(m map[string]any, key string) []string {
	list, _ := m[key].([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Runs is what matters in a template of Pods: as whom it runs, what, and what of
// its node it can reach.
type Runs struct {
	Account    string   `json:"account"`
	Containers []any    `json:"containers"`
	Host       []string `json:"host"`
	Mounts     []string `json:"mounts"`
	What       string   `json:"-"` // for a person
}

// RunsOf reads the spec of a Pod. The tag of an image is left out: a release
// would change it every day, and a list that cannot be kept up is worth nothing.
func RunsOf(spec map[string]any) Runs {
	r := Runs{Account: Text(spec, "serviceAccountName"), Containers: []any{}, Host: []string{}, Mounts: []string{}}
	if r.Account == "" {
		r.Account = Text(spec, "serviceAccount")
	}
	if r.Account == "" {
		r.Account = "default"
	}
	for _, f := range []string{"hostPID", "hostIPC", "hostNetwork"} {
		if flag(spec, f) {
			r.Host = append(r.Host, f)
		}
	}
	for _, v := range Maps(spec, "volumes") {
		if path := Part(v, "hostPath"); path != nil {
			r.Host = append(r.Host, "hostPath "+Text(path, "path"))
		}
		for _, kind := range []struct{ key, name string }{{"secret", "secretName"}, {"configMap", "name"}} {
			if from := Part(v, kind.key); from != nil {
				r.Mounts = append(r.Mounts, kind.key+"/"+Text(from, kind.name))
			}
		}
	}
	var said []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range Maps(spec, list) {
			command, args := Texts(c, "command"), Texts(c, "args")
			r.Containers = append(r.Containers, []any{list, Text(c, "name"), repository(Text(c, "image")), command, args})
			security := Part(c, "securityContext")
			if flag(security, "privileged") {
				r.Host = append(r.Host, "privileged "+Text(c, "name"))
			}
			said = append(said, strings.TrimSpace(Text(c, "image")+" "+strings.Join(append(command, args...), " ")))
		}
	}
	slices.Sort(r.Host)
	slices.Sort(r.Mounts)
	r.What = fmt.Sprintf("as %s: %s", r.Account, Line(strings.Join(said, "; "), 300))
	return r
}

// repository is an image without its tag or digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	slash := strings.LastIndexByte(image, '/')
	if colon := strings.LastIndexByte(image, ':'); colon > slash {
		image = image[:colon]
	}
	return image
}

// Line keeps outside text in its line of a table.
func Line(s string, n int) string {
	return steps.Clip(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }), " "), n)
}

// Body is an object without what says who it is and how it is.
func Body(o *unstructured.Unstructured) map[string]any {
	out := maps.Clone(o.Object)
	for _, key := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(out, key)
	}
	return out
}

// Hooks is a webhook configuration without its certificates, which are
// renewed every few weeks.
func Hooks(o *unstructured.Unstructured) any {
	var out []any
	for _, h := range Maps(o.Object, "webhooks") {
		h = maps.Clone(h)
		client := maps.Clone(Part(h, "clientConfig"))
		delete(client, "caBundle")
		h["clientConfig"] = client
		out = append(out, h)
	}
	return out
}

// Pauses is the field of the spec by which what reconciles from Git is paused.
func Pauses(group string) string {
	if group == "fleet.cattle.io" {
		return "paused"
	}
	return "suspend"
}

// Sync is the spec of what reconciles, but for whether it is paused.
func Sync(group string, o *unstructured.Unstructured) any {
	spec := maps.Clone(Part(o.Object, "spec"))
	delete(spec, Pauses(group))
	if automated := Part(spec, "syncPolicy", "automated"); automated != nil {
		policy := maps.Clone(Part(spec, "syncPolicy"))
		automated = maps.Clone(automated)
		delete(automated, "enabled")
		policy["automated"] = automated
		spec["syncPolicy"] = policy
	}
	return spec
}

// Sum is the digest of what matters. What cannot be digested gets one that no
// list can hold.
func Sum(matters any) string {
	s, err := allowlist.Sum(matters)
	if err != nil {
		return "?"
	}
	return s
}
