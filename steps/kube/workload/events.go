package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// mostEventLines bounds the events in a fact; the artifact has the newest 500.
const mostEventLines = 20

func eventFacts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many events there are"},
		{Name: "warnings", Type: steps.Int, Doc: "how many of the newest 500 are of type Warning"},
		{Name: "newest", Type: steps.Time, Doc: "when the newest was seen last"},
		{Name: "reasons", Type: steps.Table, Doc: "reason to how often it was seen, of the newest 500"},
		{Name: "latest", Type: steps.Strings, Doc: "the newest twenty, the newest first: time, type, reason, object and what it says"},
		{Name: "stuck", Type: steps.Strings, Doc: "those of the newest 500 that tell of something that does not go on, whatever their type, the newest first; at most twenty"},
		{Name: "former", Type: steps.Int, Doc: "how many are about an earlier object of the same name, by UID; 0 for a namespace"},
		{Name: "collapsed", Type: steps.Int, Doc: "how many stand for several that were alike: the server kept no more of them"},
	}
}

type eventProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p eventProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	ns, about, uid, selector := c.NamespaceOf(in), "", "", ""
	switch what, name := in.Text("resource"), in.Text("name"); {
	case what != "" && name != "":
		t, err := c.Target(inner, in)
		if err != nil {
			return steps.Observation{}, err
		}
		o, err := c.Get(inner, t.Resource, t.Namespace, t.Name)
		if err != nil && !errors.Is(err, cluster.ErrAbsent) {
			return steps.Observation{}, err
		}
		if err == nil {
			uid = string(o.GetUID())
		}
		about, selector = t.String(), eventsAbout(t.Kind, t.Name)
		if ns = t.Namespace; ns == "" {
			ns = "default" // events of cluster-wide objects are kept there
		}
	case what != "" || name != "":
		return steps.Observation{}, errors.New("name both the resource and the object, or neither for the whole namespace")
	}
	h, err := eventsIn(inner, c, ns, selector)
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	if err != nil {
		return steps.Observation{}, err
	}
	var s report.Report
	args := []string{"get", "events"}
	if selector != "" {
		args = append(args, "--field-selector", selector)
	}
	s.Obs.Command = c.Kubectl(ns, append(args, "--sort-by", ".metadata.creationTimestamp")...)
	if about == "" {
		about = "namespace " + ns
	}
	p.tell(&s, h, about, uid, selector != "")
	if gap := eventKeep(out, h.events()); gap != "" {
		s.Gap("%s", gap)
	}
	s.Obs.Findings = append(s.Obs.Findings, c.Warnings()...)
	return s.Obs, nil
}

func (p eventProbe) tell(s *report.Report, h *eventHeap, about, uid string, one bool) {
	f := steps.NewFacts(eventFacts())
	list := h.events()
	var warnings, former, collapsed int64
	reasons := map[string]string{}
	counts := map[string]int64{}
	var latest, stuck []string
	for _, e := range slices.Backward(list) {
		counts[steps.Clip(e.Reason, 100)] += e.times()
		if e.Type == "Warning" {
			warnings++
		}
		old := one && e.InvolvedObject.UID != "" && e.InvolvedObject.UID != uid
		if old {
			former++
		}
		if strings.HasPrefix(e.Message, "(combined from similar events)") {
			collapsed++
		}
		if len(latest) < mostEventLines {
			latest = append(latest, e.line())
		}
		if (eventStuck[e.Reason] || e.Type == "Warning") && !old && len(stuck) < mostEventLines {
			stuck = append(stuck, e.line())
		}
	}
	for reason, n := range counts {
		reasons[reason] = fmt.Sprint(n)
	}
	f.Set("count", steps.IntOf(int64(h.seen)))
	f.Set("warnings", steps.IntOf(warnings))
	f.Set("former", steps.IntOf(former))
	f.Set("collapsed", steps.IntOf(collapsed))
	f.Set("reasons", steps.TableOf(reasons))
	f.Set("latest", steps.StringsOf(latest))
	f.Set("stuck", steps.StringsOf(stuck))
	if len(list) > 0 {
		f.Set("newest", steps.TimeOf(list[len(list)-1].at()))
	}
	s.Obs.Summary = fmt.Sprintf("%d events about %s, %d of them tell of something that does not go on.", h.seen, about, len(stuck))
	if h.seen == 0 {
		s.Obs.Summary = fmt.Sprintf("No event about %s.", about)
		s.Gap("%s", eventKept)
	}
	for _, line := range stuck[:min(len(stuck), 5)] {
		s.Obs.Say(steps.Warning, "%s", line)
	}
	if former > 0 {
		s.Obs.Say(steps.Info, "%d events are about an earlier object of this name: it was created again.", former)
	}
	if h.seen > len(list) {
		s.Gap("the newest %d of %d events were kept", len(list), h.seen)
	}
	s.Obs.Facts = f.Rest("there is no event")
}
