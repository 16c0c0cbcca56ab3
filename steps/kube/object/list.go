package object

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

const (
	// mostLost bounds the namespaces that are named as unread.
	mostLost = 20
)

func listFacts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many there are"},
		{Name: "names", Type: steps.Strings, Doc: "their names, namespace/name across namespaces; unknown above 500"},
		{Name: "terminating", Type: steps.Strings, Doc: "those whose deletion was asked for; metadata only"},
		{Name: "finalizers", Type: steps.Table, Doc: "finalizer to how many hold it; metadata only"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 over UID, labels, annotations (without the copies that kubectl keeps), finalizers and generation (or resourceVersion, where there is none) of each, in order of name; metadata only"},
	}
}

type listProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p listProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r, err := c.Find(ctx, in.Text("resource"))
	if err != nil {
		return steps.Observation{}, err
	}
	l := &listRun{Client: c, resource: r, selector: in.Text("selector"), metadata: in.Text("read") == "metadata",
		all: r.Namespaced && in.Bool("all_namespaces"), out: out, sum: newListSum()}
	if r.Namespaced && !l.all {
		if l.namespace = in.Text("namespace"); l.namespace == "" {
			l.namespace = c.Namespace
		}
	}
	if err := l.read(ctx); err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: l.command(), Gaps: l.gaps()}
	f := steps.NewFacts(listFacts())
	if len(l.lost) > 0 {
		// A list that misses a part is not the list.
		obs.Summary = fmt.Sprintf("%s %s: %d were read, but %d namespaces could not be read.", r, l.where(), l.count, len(l.lost))
		obs.Findings, obs.Facts = c.Warnings(), f.Rest(l.lost[0])
		return obs, nil
	}
	l.describe(f)
	obs.Summary = fmt.Sprintf("%s %s: %d.", r, l.where(), l.count)
	if n := l.terminating; n > 0 {
		obs.Summary = fmt.Sprintf("%s %s: %d, %d of them being deleted.", r, l.where(), l.count, n)
		obs.Say(steps.Warning, "%d of %d are being deleted: %s", n, l.count, steps.Clip(strings.Join(l.leaving, ", "), 300))
	}
	obs.Findings = append(obs.Findings, c.Warnings()...)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// describe fills in the facts of a list that is whole.
func (l *listRun) describe(f steps.Facts) {
	many := fmt.Sprintf("more than %d; the artifact has them all", report.MostNames)
	f.Set("count", steps.IntOf(int64(l.count)))
	switch {
	case l.nameless:
		f.Unknown("the server's table has no column of names; read metadata", "names")
	case l.count > report.MostNames:
		f.Unknown(many, "names")
	default:
		f.Set("names", steps.StringsOf(l.names))
	}
	if !l.metadata {
		f.Unknown("a table does not tell; read metadata", "terminating", "finalizers", "digest")
		return
	}
	if l.terminating > report.MostNames {
		f.Unknown(many, "terminating")
	} else {
		f.Set("terminating", steps.StringsOf(l.leaving))
	}
	if l.finalizers == nil {
		l.finalizers = map[string]int{}
	}
	if len(l.finalizers) > report.MostNames {
		f.Unknown(many, "finalizers")
	} else {
		counted := map[string]string{}
		for name, n := range l.finalizers {
			counted[name] = fmt.Sprint(n)
		}
		f.Set("finalizers", steps.TableOf(counted))
	}
	switch {
	case l.moments > 0:
		f.Unknown("the list is not of one moment", "digest")
	case l.sum.why != "":
		f.Unknown(l.sum.why, "digest")
	default:
		f.Set("digest", steps.IdentOf(l.sum.hex()))
	}
}

func (l *listRun) gaps() []string {
	out := slices.Clone(l.lost[:min(len(l.lost), mostLost)])
	if more := len(l.lost) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more namespaces could not be read", more))
	}
	if l.moments > 0 {
		out = append(out, "the list outlived what the server keeps of the past and was continued at a later moment: what changed meanwhile may be missing or listed as it no longer is")
	}
	if l.kept.err != nil {
		out = append(out, "the artifact list was not kept whole: "+l.kept.err.Error())
	}
	return out
}

func (l *listRun) where() string {
	switch {
	case !l.resource.Namespaced:
		return "in the cluster"
	case l.all:
		return "in all namespaces"
	}
	return "in namespace " + l.namespace
}

func (l *listRun) command() string {
	args := []string{"get", l.resource.String()}
	if l.all {
		args = append(args, "-A")
	}
	if l.selector != "" {
		args = append(args, "-l", l.selector)
	}
	if l.metadata {
		args = append(args, "-o", "json") // kubectl has no read of metadata alone
	} else {
		args = append(args, "-o", "wide")
	}
	return l.Kubectl(l.namespace, args...)
}

// errNamespaces says that a table of all namespaces needs their list.
var errNamespaces = errors.New("a table does not say the namespace of its rows, so the namespaces are listed first; read metadata instead, which needs no such list")
