package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

func quotaFacts() []steps.Field {
	return []steps.Field{
		{Name: "quotas", Type: steps.Strings, Doc: "the ResourceQuotas of the namespace"},
		{Name: "exhausted", Type: steps.Strings, Doc: "what nothing is left of, as QUOTA/RESOURCE; what was never allowed is among it"},
		{Name: "headroom", Type: steps.Table, Doc: "QUOTA/RESOURCE to what is free and used"},
		{Name: "refusing", Type: steps.Bool, Doc: "whether something that was refused would be refused now too: what was asked for does not fit, or must still be said"},
		{Name: "refused", Type: steps.Strings, Doc: "the newest refusals that still stand, at most twenty, each with the object that was to be made"},
	}
}

type quotaProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p quotaProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	ns := c.NamespaceOf(in)
	var s report.Report
	s.Obs.Command = c.Kubectl(ns, "describe", "resourcequotas")
	var quotas []quota
	r := cluster.Resource{Version: "v1", Plural: "resourcequotas", Kind: "ResourceQuota", Namespaced: true}
	if err := cluster.Each(inner, c, r.Path(ns, ""), nil, func(q quota) { quotas = append(quotas, q) }); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	f := steps.NewFacts(quotaFacts())
	if gap := quotaKeep(out, quotas); gap != "" {
		s.Gap("%s", gap)
	}
	exhausted := quotaTell(&s, f, quotas)
	refusals, unread := quotaRefusals(inner, c, ns)
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	quotaRefusing(&s, f, quotas, refusals, unread)
	s.Obs.Summary = fmt.Sprintf("Namespace %s has %d quotas, nothing of them is used up.", ns, len(quotas))
	switch {
	case len(quotas) == 0:
		s.Obs.Summary = fmt.Sprintf("Namespace %s has no quota.", ns)
	case !f.Got("exhausted").Known():
		s.Obs.Summary = fmt.Sprintf("Namespace %s has %d quotas, and not all of them are counted.", ns, len(quotas))
	case len(exhausted) > 0:
		s.Obs.Summary = fmt.Sprintf("Namespace %s: nothing is left of %s.", ns, steps.Clip(strings.Join(exhausted, ", "), 300))
	}
	if f.Got("refusing").Bool() {
		s.Obs.Summary += " It refuses what is asked for now."
	}
	s.Obs.Findings = append(s.Obs.Findings, c.Warnings()...)
	s.Obs.Facts = f.Rest("not read")
	return s.Obs, nil
}

func quotaTell(s *report.Report, f steps.Facts, quotas []quota) (exhausted []string) {
	names, table, behind := []string{}, map[string]string{}, ""
	for _, q := range quotas {
		name := q.Metadata.Name
		names = append(names, name)
		if what := q.behind(); what != "" {
			behind = fmt.Sprintf("quota %s was changed, and its controller has not counted %s since: read again", name, what)
		}
		if q.scoped() {
			s.Obs.Say(steps.Info, "Quota %s counts only what its scopes name: %s", name, steps.Clip(fmt.Sprint(q.Spec.Scopes), 200))
		}
		for _, what := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
			key := name + "/" + what
			table[key] = q.headroom(what)
			free, _ := q.left(what)
			if free.Sign() > 0 {
				continue
			}
			exhausted = append(exhausted, key)
			if hard := q.Spec.Hard[what]; hard.IsZero() {
				s.Obs.Say(steps.Warning, "Quota %s allows no %s at all. That may be meant.", name, what)
			} else {
				s.Obs.Say(steps.Critical, "Quota %s has no %s left: %s.", name, what, table[key])
			}
		}
	}
	f.Set("quotas", steps.StringsOf(names))
	if behind != "" {
		f.Unknown(behind, "exhausted", "headroom")
		s.Obs.Say(steps.Warning, "%s.", behind)
		return exhausted
	}
	f.Set("exhausted", steps.StringsOf(exhausted))
	f.Set("headroom", steps.TableOf(table))
	if len(exhausted) > 0 {
		s.Obs.Say(steps.Info, "Repair a quota to what the namespace needs; do not delete it. Pods that a repair needs are refused until then, so it comes first.")
	}
	return exhausted
}

