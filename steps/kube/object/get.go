package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

func getFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "uid", Type: steps.Ident, Doc: "UID: another one is another object of the same name"},
		{Name: "resource", Type: steps.String, Doc: "plural and group, as jobs.batch"},
		{Name: "kind", Type: steps.String, Doc: "kind, as Job"},
		{Name: "namespace", Type: steps.String, Doc: "its namespace, empty for cluster-wide objects"},
		{Name: "rv", Type: steps.Ident, Doc: "resourceVersion"},
		{Name: "generation", Type: steps.Int, Doc: "generation of its spec, 0 where the kind has none"},
		{Name: "created", Type: steps.Time, Doc: "when it was created"},
		{Name: "age", Type: steps.Duration, Ages: true, Doc: "now, by the clock of the server, minus created"},
		{Name: "terminating", Type: steps.Bool, Doc: "whether its deletion was asked for"},
		{Name: "terminating_for", Type: steps.Duration, Ages: true, Doc: "since when it is to be gone, 0 when it is not being deleted"},
		{Name: "finalizers", Type: steps.Strings, Doc: "finalizers, in order"},
		{Name: "owners", Type: steps.Strings, Doc: "owner references, as kind/name uid"},
		{Name: "labels", Type: steps.Table, Doc: "labels"},
		{Name: "annotations", Type: steps.Table, Doc: "annotations, without the copies that kubectl keeps"},
		{Name: "suspended", Type: steps.Bool, Doc: "spec.suspend, false where there is none"},
		{Name: "conditions", Type: steps.Table, Doc: "type of each condition to its status"},
		{Name: "last_writer", Type: steps.String, Doc: "manager of the newest entry of managedFields that is not of the status alone: a lead, not a proof"},
		{Name: "last_written", Type: steps.Time, Doc: "time of that entry"},
		{Name: "content", Type: steps.Ident, Doc: "SHA-256 of the object without status, managedFields and resourceVersion; of a Secret, resourceVersion instead of the values"},
	}
}

type getProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p getProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml", "--show-managed-fields")}
	f := steps.NewFacts(getFacts())
	o, err := c.Get(ctx, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, obs.Command, f, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, err
	}
	if gap := steps.Keep(out, "object", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(o.Raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	now, why := c.Now()
	d := describeRun{Object: o, facts: f, now: now, clockless: why}
	d.all(t.Resource)
	obs.Summary = d.summary(t)
	obs.Findings = append(d.findings, c.Warnings()...)
	obs.Facts = f.Rest("the object does not say")
	return obs, nil
}

// summary is the line for the call.
func (d *describeRun) summary(t cluster.Target) string {
	if d.GetDeletionTimestamp() == nil {
		if age := d.facts.Got("age"); age.Known() {
			return fmt.Sprintf("%s is there, %s old.", t, age.Duration().Round(time.Second))
		}
		return fmt.Sprintf("%s is there.", t)
	}
	since := "for an unknown time"
	if v := d.facts.Got("terminating_for"); v.Known() {
		since = "for " + v.Duration().Round(time.Second).String()
	}
	held := "no finalizer holds it"
	if names := d.GetFinalizers(); len(names) > 0 {
		held = "held by " + steps.Clip(strings.Join(names, ", "), 300)
	}
	return fmt.Sprintf("%s is being deleted, %s: %s.", t, since, held)
}
