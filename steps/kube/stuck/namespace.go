package stuck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

func namespaceFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the namespace is there"},
		{Name: "uid", Type: steps.Ident, Doc: "its UID"},
		{Name: "age", Type: steps.Duration, Ages: true, Doc: "now, by the clock of the server, minus when it was created"},
		{Name: "terminating", Type: steps.Bool, Doc: "whether its deletion was asked for"},
		{Name: "terminating_for", Type: steps.Duration, Ages: true, Doc: "since when it is to be gone, 0 when it is not being deleted"},
		{Name: "blocker", Type: steps.Enum, Values: []string{"none", "discovery", "webhook", "content", "finalizer", "settling"}, Doc: "what holds the deletion, none also where there is no namespace; settling where the namespace controller has not said yet, or what it said is no longer so"},
		{Name: "own", Type: steps.Strings, Doc: "finalizers of the namespace itself, without the one that every namespace has"},
		{Name: "remaining", Type: steps.Table, Doc: "resource to how many of it are left in the namespace"},
		{Name: "holders", Type: steps.Table, Doc: "finalizer to how many objects have it"},
		{Name: "dead_apis", Type: steps.Strings, Doc: "API services that the server cannot reach, or whose discovery fails; one of them stops the deletion of every namespace"},
		{Name: "webhooks", Type: steps.Strings, Doc: "webhooks and policies that refuse the deletion of what is left, each with its configuration"},
		{Name: "objects", Type: steps.Strings, Doc: "what is left, as resource/name, with its finalizers; unknown above 500"},
		{Name: "held_resource", Type: steps.String, Doc: "resource of the one thing that holds it, where there is exactly one: an object with finalizers, an API service or a webhook configuration; where nothing does, the namespace itself"},
		{Name: "held_name", Type: steps.String, Doc: "its name"},
		{Name: "held_webhook", Type: steps.String, Doc: "name of the one webhook that refuses, as an entry of its configuration"},
		{Name: "older", Type: steps.Strings, Doc: "objects that are older than the namespace, or stored where there is none: its finalizers were once emptied, and they came back"},
	}
}

type namespaceProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p namespaceProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := c.Discover(ctx); err != nil {
		return steps.Observation{}, c.Explain("discovery of", "what it serves", err)
	}
	s := namespaceRun{Client: c, name: in.Text("name"), facts: steps.NewFacts(namespaceFacts()), out: out}
	s.obs.Command = c.Kubectl("", "get", "namespace", s.name, "-o", "json")
	s.o, err = c.Get(ctx, cluster.Namespaces(), "", s.name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		s.absent = true
	case err != nil:
		return steps.Observation{}, err
	}
	if err := s.look(ctx); err != nil {
		return steps.Observation{}, err
	}
	s.describe()
	s.obs.Findings = append(s.obs.Findings, c.Warnings()...)
	why := "not read"
	if s.absent {
		why = "there is no namespace " + s.name
	}
	s.obs.Facts = s.facts.Rest(why)
	return s.obs, nil
}

// look reads all that the namespace depends on.
func (s *namespaceRun) look(ctx context.Context) error {
	for _, part := range []func(context.Context) error{s.leftovers, s.dead, s.refusals} {
		if err := part(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("namespace %s: %w", s.name, err)
		}
	}
	if !s.absent {
		if gap := steps.Keep(s.out, "namespace", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(s.o.Raw); return err }); gap != "" {
			s.obs.Gaps = append(s.obs.Gaps, gap)
		}
	}
	return nil
}

func (s *namespaceRun) describe() {
	f := s.facts
	f.Set("exists", steps.BoolOf(!s.absent))
	s.tellLeft()
	s.tellAPIs()
	if s.absent {
		f.Set("blocker", steps.EnumOf("none"))
		s.itself()
		s.obs.Summary = fmt.Sprintf("There is no namespace %s.", s.name)
		if n := len(s.left.older); n > 0 {
			s.obs.Summary = fmt.Sprintf("There is no namespace %s, and %d of its objects are still stored.", s.name, n)
		}
		return
	}
	f.Set("uid", steps.IdentOf(string(s.o.GetUID())))
	f.Set("terminating", steps.BoolOf(s.o.GetDeletionTimestamp() != nil))
	f.Set("own", steps.StringsOf(s.own()))
	since := s.times()
	s.tellRefusals()
	is, why := s.blocker()
	f.Set("blocker", steps.EnumOf(is))
	s.one(is)
	if s.o.GetDeletionTimestamp() == nil {
		s.obs.Summary = fmt.Sprintf("Namespace %s is there and is not being deleted.", s.name)
		return
	}
	s.obs.Findings = append(s.obs.Findings, namespaceSays(s.o)...)
	if is != "none" && is != "settling" {
		s.obs.Say(steps.Warning, "Never empty the finalizers of namespace %s through /finalize: what is left would stay stored, and come back inside the next namespace of that name.", s.name)
	}
	s.obs.Summary = fmt.Sprintf("Namespace %s is being deleted%s: %s.", s.name, since, why)
}

