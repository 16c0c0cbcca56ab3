package inject

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// enforced is the verb policy.enforce.
type enforced struct {
	Name       string   `key:"name,required" as:"id"`
	Resource   string   `key:"resource,required" as:"writable"`
	Operations []string `key:"operations,required" of:"operation" oneof:"CREATE UPDATE"`
	Expression string   `key:"expression,required"`
	Message    string   `key:"message,required"`
	Denies     any      `key:"denies,required" as:"json"` // an object that it refuses
}

// apply makes the policy, lets the operator read all policies and change that one, and
// waits until it denies: a policy and its binding reach the API server one after the
// other, and until then everything passes.
func (e enforced) apply(ctx context.Context, st *stage.Stage) error {
	full := hook{Name: e.Name}.full(st)
	st.Say("a policy %s", full)
	ns := st.Rec.Namespace.Name
	rule := lab.HookRule{Group: Writable()[e.Resource], Version: "v1", Resources: []string{e.Resource}, Operations: e.Operations}
	if err := st.World.Enforce(ctx, ns, lab.Policy{Name: full, Rules: []lab.HookRule{rule}, Expression: e.Expression, Message: e.Message}); err != nil {
		return err
	}
	said := "nothing"
	err := st.Wait(ctx, "the policy "+full+" did not deny", func() (bool, error) {
		err := st.World.Request(ctx, http.MethodPost, strings.TrimSuffix(PathOfObject(Writable()[e.Resource], e.Resource, ns, ""), "/")+"?dryRun=All", "application/json", e.Denies, nil)
		said = fmt.Sprint(err)
		return err != nil && strings.Contains(said, full) && strings.Contains(said, e.Message), nil
	})
	if err != nil {
		return fmt.Errorf("%w; the API server said: %s", err, said)
	}
	if err := st.Admit(ctx, stage.NameRobot, nil, policyRights(full)[:2]); err != nil {
		return err
	}
	return st.Admit(ctx, stage.NameOperator, nil, policyRights(full))
}

// policyRights are those of an operator who reads what configures admission and changes
// one policy and its binding.
func policyRights(name string) []lab.Rule {
	const group = "admissionregistration.k8s.io"
	of := []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"}
	return []lab.Rule{
		{Group: group, Resources: append([]string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, of...), Verbs: []string{"get", "list", "watch"}},
		constraintsRead(),
		{Group: group, Resources: of, Names: []string{name}, Verbs: []string{"update", "patch", "delete"}},
	}
}
