// Package webhook says of one entry of a webhook configuration what requests it
// decides over, what happens to them while it cannot be asked, and whether anything
// answers behind its service. An entry is known by the name that the API server puts
// into its errors (`failed calling webhook "NAME"`); the configuration around it is
// found by reading all of them.
package webhook

import (
	"context"
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
	"handrail/steps/kube/report"
)

// Resources are the kinds of webhook configurations.
func Resources() []cluster.Resource {
	return []cluster.Resource{
		{Group: admission.Group, Version: "v1", Plural: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
		{Group: admission.Group, Version: "v1", Plural: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"},
	}
}

// Unserved says why nothing answers behind a service, "" where something may.
func Unserved(ctx context.Context, c *cluster.Client, namespace, name string) (string, error) {
	if _, err := c.Get(ctx, cluster.Services(), namespace, name); errors.Is(err, cluster.ErrAbsent) {
		return fmt.Sprintf("its service %s/%s does not exist", namespace, name), nil
	} else if err != nil {
		return "", err
	}
	type endpoints struct {
		Endpoints []struct {
			Conditions struct{ Ready *bool }
		}
	}
	ready := 0
	r := cluster.Resource{Group: "discovery.k8s.io", Version: "v1", Plural: "endpointslices", Kind: "EndpointSlice", Namespaced: true}
	err := cluster.Each(ctx, c, r.Path(namespace, ""), url.Values{"labelSelector": {"kubernetes.io/service-name=" + name}}, func(slice endpoints) {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready { // unknown counts as ready: EndpointConditions of discovery/v1
				ready++
			}
		}
	})
	if err != nil || ready > 0 {
		return "", err
	}
	return fmt.Sprintf("its service %s/%s has no endpoint that is ready", namespace, name), nil
}

// Kinds are the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{{
		Name: "kube/webhook", Class: steps.Probe, Facts: facts(),
		Params:  []steps.Field{{Name: "webhook", Type: steps.String, Required: true, Pattern: `[a-z0-9]([a-z0-9.-]*[a-z0-9])?`, Doc: "name of the entry, as the error quotes it"}},
		Doc:     "Says what one admission webhook decides over, what happens to a request while it cannot be asked, and whether anything answers behind its service.",
		Touches: []string{"lists webhook configurations", "gets the Service of the webhook", "lists its EndpointSlices"},
		Reads:   func(e steps.Env) steps.Prober { return probe{e} },
	}}
}

func facts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether a configuration has an entry of that name"},
		{Name: "resource", Type: steps.String, Doc: "plural and group of its configuration"},
		{Name: "name", Type: steps.String, Doc: "name of its configuration"},
		{Name: "uid", Type: steps.Ident, Doc: "UID of its configuration"},
		{Name: "entries", Type: steps.Int, Doc: "entries of that configuration"},
		{Name: "also_down", Type: steps.Table, Doc: "other entries of it that fail closed, to why nothing answers for them"},
		{Name: "changed", Type: steps.Time, Doc: "when the configuration was created, or last written by what manages its fields"},
		{Name: "fails", Type: steps.Enum, Values: []string{"closed", "open"}, Doc: "what happens to a request while the webhook cannot be asked: closed refuses it, open lets it pass"},
		{Name: "backend", Type: steps.Enum, Values: []string{"down", "serving"}, Doc: "whether its service has an endpoint that is ready; unknown for a URL outside the cluster"},
		{Name: "why", Type: steps.String, Doc: "why nothing answers, empty where something may"},
		{Name: "service", Type: steps.String, Doc: "its service, as NAMESPACE/NAME; empty where it is a URL"},
		{Name: "decides", Type: steps.Strings, Doc: "requests that it decides over, as `OPERATIONS RESOURCES of GROUPS`"},
		{Name: "everywhere", Type: steps.Bool, Doc: "whether no selector and no condition narrows it"},
		{Name: "timeout", Type: steps.Duration, Doc: "how long each request waits for it"},
	}
}

// configuration is what is read of a webhook configuration.
type configuration struct {
	Metadata metav1.ObjectMeta   `json:"metadata"`
	Webhooks []admission.Webhook `json:"webhooks"`
}

// entry is one webhook in its configuration.
type entry struct {
	of   cluster.Resource
	in   configuration
	hook admission.Webhook
}