// times are counted by the server's clock alone.
func (s *namespaceRun) times() (since string) {
	now, why := s.Now()
	if why != "" {
		s.facts.Unknown(why, "age", "terminating_for")
		return ", for an unknown time"
	}
	s.facts.Set("age", steps.DurationOf(now.Sub(s.o.GetCreationTimestamp().Time)))
	asked := s.o.GetDeletionTimestamp()
	if asked == nil {
		s.facts.Set("terminating_for", steps.DurationOf(0))
		return ""
	}
	d := max(0, now.Sub(asked.Time))
	s.facts.Set("terminating_for", steps.DurationOf(d))
	return ", for " + d.Round(time.Second).String()
}

// blocker says what holds the deletion. What the namespace controller said may
// be of a minute ago, so that each of its words is held against what is there
// now.
func (s *namespaceRun) blocker() (is, why string) {
	if s.o.GetDeletionTimestamp() == nil {
		return "none", ""
	}
	const again = "; the namespace controller looks again by itself within about a minute, so read again then"
	is, unsaid := namespaceBlocker(s.o)
	if unsaid != "" {
		return "settling", unsaid
	}
	switch {
	case is == "discovery" && s.apisWhy == "" && len(s.apis) == 0 && len(s.Silent()) == 0:
		return "settling", "every API service answers again" + again
	case is == "discovery":
		return is, "a dead API service stops it (" + report.OrNothing(s.apiNames()) + ")"
	case is == "webhook" && s.healed():
		return "settling", "what refused the deletion is not there any more" + again
	case is == "webhook":
		return is, "the deletion of what is left is refused by " + report.OrNothing(s.hookNames())
	}
	if own := s.own(); len(own) > 0 && s.left.whole() && s.left.count == 0 {
		return "finalizer", "it is empty, and its own finalizers hold it (" + steps.Clip(strings.Join(own, ", "), 300) + ")"
	}
	switch {
	case s.left.whole() && s.left.count == 0:
		return "settling", "nothing is left in it" + again
	case len(s.left.holders) > 0:
		return "finalizer", s.left.sum()
	case is == "finalizer" && s.left.whole():
		return "settling", "no finalizer is left in it" + again
	case is == "none" && s.left.whole():
		return "content", s.left.sum()
	}
	return is, s.left.sum()
}

// one names the one thing that holds the namespace, where there is exactly one:
// a gate takes one object, and a person has to choose among several.
func (s *namespaceRun) one(blocker string) {
	var all []sweptName
	var why string
	switch blocker {
	case "none", "settling", "content":
		s.itself()
		return
	case "discovery":
		for _, a := range s.apis {
			all = append(all, sweptName{cluster.APIServices().String(), a.name})
		}
		why = s.apisWhy
	case "webhook":
		for _, h := range s.hooks {
			if h.policy || len(h.where) == 0 {
				s.facts.Unknown(h.String()+" holds it, and that is no webhook configuration that could be read", "held_resource", "held_name")
				return
			}
			for _, at := range h.where {
				kind, name, _ := strings.Cut(at, "/")
				if r := (sweptName{kind + "s.admissionregistration.k8s.io", name}); !slices.Contains(all, r) {
					all = append(all, r)
				}
			}
		}
	case "finalizer":
		if s.left.whole() && s.left.count == 0 {
			s.itself()
			return
		}
		all = s.left.held
		if !s.left.covered {
			s.facts.Unknown("not everything that is left could be listed", "held_resource", "held_name")
			return
		}
	}
	if len(all) != 1 {
		if len(all) > 1 {
			why = fmt.Sprintf("%d things hold it: name the one that is meant", len(all))
		}
		s.facts.Unknown(cmp.Or(why, "nothing that holds it was found"), "held_resource", "held_name")
		return
	}
	if blocker == "webhook" && len(s.hooks) == 1 {
		s.facts.Set("held_webhook", steps.StringOf(s.hooks[0].name))
	} else {
		s.facts.Unknown("no single webhook refuses", "held_webhook")
	}
	s.facts.Set("held_resource", steps.StringOf(all[0].resource))
	s.facts.Set("held_name", steps.StringOf(all[0].name))
}

// itself names the namespace where nothing in it or beside it holds it: what reads the
// held object still has one to read.
func (s *namespaceRun) itself() {
	s.facts.Set("held_resource", steps.StringOf(cluster.Namespaces().String()))
	s.facts.Set("held_name", steps.StringOf(s.name))
	s.facts.Unknown("no single webhook refuses", "held_webhook")
}
