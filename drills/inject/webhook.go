package inject

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/drills/stage"
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

func readHook(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "webhook.serve", "name", "closed", "rewrites")
	h := hook{name: p.Form(p.Need(n, f, "name"), "name", IDForm), closed: p.Flag(f["closed"], "closed")}
	for _, item := range p.Items(p.Need(n, f, "rewrites"), "rewrites") {
		g := p.Fields(item, "a rewrite", "resource", "operations", "names", "set")
		r := rewrite{Resource: p.writable(p.Need(item, g, "resource")), Names: p.Text(g["names"], "names"), Set: map[string]any{}}
		for _, o := range p.Items(p.Need(item, g, "operations"), "operations") {
			r.Operations = append(r.Operations, p.OneOf(o, "operation", []string{"CREATE", "UPDATE"}))
		}
		p.Each(p.Need(item, g, "set"), "set", func(key, value *yaml.Node) {
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
func (p Parser) value(n *yaml.Node, what string) any {
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
func (h hook) full(st *stage.Stage) string { return h.name + "." + st.Rec.Namespace.Name }

// apply starts the webhook on loopback, registers it for the namespace of the drill
// alone, lets the operator change that one configuration, and waits until the API
// server asks it.
func (h hook) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a webhook %s", h.full(st))
	dir, err := st.Place("webhook-"+h.name, "webhook.json", map[string]any{"rewrites": h.rewrites})
	if err != nil {
		return err
	}
	addr, ca, err := st.Serve(ctx, "webhook", dir)
	if err != nil {
		return err
	}
	w := lab.Webhook{Name: h.full(st), URL: "https://" + addr + "/", CA: ca, Closed: h.closed}
	for _, r := range h.rewrites {
		w.Rules = append(w.Rules, lab.Hooked{Group: Writable()[r.Resource], Version: "v1", Resources: []string{r.Resource}, Operations: r.Operations})
	}
	if err := st.World.Hook(ctx, st.Rec.Namespace.Name, w); err != nil {
		return err
	}
	const group = "admissionregistration.k8s.io"
	return st.Admit(ctx, stage.NameOperator, nil, []lab.Rule{
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

func readAwait(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.await", "resource", "name", "app", "at", "is")
	a := reverted{resource: p.writable(p.Need(n, f, "resource")), at: p.Form(p.Need(n, f, "at"), "at", pointerForm)}
	if f["app"] != nil {
		a.app = p.Form(f["app"], "app", IDForm)
	} else {
		a.name = p.Form(p.Need(n, f, "name"), "name", IDForm)
	}
	if v := p.Need(n, f, "is"); v != nil {
		a.is = p.value(v, "is")
	}
	return a
}

func (a reverted) apply(ctx context.Context, st *stage.Stage) error {
	want, err := json.Marshal(a.is)
	if err != nil {
		return err
	}
	var got []byte
	path, at := PathOfObject(Writable()[a.resource], a.resource, st.Rec.Namespace.Name, a.name), a.at
	if a.app != "" {
		path, at = strings.TrimSuffix(path, "/")+"?labelSelector=app%3D"+a.app, "/items/0"+a.at
	}
	err = st.Wait(ctx, fmt.Sprintf("%s of %s/%s did not become %s", a.at, a.resource, cmp.Or(a.name, a.app), want), func() (bool, error) {
		var o any
		if err := st.Robot.Get(ctx, path, &o); err != nil {
			return false, err
		}
		got, err = json.Marshal(Pointed(o, at))
		return slices.Equal(got, want), err
	})
	if err != nil {
		return fmt.Errorf("%w; it is %s", err, got)
	}
	return nil
}
