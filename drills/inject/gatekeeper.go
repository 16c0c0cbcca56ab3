package inject

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"handrail/drills/lab"
	"handrail/drills/lab/gitops"
	"handrail/drills/stage"
)

// gatekeeperEntry is the name that Gatekeeper's own chart gives its webhook, and an error quotes.
const gatekeeperEntry = "validation.gatekeeper.sh"

// runGatekeeper is the verb gatekeeper.run.
type runGatekeeper struct{}

// apply starts Gatekeeper, and registers its webhook for the namespace of the drill alone: it fails closed, as one does that
// guards something. The operator may change that configuration, as one who may misuse it in a hurry.
func (runGatekeeper) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting Gatekeeper; it is built the first time, which takes minutes")
	ns := st.Rec.Namespace.Name
	within, err := st.World.More(ctx, ns, "gatekeeper")
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "handrail-gatekeeper-")
	if err != nil {
		return err
	}
	st.Rec.Folders = append(st.Rec.Folders, home)
	if err := st.Save(); err != nil {
		return err
	}
	part, err := gitops.PlanGatekeeper(ctx, st.World, home, ns, within)
	if err != nil {
		return err
	}
	if err := st.Attend(ctx, part.Process); err != nil {
		return err
	}
	at, err := lab.Listeners(st.Rec.Processes[0].PID)
	if err != nil {
		return err
	}
	for _, a := range at {
		if !a.IsLoopback() {
			return fmt.Errorf("listening on %s: Gatekeeper must stay on loopback, and is not used", a)
		}
	}
	full := hook{Name: "gatekeeper"}.full(st)
	rule := lab.HookRule{Group: "*", Version: "*", Resources: []string{"*"}, Operations: []string{"CREATE", "UPDATE"}}
	if err := st.World.Hook(ctx, ns, lab.Webhook{Name: full, Entry: gatekeeperEntry, URL: part.URL, CA: part.CA, Closed: true, Checks: true, Rules: []lab.HookRule{rule}}); err != nil {
		return err
	}
	return st.Admit(ctx, stage.NameOperator, nil, hookRights(full))
}

// constrain is the verb gatekeeper.enforce.
type constrain struct {
	Name     string   `key:"name,required" as:"id"` // of the constraint
	Kind     string   `key:"kind,required"`         // of the constraint; the drill's own name is put behind it
	Resource string   `key:"resource,required" as:"writable"`
	OfKind   string   `key:"of_kind,required"`
	Labels   []string `key:"labels,required" of:"a label"` // the parameter of the Rego
	Was      string   `key:"was"`                          // the Rego as it was made; "" where it is as it is now
	Rego     string   `key:"rego,required"`
	Message  string   `key:"message,required"`
	Denies   any      `key:"denies,required" as:"json"` // an object that it refuses
}

// The writers of a template and its constraint, by the names that they give themselves.
const (
	writesPolicies = "policy-pipeline"
	editsPolicies  = "kubectl-edit"
)

// apply makes the template and the constraint as a pipeline does, writes the Rego that holds now as a person does, and waits
// until it denies: Gatekeeper makes the kind of the constraint first, and compiles the Rego then.
func (c constrain) apply(ctx context.Context, st *stage.Stage) error {
	ns := st.Rec.Namespace.Name
	t := lab.Template{Kind: c.Kind + strings.ReplaceAll(ns[strings.LastIndexByte(ns, '-')+1:], ".", ""), Constraint: hook{Name: c.Name}.full(st), Group: Writable()[c.Resource], OfKind: c.OfKind,
		Rego: c.Rego, Parameters: map[string]any{"labels": c.Labels}}
	st.Say("a constraint %s of %s", t.Constraint, t.Kind)
	first := t
	if c.Was != "" {
		first.Rego = c.Was
	}
	if err := st.World.WriteTemplate(ctx, ns, writesPolicies, first); err != nil {
		return err
	}
	said := "nothing"
	seen := func(what string, try func() (bool, error)) error {
		if err := st.Wait(ctx, what, try); err != nil {
			return fmt.Errorf("%w; the API server said: %s", err, said)
		}
		return nil
	}
	if err := seen("Gatekeeper did not make the kind "+t.Kind, func() (bool, error) {
		err := st.World.Constrain(ctx, ns, writesPolicies, t)
		said = fmt.Sprint(err)
		return err == nil, nil
	}); err != nil {
		return err
	}
	if c.Was != "" {
		if err := st.World.WriteTemplate(ctx, ns, editsPolicies, t); err != nil {
			return err
		}
	}
	collection := strings.TrimSuffix(PathOfObject(Writable()[c.Resource], c.Resource, ns, ""), "/") + "?dryRun=All"
	if err := seen("the constraint "+t.Constraint+" did not deny", func() (bool, error) {
		err := st.World.Request(ctx, http.MethodPost, collection, "application/json", c.Denies, nil)
		said = fmt.Sprint(err)
		return err != nil && strings.Contains(said, "["+t.Constraint+"] "+c.Message), nil
	}); err != nil {
		return err
	}
	rights := constraintRights(t)
	if err := st.Admit(ctx, stage.NameRobot, nil, append(policyRights(t.Constraint)[:2], rights[:1]...)); err != nil {
		return err
	}
	return st.Admit(ctx, stage.NameOperator, nil, append(policyRights(t.Constraint)[:2], rights...))
}

// constraintRights are those of an operator who reads what Gatekeeper judges by, and changes one constraint.
func constraintRights(t lab.Template) []lab.Rule {
	return []lab.Rule{
		{Group: "templates.gatekeeper.sh", Resources: []string{"constrainttemplates"}, Verbs: []string{"get", "list", "watch"}},
		{Group: "constraints.gatekeeper.sh", Resources: []string{t.Name()}, Names: []string{t.Constraint}, Verbs: []string{"update", "patch", "delete"}},
	}
}
