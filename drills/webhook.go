package drills

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
)

var pointerForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// rewrite is one rule of a webhook: what it changes in which requests.
type rewrite struct {
	Resource   string         `json:"resource"`
	Operations []string       `json:"operations"`
	Names      string         `json:"names,omitempty"`
	Set        map[string]any `json:"set"`
}

// hook is the verb webhook.serve.
type hook struct {
	name     string
	closed   bool
	rewrites []rewrite
}

func readHook(p parser, n *yaml.Node) action {
	f := p.Fields(n, "webhook.serve", "name", "closed", "rewrites")
	h := hook{name: p.form(p.need(n, f, "name"), "name", idForm), closed: p.Flag(f["closed"], "closed")}
	for _, item := range p.Items(p.need(n, f, "rewrites"), "rewrites") {
		g := p.Fields(item, "a rewrite", "resource", "operations", "names", "set")
		r := rewrite{Resource: p.writable(p.need(item, g, "resource")), Names: p.Text(g["names"], "names"), Set: map[string]any{}}
		for _, o := range p.Items(p.need(item, g, "operations"), "operations") {
			r.Operations = append(r.Operations, p.OneOf(o, "operation", []string{"CREATE", "UPDATE"}))
		}
		p.each(p.need(item, g, "set"), "set", func(key, value *yaml.Node) {
			if !pointerForm.MatchString(key.Value) {
				p.Fail(key, "as /roleRef/name", "%q is no JSON pointer", key.Value)
				return
			}
			r.Set[key.Value] = p.value(value, key.Value)
		})
		h.rewrites = append(h.rewrites, r)
	}
	return h
}

// value reads what YAML holds as JSON does.
func (p parser) value(n *yaml.Node, what string) any {
	var v any
	if err := n.Decode(&v); err != nil {
		p.Fail(n, "", "%s: %v", what, err)
		return nil
	}
	raw, err := json.Marshal(v)
	if err == nil {
		v = nil
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		p.Fail(n, "", "%s: %v", what, err)
	}
	return v
}

// full is the name of the configuration: of this drill and of no other in the lab.
func (h hook) full(st *stage) string { return h.name + "." + st.rec.Namespace.Name }

// apply starts the webhook on loopback, registers it for the namespace of the drill
// alone, lets the operator change that one configuration, and waits until the API
// server asks it.
func (h hook) apply(ctx context.Context, st *stage) error {
	st.say("a webhook %s", h.full(st))
	dir, err := st.place("webhook-"+h.name, "webhook.json", map[string]any{"rewrites": h.rewrites})
	if err != nil {
		return err
	}
	addr, ca, err := st.serves(ctx, "webhook", dir)
	if err != nil {
		return err
	}
	w := lab.Webhook{Name: h.full(st), URL: "https://" + addr + "/", CA: ca, Closed: h.closed}
	for _, r := range h.rewrites {
		w.Rules = append(w.Rules, lab.Hooked{Group: writable()[r.Resource], Version: "v1", Resources: []string{r.Resource}, Operations: r.Operations})
	}
	if err := st.world.Hook(ctx, st.rec.Namespace.Name, w); err != nil {
		return err
	}
	const group = "admissionregistration.k8s.io"
	return st.admit(ctx, nameOperator, nil, []lab.Rule{
		{Group: group, Resources: []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, Verbs: []string{"get", "list", "watch"}},
		{Group: group, Resources: []string{"mutatingwebhookconfigurations"}, Names: []string{h.full(st)}, Verbs: []string{"update", "patch", "delete"}},
	})
}

// reverted is the verb kube.await: it waits until a field has a value that somebody
// else gives it.
type reverted struct {
	resource, name, at string
	app                string // label of one of them, where a controller chose the name
	is                 any
}

func readAwait(p parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.await", "resource", "name", "app", "at", "is")
	a := reverted{resource: p.writable(p.need(n, f, "resource")), at: p.form(p.need(n, f, "at"), "at", pointerForm)}
	if f["app"] != nil {
		a.app = p.form(f["app"], "app", idForm)
	} else {
		a.name = p.form(p.need(n, f, "name"), "name", idForm)
	}
	if v := p.need(n, f, "is"); v != nil {
		a.is = p.value(v, "is")
	}
	return a
}

func (a reverted) apply(ctx context.Context, st *stage) error {
	want, err := json.Marshal(a.is)
	if err != nil {
		return err
	}
	var got []byte
	path, at := pathOfObject(writable()[a.resource], a.resource, st.rec.Namespace.Name, a.name), a.at
	if a.app != "" {
		path, at = strings.TrimSuffix(path, "/")+"?labelSelector=app%3D"+a.app, "/items/0"+a.at
	}
	err = st.wait(ctx, fmt.Sprintf("%s of %s/%s did not become %s", a.at, a.resource, or(a.name, a.app), want), func() (bool, error) {
		var o any
		if err := st.robot.get(ctx, path, &o); err != nil {
			return false, err
		}
		got, err = json.Marshal(pointed(o, at))
		return slices.Equal(got, want), err
	})
	if err != nil {
		return fmt.Errorf("%w; it is %s", err, got)
	}
	return nil
}
