package inject

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/strict"
)

var pointerForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// rewrite is one rule of a webhook: what it changes in which requests.
type rewrite struct {
	Resource   string         `key:"resource,required" as:"writable" json:"resource"`
	Operations []string       `key:"operations,required" of:"operation" oneof:"CREATE UPDATE" json:"operations"`
	Names      string         `key:"names" json:"names,omitempty"`
	Set        map[string]any `key:"set,required" as:"pointers" json:"set"`
}

// hook is the verb webhook.serve.
type hook struct {
	Name     string    `key:"name,required" as:"id"`
	Closed   bool      `key:"closed"`
	Rewrites []rewrite `key:"rewrites,required" of:"a rewrite"`
}

// full is the name of the configuration: of this drill and of no other in the lab.
func (h hook) full(st *stage.Stage) string { return h.Name + "." + st.Rec.Namespace.Name }

// apply starts the webhook on loopback, registers it for the namespace of the drill
// alone, lets the operator change that one configuration, and waits until the API
// server asks it.
func (h hook) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a webhook %s", h.full(st))
	dir, err := st.Place("webhook-"+h.Name, "webhook.json", map[string]any{"rewrites": h.Rewrites})
	if err != nil {
		return err
	}
	addr, ca, err := st.Serve(ctx, "webhook", dir)
	if err != nil {
		return err
	}
	w := lab.Webhook{Name: h.full(st), URL: "https://" + addr + "/", CA: ca, Closed: h.Closed}
	for _, r := range h.Rewrites {
		w.Rules = append(w.Rules, lab.HookRule{Group: Writable()[r.Resource], Version: "v1", Resources: []string{r.Resource}, Operations: r.Operations})
	}
	if err := st.World.Hook(ctx, st.Rec.Namespace.Name, w); err != nil {
		return err
	}
	return st.Admit(ctx, stage.NameOperator, nil, hookRights(h.full(st)))
}

// deadHook is the verb webhook.dead.
type deadHook struct {
	Name       string   `key:"name,required" as:"id"`
	Service    string   `key:"service,required" as:"id"`
	Resource   string   `key:"resource,required" as:"writable"`
	Operations []string `key:"operations,required" of:"operation" oneof:"CREATE UPDATE"`
	Checks     bool     `key:"checks"` // it is a validating one
}

// apply registers a webhook that nothing answers for, and lets the operator read
// configurations and change that one.
func (h deadHook) apply(ctx context.Context, st *stage.Stage) error {
	full := hook{Name: h.Name}.full(st)
	st.Say("a webhook %s without a backend", full)
	rule := lab.HookRule{Group: Writable()[h.Resource], Version: "v1", Resources: []string{h.Resource}, Operations: h.Operations}
	if err := st.World.Hook(ctx, st.Rec.Namespace.Name, lab.Webhook{Name: full, Of: h.Service, Closed: true, Checks: h.Checks, Rules: []lab.HookRule{rule}}); err != nil {
		return err
	}
	if err := st.Admit(ctx, stage.NameRobot, nil, hookRights(full)[:2]); err != nil {
		return err
	}
	return st.Admit(ctx, stage.NameOperator, nil, hookRights(full))
}

// hookRights are those of an operator who reads all webhooks and changes one.
func hookRights(name string) []lab.Rule {
	const group = "admissionregistration.k8s.io"
	return []lab.Rule{
		{Group: group, Resources: []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, Verbs: []string{"get", "list", "watch"}},
		constraintsRead(),
		{Group: group, Resources: []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, Names: []string{name}, Verbs: []string{"update", "patch", "delete"}},
	}
}

// reverted is the verb kube.await: it waits until another writer
// gives a field a value.
type reverted struct {
	Resource string `key:"resource,required" as:"writable"`
	At       string `key:"at,required" as:"pointer"`
	Name     string `key:"name" as:"id"`
	App      string `key:"app" as:"id"` // label of one of them, where a controller chose the name
	Is       any    `key:"is,required" as:"json"`
}

// Check wants one object by its name, or by the label of its app.
func (a *reverted) Check(r *strict.Reader, n *strict.Node) {
	if a.App == "" && a.Name == "" {
		r.Fail(n, "", "name is missing")
	}
}

func (a reverted) apply(ctx context.Context, st *stage.Stage) error {
	want, err := json.Marshal(a.Is)
	if err != nil {
		return err
	}
	var got []byte
	path, at := PathOfObject(Writable()[a.Resource], a.Resource, st.Rec.Namespace.Name, a.Name), a.At
	if a.App != "" {
		path, at = strings.TrimSuffix(path, "/")+"?labelSelector=app%3D"+a.App, "/items/0"+a.At
	}
	err = st.Wait(ctx, fmt.Sprintf("%s of %s/%s did not become %s", a.At, a.Resource, cmp.Or(a.Name, a.App), want), func() (bool, error) {
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

// constraintsRead lets an account read the constraints of Gatekeeper: a lab that ran it once serves their kinds, and a trace
// reads them wherever they are served.
func constraintsRead() lab.Rule {
	return lab.Rule{Group: "constraints.gatekeeper.sh", Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}
}
