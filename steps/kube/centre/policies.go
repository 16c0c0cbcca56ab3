package centre

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
)

// denying counts which policies refuse most: what the API server refused to
// controllers, as the Warnings of the last hour say, and what reports found on
// objects that are there. A denial that a person got is in no event.
func (s *Centre) denying(ctx context.Context, w *answer) {
	denials := map[string]*denial{}
	r := cluster.Resource{Version: "v1", Plural: "events", Kind: "Event", Namespaced: true}
	s.every(ctx, w, r, cluster.AsJSON, url.Values{"fieldSelector": {"type=Warning"}}, func(o cluster.Object) {
		who, why, is := deniedBy(textIn(o, "message"))
		if !is {
			return
		}
		d := denials[who]
		if d == nil {
			d = &denial{}
			denials[who] = d
		}
		d.add(o, why)
	})
	for _, who := range slices.Sorted(maps.Keys(denials)) {
		w.row(denials[who].row(s.c, who))
	}
	for _, name := range []string{"policyreports.wgpolicyk8s.io", "clusterpolicyreports.wgpolicyk8s.io"} {
		if r, ok := s.kind(ctx, w, name); ok {
			s.reports(ctx, w, r)
		}
	}
	s.bindings(ctx, w)
}

// denial is what one policy refused.
type denial struct {
	times       int
	first, last time.Time
	object, why string // of the last
	webhook     string // that could not be asked, "" for a verdict
}

func (d *denial) add(o cluster.Object, why string) {
	n := max(1, int(numberIn(o, "count")), int(numberIn(o, "series", "count")))
	d.times += n
	first := earliest(timeIn(o.Object, "firstTimestamp"), timeIn(o.Object, "eventTime"), o.GetCreationTimestamp().Time)
	last := latest(timeIn(o.Object, "series", "lastObservedTime"), timeIn(o.Object, "eventTime"), timeIn(o.Object, "lastTimestamp"), first)
	d.first = earliest(d.first, first)
	if d.object == "" || last.After(d.last) {
		d.last, d.why = last, why
		d.object = strings.ToLower(textIn(o, "involvedObject", "kind")) + "/" + textIn(o, "involvedObject", "namespace") + "/" + textIn(o, "involvedObject", "name")
	}
}

func (d *denial) row(c *cluster.Client, who string) steps.Standing {
	return steps.Standing{Level: steps.Warning, Count: d.times, Where: who, What: fmt.Sprintf("denied %d times, last %s", d.times, steps.Clip(d.object, 150)),
		Since: d.first, Detail: d.why, Command: c.Kubectl("", "get", "events", "-A", "--field-selector", "type=Warning")}
}

func earliest(times ...time.Time) time.Time {
	var out time.Time
	for _, t := range times {
		if !t.IsZero() && (out.IsZero() || t.Before(out)) {
			out = t
		}
	}
	return out
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// deniedBy names the policy that a message says refused something. What a quota, a
// level or a right refuses is told elsewhere, and what could not be asked decided
// nothing.
func deniedBy(message string) (who, why string, is bool) {
	d := admission.ReadDenial(message)
	switch d.Sort {
	case admission.ByPolicy, admission.ByWebhook:
		return d.Source(), d.Said, true
	}
	return "", "", false
}

// reports counts the failed results of policy reports. They are of a scan, and
// may lag behind: a report is no denial.
func (s *Centre) reports(ctx context.Context, w *answer, r cluster.Resource) {
	type failed struct {
		times int
		last  time.Time
		why   string
	}
	by := map[string]*failed{}
	s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
		results, _, _ := unstructured.NestedSlice(o.Object, "results")
		for _, item := range results {
			m, _ := item.(map[string]any)
			policy, _ := m["policy"].(string)
			if verdict, _ := m["result"].(string); policy == "" || verdict != "fail" && verdict != "error" {
				continue
			}
			f := by[policy]
			if f == nil {
				f = &failed{}
				by[policy] = f
			}
			f.times++
			f.why, _ = m["message"].(string)
			if sec, _, _ := unstructured.NestedInt64(m, "timestamp", "seconds"); sec > 0 {
				f.last = latest(f.last, time.Unix(sec, 0))
			}
		}
	})
	for _, policy := range slices.Sorted(maps.Keys(by)) {
		f := by[policy]
		w.row(steps.Standing{Level: steps.Info, Count: f.times, Where: "policy " + steps.Clip(policy, 253) + " in " + r.Plural,
			What: fmt.Sprintf("%d results fail in its reports", f.times), Since: f.last, Detail: f.why, Command: s.c.Kubectl("", "get", r.String(), "-A")})
	}
}

// bindings says how many ValidatingAdmissionPolicies may deny at all.
func (s *Centre) bindings(ctx context.Context, w *answer) {
	r := cluster.Resource{Group: "admissionregistration.k8s.io", Version: "v1", Plural: "validatingadmissionpolicybindings", Kind: "ValidatingAdmissionPolicyBinding"}
	deny, before := 0, len(w.Seen)
	s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
		if actions, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "validationActions"); slices.Contains(actions, "Deny") {
			deny++
		}
	})
	if len(w.Seen) > before {
		w.Seen[len(w.Seen)-1] = fmt.Sprintf("policy bindings (%d deny)", deny)
	}
}
