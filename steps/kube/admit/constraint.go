package admit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/blame"
)

// ofConstraints is the phase of what Gatekeeper's constraints say.
const ofConstraints = "constraints"

// calledConstraint is a constraint that a refusal may be of: the text names it without its kind.
type calledConstraint struct {
	of       cluster.Resource
	o        cluster.Object
	spec     admission.ConstraintSpec
	template cluster.Object
	lost     string // why the template is not known, "" where it is
}

// constraints reads what Gatekeeper holds requests against: every kind that a template of it made. Where it is not there is
// nothing to read.
func (r *reading) constraints(ctx context.Context) {
	served := r.c.Served()
	if served.Hides(admission.ConstraintGroup) {
		r.fail("constraints of Gatekeeper", fmt.Errorf("the server does not say which kinds of %s it has", admission.ConstraintGroup), ofConstraints)
	}
	for _, of := range served.In(admission.ConstraintGroup) {
		err := r.c.List(ctx, of.Path("", ""), cluster.AsJSON, nil, func(o cluster.Object) {
			spec, err := constraintIn(o)
			if err != nil {
				r.fail(of.Label("", o.GetName()), err, ofConstraints)
				return
			}
			r.config.Constraints = append(r.config.Constraints, admission.Constraint{Name: of.Label("", o.GetName()), Template: "constrainttemplate/" + of.Plural,
				Of: spec, Exceptions: admission.ExceptionsIn(o.GetAnnotations())})
			if o.GetName() == r.called {
				r.found = append(r.found, calledConstraint{of: of, o: o, spec: spec})
			}
		})
		if err != nil && r.deleted(ctx, of) {
			continue
		}
		r.fail("constraints "+of.String(), err, ofConstraints)
		if cluster.IsForbidden(err) {
			break // a role that may list one kind of them may list all, since each template makes another
		}
	}
	for i := range r.found {
		r.found[i].readTemplate(ctx, r.c)
	}
}

// deleted reports whether a kind of constraints went since the server said which it has: its template was deleted meanwhile, and
// its constraints with it.
func (r *reading) deleted(ctx context.Context, of cluster.Resource) bool {
	crd, err := r.c.AnyVersion("apiextensions.k8s.io/v1", "CustomResourceDefinition")
	if err == nil {
		_, err = r.c.Get(ctx, crd, "", of.Plural+"."+of.Group)
	}
	return errors.Is(err, cluster.ErrAbsent)
}

// readTemplate reads the template that made the kind of a constraint: Gatekeeper calls both by one name.
func (f *calledConstraint) readTemplate(ctx context.Context, c *cluster.Client) {
	of, err := c.AnyVersion(admission.TemplateGroup+"/v1", "ConstraintTemplate")
	if err == nil {
		f.template, err = c.Get(ctx, of, "", f.of.Plural)
	}
	if err != nil {
		f.lost = steps.Clip(err.Error(), 300)
	}
}

// constraintIn reads the spec of a constraint, as Gatekeeper does: what is not there takes all in.
func constraintIn(o cluster.Object) (admission.ConstraintSpec, error) {
	var c struct {
		Spec admission.ConstraintSpec `json:"spec"`
	}
	raw, err := json.Marshal(o.Object) // an item of a list has no bytes of its own
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c.Spec, err
}

// lastWrite is the newest entry of the managedFields that are not about a subresource, of one field alone where path is not
// empty. The controller of Gatekeeper writes the status of both, which says nothing of who made them what they are.
func lastWrite(o cluster.Object, path ...any) (by string, at time.Time) {
	entries, _ := blame.Entries(o)
	within, err := fieldpath.MakePath(path...)
	for _, e := range entries {
		if e.Subresource != "" || len(path) > 0 && (err != nil || e.Fields == nil || !e.Fields.Has(within)) {
			continue
		}
		return e.String(), e.At
	}
	return "", time.Time{}
}

// constraintFacts say of the one constraint that was called by name what it demands of whom, and when it came to do so.
func (tr *tracing) constraintFacts(f steps.Facts) {
	names := []string{"constraint", "constraint_resource", "constraint_uid", "constraint_by", "enforces", "judges", "template", "template_generation", "template_by", "rego_by", "rego_changed", "rego_age"}
	why, lost := tr.lostOf(ofConstraints)
	switch {
	case tr.called == "":
		f.Unknown("no constraint is named", names...)
		return
	case len(tr.found) > 1:
		var all []string
		for _, c := range tr.found {
			all = append(all, c.of.Label("", tr.called))
		}
		f.Unknown(fmt.Sprintf("%d constraints are called %s: %s", len(all), tr.called, strings.Join(all, ", ")), names...)
		return
	case len(tr.found) == 0 && lost:
		f.Unknown(why, names...)
		return
	case len(tr.found) == 0:
		f.Set("constraint", steps.StringOf(""))
		f.Unknown("no constraint is called "+tr.called, names[1:]...)
		return
	}
	c := tr.found[0]
	f.Set("constraint", steps.StringOf(c.of.Label("", c.o.GetName())))
	f.Set("constraint_resource", steps.StringOf(c.of.String()))
	f.Set("constraint_uid", steps.IdentOf(string(c.o.GetUID())))
	by, _ := lastWrite(c.o)
	f.Set("constraint_by", steps.StringOf(by))
	f.Set("enforces", steps.StringOf(strings.Join(c.spec.Acts(), ", ")))
	f.Set("judges", steps.StringOf(steps.Clip(steps.Flat(c.spec.Match.String()), 1000)))
	if c.lost != "" {
		f.Unknown(c.lost, names[6:]...)
		return
	}
	f.Set("template", steps.StringOf("constrainttemplate/"+c.template.GetName()))
	f.Set("template_generation", steps.IntOf(c.template.GetGeneration()))
	by, _ = lastWrite(c.template)
	f.Set("template_by", steps.StringOf(by))
	by, at := lastWrite(c.template, "spec", "targets")
	if at.IsZero() {
		f.Unknown("the server does not say who wrote the Rego of constrainttemplate/"+c.template.GetName()+", nor when", "rego_by", "rego_changed", "rego_age")
		return
	}
	f.Set("rego_by", steps.StringOf(by))
	f.Set("rego_changed", steps.TimeOf(at))
	f.Set("rego_age", steps.DurationOf(max(0, tr.now.Sub(at).Round(time.Second))))
}

// keepCalled are the constraint and its template as they are, for the judgement of the Rego later.
func (tr *tracing) keepCalled(out steps.Sink) (gaps []string) {
	for _, c := range tr.found {
		for name, o := range map[string]cluster.Object{"constraint": c.o, "template": c.template} {
			if o.Unstructured == nil {
				continue
			}
			if gap := steps.Keep(out, name, steps.MediaKubernetes, func(w io.Writer) error { return json.NewEncoder(w).Encode(o.Object) }); gap != "" {
				gaps = append(gaps, gap)
			}
		}
	}
	return gaps
}
