package contexts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"handrail/steps"
	"handrail/steps/cluster"
)

// mostNamedContexts bounds how many clusters one step asks.
const mostNamedContexts = 32

// The relations of a context to the incident's own.
const (
	contextSame    = "same"
	contextOther   = "other"
	contextUnknown = "unknown"
)

// Kind is the row of kube/contexts.
func Kind() steps.Kind {
	return steps.Kind{
		Name: "kube/contexts", Class: steps.Probe, Facts: facts(),
		Params: []steps.Field{
			{Name: "names", Type: steps.Strings, Required: true, Doc: "contexts of your kubeconfig to lay beside the incident's own, 32 at most; empty names are passed by"},
		},
		Doc:     "Says which cluster each of several contexts leads to, and which of them are two names of one cluster: by the UID of its namespace kube-system, never by address or name. A copy that was restored from a snapshot has the UID of its cluster, so that same is not yet one store.",
		Touches: []string{"gets the namespace kube-system of each cluster"},
		Reads:   func(e steps.Env) steps.Prober { return probe{e} },
	}
}

func facts() []steps.Field {
	return []steps.Field{
		{Name: "own", Type: steps.String, Doc: "name of the incident's own context"},
		{Name: "server", Type: steps.Table, Doc: "each context to the address of its server; one that the kubeconfig lacks is not in it"},
		{Name: "uid", Type: steps.Table, Doc: "each context to the UID of its cluster; one whose UID could not be read is not in it"},
		{Name: "same", Type: steps.Table, Doc: "each context to same, other or unknown: whether it leads to the cluster of the incident's own"},
		{Name: "unread", Type: steps.Strings, Doc: "contexts whose cluster could not be told, each with the reason"},
	}
}

type probe struct{ env steps.Env }

// entry is one context, and what it leads to.
type entry struct {
	steps.Cluster
	refused *steps.PinError // it led elsewhere when the incident first used it
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	own, err := cluster.Load(p.env)
	if err != nil {
		return steps.Observation{}, err
	}
	names, err := besides(own.Context, in["names"].Strings())
	if err != nil {
		return steps.Observation{}, err
	}
	list := make([]entry, len(names))
	var reads []func(context.Context)
	for i, name := range names {
		env := p.env
		if i > 0 {
			env = env.At(name)
		}
		list[i].Cluster = steps.Cluster{Context: name, Unread: "it was not read"}
		reads = append(reads, func(ctx context.Context) { list[i].look(ctx, env, out) })
	}
	var fell error
	cluster.Together(ctx, reads, func(err error) { fell = err })
	if err := errors.Join(ctx.Err(), fell); err != nil {
		return steps.Observation{}, fmt.Errorf("contexts: %w", err)
	}
	return tell(list), nil
}

// besides are the names to ask: the own one first, each once.
func besides(own string, given []string) ([]string, error) {
	names := []string{own}
	for _, n := range given {
		switch {
		case n == "" || slices.Contains(names, n):
		case strings.HasPrefix(n, "-") || strings.ContainsFunc(n, unicode.IsControl):
			return nil, fmt.Errorf("%q can be no context", steps.Clip(n, 100))
		default:
			names = append(names, n)
		}
	}
	if len(names) > mostNamedContexts+1 {
		return nil, fmt.Errorf("%d contexts are named, %d is the most for one step", len(names)-1, mostNamedContexts)
	}
	return names, nil
}

// look asks one cluster what it is.
func (b *entry) look(ctx context.Context, env steps.Env, out steps.Sink) {
	c, err := cluster.Connect(env, out)
	if err != nil {
		b.Unread = err.Error()
		return
	}
	b.Server = c.Server
	raw, err := c.Read(ctx, cluster.KubeSystem, cluster.AsMetadata, nil)
	if errors.As(err, &b.refused) {
		// What the name leads to now is not what the incident means by it.
		b.Server = ""
	}
	if err != nil {
		b.Unread = err.Error()
		return
	}
	b.UID, b.Unread = cluster.ClusterUID(raw)
}

// alike says what one UID behind several names proves: a copy that was restored from a snapshot has the UID of its cluster,
// and a history of its own.
func alike(names []string, server map[string]string) string {
	for _, n := range names {
		if server[n] != server[names[0]] {
			return "Their addresses differ: it is one cluster behind both, or one of them is a cache or a copy that was restored from its data, which has the same UID. Read in both an object that was changed lately."
		}
	}
	return "What is compared between them is compared with itself."
}

func tell(list []entry) steps.Observation {
	own := list[0]
	server, uid, same := map[string]string{}, map[string]string{}, map[string]string{}
	unread := []string{}
	obs := steps.Observation{Command: "kubectl --context " + steps.Quote(list[len(list)-1].Context) + " get namespace kube-system -o 'jsonpath={.metadata.uid}'"}
	clusters := map[string][]string{}
	count := map[string]int{}
	for i, b := range list {
		if b.Server != "" {
			server[b.Context] = b.Server
		}
		is := contextUnknown
		switch {
		case i == 0:
			is = contextSame
		case b.UID != "" && own.UID != "":
			is = contextOther
			if b.UID == own.UID {
				is = contextSame
			}
		}
		same[b.Context] = is
		if i > 0 {
			count[is]++
		}
		if b.UID == "" {
			unread = append(unread, b.Context+": "+b.Unread)
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("which cluster context %s leads to could not be told: %s", b.Context, b.Unread))
		} else {
			uid[b.Context] = b.UID
			clusters[b.UID] = append(clusters[b.UID], b.Context)
		}
		if b.refused != nil {
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical, Say: "One name, two clusters: " + b.refused.Error() + "."})
		}
	}
	for _, b := range list {
		if names := clusters[b.UID]; len(names) > 1 && names[0] == b.Context {
			obs.Say(steps.Warning, "One cluster, %d names: %s lead to the cluster with UID %s. %s", len(names), strings.Join(names, ", "), b.UID, alike(names, server))
		}
	}
	obs.Summary = fmt.Sprintf("Beside %s: %d contexts of other clusters, %d of the same cluster, %d that cannot be told.", own.Context, count[contextOther], count[contextSame], count[contextUnknown])
	obs.Facts = map[string]steps.Value{"own": steps.StringOf(own.Context), "server": steps.TableOf(server), "uid": steps.TableOf(uid), "same": steps.TableOf(same), "unread": steps.StringsOf(unread)}
	return obs
}
