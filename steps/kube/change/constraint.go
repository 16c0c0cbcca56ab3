package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// mostSearches bounds the lists that show that nothing else carries a label.
const mostSearches = 40

// exceptLabel lets a constraint of Gatekeeper leave one object out. Its match takes names in and leaves none out, so that it
// goes by a label of the object: one that nothing else carries which the constraint judges. An annotation says which, and
// until when.
func exceptLabel(ctx context.Context, pl *alterPlan, of cluster.Resource, space, name string, until time.Time) error {
	key, value, err := admission.ReadLabel(pl.in.Text("label"))
	if err != nil {
		pl.unmet("name a label that the object carries and nothing else does, as key=value", "A constraint leaves objects out by their labels, and %v.", err)
		return nil
	}
	var c struct {
		Spec admission.ConstraintSpec `json:"spec"`
	}
	if err := json.Unmarshal(pl.o.Raw, &c); err != nil {
		pl.unmet("read it again", "%s: %v.", pl.t, err)
		return nil
	}
	if !c.Spec.Denies() {
		pl.unmet("look what else refused it", "%s denies nothing: its action is %s.", pl.t, report.OrNothing(strings.Join(c.Spec.Acts(), ", ")))
		return nil
	}
	if s := c.Spec.Match.LabelSelector; s != nil && slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
		return e.Key == key && e.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(e.Values, value)
	}) {
		pl.unmet("nothing: it is so already", "%s leaves out what carries %s=%s already.", pl.t, key, value)
		return nil
	}
	carries, err := pl.carries(ctx, of, space, name, key, value)
	if err != nil {
		return err
	}
	if err := pl.alone(ctx, c.Spec.Match, of, space, name, key+"="+value); err != nil {
		return err
	}
	note, text := admission.LabelException(name, key, value, until)
	pl.ops = labelOps(pl.doc, key, value, note, text)
	label := of.Label(space, name)
	pl.show("leaves out", "%s", label)
	pl.show("by its label", "%s=%s, %s", key, value, carries)
	pl.show("last day", "%s", until.Format(time.DateOnly))
	pl.show("judges", "%s", steps.Clip(steps.Flat(c.Spec.Match.String()), 400))
	pl.p.Shown = append(pl.p.Shown, servedBy(pl.o, nil)[1:]...)
	pl.p.Effect = fmt.Sprintf("let %s leave out what carries the label %s=%s: that is %s, and nothing else that it judges carries it now. Whatever gets that label later is left out too. Nothing ends that by itself: its last day, %s, stands in the name of an annotation. Every other object it judges as before. Who installed it may write it again within minutes.",
		pl.t, key, value, label, until.Format(time.DateOnly))
	pl.p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("the expression %s NotIn (%s) of %s and its annotation %s are taken away by %s, and its source knows of it", key, value, pl.t, note, until.Format(time.DateOnly))}}
	return nil
}

// carries says of the object whether it has the label. Gatekeeper looks at an object as it was and as it is sent: one that has
// the label only then is judged still.
func (pl *alterPlan) carries(ctx context.Context, of cluster.Resource, space, name, key, value string) (string, error) {
	o, err := pl.c.Get(ctx, of, space, name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return "which it must have as it is sent: it is not there yet", nil
	case err != nil:
		return "", err
	}
	if have, is := o.GetLabels()[key]; !is || have != value {
		pl.unmet("name a label that it carries, or let that label be delivered first", "%s does not carry %s=%s, and would be judged as before.", of.Label(space, name), key, value)
	}
	return "which it carries", nil
}

// alone: nothing but the object carries the label, of all that the constraint judges.
func (pl *alterPlan) alone(ctx context.Context, m admission.ConstraintMatch, of cluster.Resource, space, name, label string) error {
	const cure = "narrow the kinds of the constraint where it comes from, or correct its template"
	kinds, ok := judgedKinds(pl.c.Served().All, m)
	if !ok {
		pl.unmet(cure, "%s judges kinds by a star, so that nothing shows what else carries %s.", pl.t, label)
		return nil
	}
	spaces := m.Namespaces
	if len(spaces) == 0 || len(spaces)*len(kinds) > mostSearches || slices.ContainsFunc(spaces, func(s string) bool { return strings.Contains(s, "*") }) {
		spaces = []string{""}
	}
	if len(kinds)*len(spaces) > mostSearches {
		pl.unmet(cure, "%s judges %d kinds, too many to look through for what else carries %s.", pl.t, len(kinds), label)
		return nil
	}
	others, query := []string{}, url.Values{"labelSelector": {label}}
	for _, kind := range kinds {
		within := spaces
		if !kind.Namespaced {
			within = []string{""}
		}
		for _, in := range within {
			err := pl.c.List(ctx, kind.Path(in, ""), cluster.AsMetaList, query, func(o cluster.Object) {
				if kind != of || o.GetName() != name || o.GetNamespace() != space {
					others = append(others, kind.Label(o.GetNamespace(), o.GetName()))
				}
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				pl.unmet("get the right to list "+kind.String()+", then preview again", "Whether anything else carries %s is not known: %s.", label, report.Ended(err.Error()))
			}
		}
	}
	if len(others) > 0 {
		pl.unmet("name a label that nothing else carries", "%s carries %s too, and would be left out as well.", steps.Clip(strings.Join(others, ", "), 400), label)
	}
	return nil
}

// judgedKinds are the kinds that a match names, as the server has them. The second result is false where it takes in kinds
// that it does not name.
func judgedKinds(all []cluster.Resource, m admission.ConstraintMatch) (kinds []cluster.Resource, named bool) {
	star := func(list []string) bool { return len(list) == 0 || slices.Contains(list, "*") }
	for _, k := range m.Kinds {
		if star(k.Kinds) || star(k.APIGroups) {
			return nil, false
		}
		for _, r := range all {
			if slices.Contains(k.Kinds, r.Kind) && slices.Contains(k.APIGroups, r.Group) && !slices.Contains(kinds, r) {
				kinds = append(kinds, r)
			}
		}
	}
	return kinds, len(m.Kinds) > 0
}

// labelOps leave out what carries a label, and say until when.
func labelOps(doc map[string]any, key, value, note, text string) []patch.Op {
	const selector = "/spec/match/labelSelector"
	one := map[string]any{"key": key, "operator": "NotIn", "values": []any{value}}
	out := patch.Op{Op: patch.Add, Path: selector + "/matchExpressions/-", Value: one}
	if have, is := patch.Get(doc, selector); !is || have == nil {
		out.Path, out.Value = selector, map[string]any{"matchExpressions": []any{one}}
	} else if list, is := patch.Get(doc, selector+"/matchExpressions"); !is || list == nil {
		out.Path, out.Value = selector+"/matchExpressions", []any{one}
	}
	says := patch.Op{Op: patch.Add, Path: patch.Join([]string{"metadata", "annotations", note}), Value: text}
	if have, is := patch.Get(doc, "/metadata/annotations"); !is || have == nil {
		says.Path, says.Value = "/metadata/annotations", map[string]any{note: text}
	}
	return []patch.Op{out, says}
}