type probe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	var s report.Report
	name := in.Text("webhook")
	s.Obs.Command = c.Kubectl("", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "yaml")
	var found []entry
	for _, r := range Resources() {
		err := cluster.Each(inner, c, r.Path("", ""), nil, func(o configuration) {
			for _, hook := range o.Webhooks {
				if hook.Name == name {
					found = append(found, entry{r, o, hook})
				}
			}
		})
		if err != nil {
			return steps.Observation{}, report.Cause(turned(), err)
		}
	}
	f := steps.NewFacts(facts())
	f.Set("exists", steps.BoolOf(len(found) > 0))
	switch len(found) {
	case 0:
		s.Obs.Summary = fmt.Sprintf("No webhook configuration has an entry %s.", name)
	case 1:
		if err := found[0].tell(inner, c, f, &s.Obs); err != nil {
			return steps.Observation{}, report.Cause(turned(), err)
		}
	default:
		var where []string
		for _, e := range found {
			where = append(where, e.of.Label("", e.in.Metadata.Name))
		}
		s.Obs.Summary = fmt.Sprintf("%d configurations have an entry %s: %s.", len(found), name, strings.Join(where, ", "))
		s.Obs.Say(steps.Warning, "The name is not unique, so nothing can be said of the one that is meant. Its error names the service: compare it with each of them.")
	}
	s.Obs.Facts = f.Rest("the name does not say which entry is meant")
	return s.Obs, nil
}

func (e entry) tell(ctx context.Context, c *cluster.Client, f steps.Facts, obs *steps.Observation) error {
	label := e.of.Label("", e.in.Metadata.Name)
	f.Set("resource", steps.StringOf(e.of.Plural+"."+e.of.Group))
	f.Set("name", steps.StringOf(e.in.Metadata.Name))
	f.Set("uid", steps.IdentOf(string(e.in.Metadata.UID)))
	f.Set("entries", steps.IntOf(int64(len(e.in.Webhooks))))
	f.Set("changed", steps.TimeOf(e.changed()))
	fails := "closed"
	if e.hook.FailurePolicy == "Ignore" {
		fails = "open"
	}
	f.Set("fails", steps.EnumOf(fails))
	f.Set("decides", steps.StringsOf(e.decides()))
	f.Set("everywhere", steps.BoolOf(blank(e.hook.NamespaceSelector) && blank(e.hook.ObjectSelector) && len(e.hook.MatchConditions) == 0))
	wait := e.hook.TimeoutSeconds
	if wait == 0 {
		wait = 10 // the default of admissionregistration.k8s.io/v1
	}
	f.Set("timeout", steps.DurationOf(time.Duration(wait)*time.Second))
	beside, err := e.alsoDown(ctx, c)
	if err != nil {
		return err
	}
	f.Set("also_down", steps.TableOf(beside))
	to := e.hook.ClientConfig.Service
	if to == nil {
		f.Set("service", steps.StringOf(""))
		f.Unknown("it is a URL, and handrail asks nothing outside the cluster", "backend", "why")
		obs.Summary = fmt.Sprintf("%s of %s fails %s; it asks %s.", e.hook.Name, label, fails, steps.Clip(e.hook.ClientConfig.URL, 300))
		return nil
	}
	f.Set("service", steps.StringOf(to.Namespace+"/"+to.Name))
	why, err := Unserved(ctx, c, to.Namespace, to.Name)
	if err != nil {
		return err
	}
	f.Set("why", steps.StringOf(why))
	if why == "" {
		f.Set("backend", steps.EnumOf("serving"))
		obs.Summary = fmt.Sprintf("%s of %s fails %s; an endpoint of its service %s/%s is ready.", e.hook.Name, label, fails, to.Namespace, to.Name)
		return nil
	}
	f.Set("backend", steps.EnumOf("down"))
	obs.Summary = fmt.Sprintf("%s of %s fails %s, and %s.", e.hook.Name, label, fails, why)
	return nil
}

// alsoDown is the other entries of the configuration that refuse requests because nothing
// answers for them, by name. A configuration installs them together, and they often share
// a service.
func (e entry) alsoDown(ctx context.Context, c *cluster.Client) (map[string]string, error) {
	out, asked := map[string]string{}, map[string]string{}
	for _, hook := range e.in.Webhooks {
		to := hook.ClientConfig.Service
		if hook.Name == e.hook.Name || hook.FailurePolicy == "Ignore" || to == nil {
			continue
		}
		key := to.Namespace + "/" + to.Name
		why, known := asked[key]
		if !known {
			var err error
			if why, err = Unserved(ctx, c, to.Namespace, to.Name); err != nil {
				return nil, err
			}
			asked[key] = why
		}
		if why != "" {
			out[hook.Name] = why
		}
	}
	return out, nil
}

func blank(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// changed is the newest time that the metadata names.
func (e entry) changed() time.Time {
	at := e.in.Metadata.CreationTimestamp.Time
	for _, m := range e.in.Metadata.ManagedFields {
		if m.Time != nil && m.Time.After(at) {
			at = m.Time.Time
		}
	}
	return at
}

func (e entry) decides() []string {
	var out []string
	for _, r := range e.hook.Rules {
		groups := slices.Clone(r.APIGroups)
		for i, g := range groups {
			if g == "" {
				groups[i] = "core"
			}
		}
		out = append(out, fmt.Sprintf("%s %s of %s", strings.Join(r.Operations, ","), strings.Join(r.Resources, ","), strings.Join(groups, ",")))
	}
	return out
}