// quotaSaid is a refusal with the object that was to be made, and how many times: the first of
// several may fit where the last does not.
type quotaSaid struct {
	of    string
	times int64
	quotaRefusal
}

// quotaRefusals gathers what was refused: ReplicaSets keep it in a condition,
// everything else says it in events alone.
func quotaRefusals(ctx context.Context, c *cluster.Client, ns string) (list []quotaSaid, unread string) {
	add := func(of string, times int64, text string) {
		if r, ok := parseQuotaRefusal(text); ok {
			list = append(list, quotaSaid{of, times, r})
		}
	}
	err := cluster.Each(ctx, c, cluster.ReplicaSets().Path(ns, ""), nil, func(w podstate.Workload) {
		if cond := w.Condition("ReplicaFailure"); cond.Status == "True" {
			add("replicaset/"+w.Metadata.Name, lacking(w), cond.Message)
		}
	})
	if err != nil {
		unread = "ReplicaSets: " + report.Why(err)
	}
	failed, err := eventsIn(ctx, c, ns, "reason=FailedCreate")
	made := &eventHeap{}
	if err == nil {
		made, err = eventsIn(ctx, c, ns, "reason=SuccessfulCreate")
	}
	if err != nil {
		unread = strings.TrimPrefix(unread+"; events: "+report.Why(err), "; ")
	}
	if err != nil {
		return list, unread // half of the events make a refusal of what was made since
	}
	since := map[string]event{} // by UID, the newest
	for _, e := range made.events() {
		since[e.InvolvedObject.UID] = e
	}
	for _, e := range slices.Backward(failed.events()) {
		// What was made later was not refused.
		if later, ok := since[e.InvolvedObject.UID]; !ok || later.at().Before(e.at()) {
			add(strings.ToLower(e.InvolvedObject.Kind)+"/"+e.InvolvedObject.Name, 1, e.Message)
		}
	}
	return list, unread
}

// lacking is how many Pods a ReplicaSet has yet to make, at least the one that was refused.
func lacking(w podstate.Workload) int64 {
	want := int64(1)
	if w.Spec.Replicas != nil {
		want = *w.Spec.Replicas
	}
	return max(1, want-w.Status.Replicas)
}

func quotaRefusing(s *report.Report, f steps.Facts, quotas []quota, all []quotaSaid, unread string) {
	var standing []string
	seen := map[string]bool{}
	for _, r := range all {
		if !r.stands(quotas, r.times) || seen[r.of] {
			continue
		}
		seen[r.of] = true
		if len(standing) < mostEventLines {
			standing = append(standing, r.of+": "+steps.OneLine(r.text, 600))
		}
	}
	switch {
	case len(standing) > 0:
		f.Set("refusing", steps.BoolOf(true))
		if f.Set("refused", steps.StringsOf(standing)); unread != "" {
			f.Unknown("what else was refused could not be read: "+unread, "refused")
		}
		s.Obs.Say(steps.Critical, "It refuses now: %s", standing[0])
	case unread != "" && len(quotas) > 0:
		f.Unknown("what was refused could not be read: "+unread, "refusing", "refused")
	default:
		f.Set("refusing", steps.BoolOf(false))
		f.Set("refused", steps.StringsOf(nil))
		if len(all) > 0 {
			s.Obs.Say(steps.Info, "%d refusals are on record, and what they asked for would fit now.", len(all))
		}
	}
	if unread != "" {
		s.Gap("not read: %s", unread)
	}
}

func quotaKeep(out steps.Sink, quotas []quota) string {
	if len(quotas) == 0 {
		return ""
	}
	return steps.Keep(out, "quotas", steps.MediaJSON, func(w io.Writer) error {
		raw, err := json.MarshalIndent(quotas, "", "  ")
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	})
}
