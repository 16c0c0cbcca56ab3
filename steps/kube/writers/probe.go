package writers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/report"
)

func facts() []steps.Field {
	return []steps.Field{
		{Name: "mutating", Type: steps.Strings, Doc: "webhooks and policies that may change it on its way in, as kind/name: entry and when"},
		{Name: "validating", Type: steps.Strings, Doc: "webhooks and policies that may refuse a change of it, in the same form"},
		{Name: "controllers", Type: steps.Strings, Doc: "parents, Argo CD, Flux and autoscalers that write it, with whether each is paused"},
		{Name: "accounts", Type: steps.Strings, Doc: "accounts and groups that RBAC lets write it, with what they may and by which binding"},
		{Name: "workloads", Type: steps.Strings, Doc: "CronJobs, Jobs, workloads and Pods that run as one of the accounts"},
		{Name: "suspects", Type: steps.Strings, Doc: "the likely writers, the likeliest first; unknown where anything is unread: the findings name those that were found"},
		{Name: "unread", Type: steps.Strings, Doc: "what could not be read, and why"},
		{Name: "complete", Type: steps.Bool, Doc: "true where everything was read; else unknown"},
	}
}

type probe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	w := &writers{c: c, t: t, gate: make(chan struct{}, cluster.ListsAtOnce)}
	w.o, err = blame.Read(ctx, c, t)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		w.absent = true
		w.o = cluster.Object{}
	case err != nil:
		return steps.Observation{}, err
	}
	within, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	w.read(within)
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("writers of %s: %w", t, err)
	}
	return w.observe(out), nil
}

// Suspects names who may have written an object, the likeliest first, and what
// could not be read for it.
func Suspects(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object) (names, unread []string) {
	w := &writers{c: c, t: t, o: o, gate: make(chan struct{}, cluster.ListsAtOnce)}
	w.read(ctx)
	for _, s := range w.rank() {
		names = append(names, s.String())
	}
	return names, w.unread
}

// read reads everything; what it cannot read it keeps as such.
func (w *writers) read(ctx context.Context) {
	about := w.about(ctx)
	w.each(
		func() { w.webhooks(ctx, about, "MutatingWebhookConfiguration", "mutating", &w.mutating) },
		func() { w.webhooks(ctx, about, "ValidatingWebhookConfiguration", "validating", &w.validating) },
		func() { w.policies(ctx, about, "Mutating", "mutating", &w.mutating) },
		func() { w.policies(ctx, about, "Validating", "validating", &w.validating) },
		func() { w.owners(ctx) },
		func() { w.scalers(ctx) },
		func() { w.accounts(ctx) },
	)
	w.runners(ctx)
	w.workloads = topmost(w.workloads)
	slices.SortFunc(w.workloads, func(a, b workload) int { return strings.Compare(a.name, b.name) })
	for _, list := range []*[]admissionRule{&w.mutating, &w.validating} {
		slices.SortFunc(*list, func(a, b admissionRule) int { return strings.Compare(a.String(), b.String()) })
	}
	slices.Sort(w.unread)
}

// about is the object as admission sees it.
func (w *writers) about(ctx context.Context) admission.Object {
	o := admission.Object{Group: w.t.Group, Version: w.t.Version, Resource: w.t.Plural, Namespaced: w.t.Namespaced, Name: w.t.Name}
	if w.absent {
		o.NoLabels = report.NotThere
	} else {
		o.Labels = w.o.GetLabels()
	}
	if !w.t.Namespaced {
		return o
	}
	ns, err := w.c.Get(ctx, cluster.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}, "", w.t.Namespace)
	if err != nil {
		o.NoSpace = err.Error()
		w.fail("the labels of namespace "+w.t.Namespace, err, "mutating", "validating")
		return o
	}
	o.Space = ns.GetLabels()
	return o
}

// observe tells what was found.
func (w *writers) observe(out steps.Sink) steps.Observation {
	obs := steps.Observation{Findings: w.findings, Command: w.c.Kubectl("", "get",
		"mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterrolebindings,rolebindings,cronjobs,jobs,deployments,daemonsets,statefulsets", "-A", "-o", "yaml")}
	f := steps.NewFacts(facts())
	var controllers []string
	for _, o := range w.controllers {
		controllers = append(controllers, o.Name+" (paused: "+o.Paused+")")
	}
	suspects := w.rank()
	var ranked []string
	for _, s := range suspects {
		ranked = append(ranked, s.String())
	}
	lists := map[string][]string{"mutating": texts(w.mutating), "validating": texts(w.validating), "controllers": controllers,
		"accounts": w.accountTexts(), "workloads": texts(w.workloads), "suspects": ranked}
	for _, field := range facts() {
		list, is := lists[field.Name]
		switch {
		case !is:
		case field.Name == "workloads" && len(w.everybody) > 0:
			f.Unknown("all of the cluster may: "+strings.Join(w.everybody, "; "), field.Name)
		case len(list) > report.MostNames:
			f.Unknown(fmt.Sprintf("%d; the artifact has them all", len(list)), field.Name)
		case w.lost[field.Name], field.Name == "suspects" && len(w.unread) > 0:
			f.Unknown(w.unread[0], field.Name)
		default:
			f.Set(field.Name, steps.StringsOf(list))
		}
	}
	f.Set("unread", steps.StringsOf(clipped(w.unread)))
	if len(w.unread) == 0 {
		f.Set("complete", steps.BoolOf(true))
	} else {
		f.Unknown(w.unread[0], "complete")
	}
	obs.Gaps = append(obs.Gaps, w.unread...)
	if gap := w.keep(out, lists); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	obs.Summary = w.summary(suspects)
	obs.Findings = append(obs.Findings, w.remarks(suspects)...)
	obs.Findings = append(obs.Findings, w.c.Warnings()...)
	obs.Facts = f.Rest("not read")
	return obs
}

func texts[T fmt.Stringer](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.String())
	}
	return out
}

func clipped(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), report.MostNames)] {
		out = append(out, steps.Clip(s, 400))
	}
	return out
}

// keep stores the whole of it as text.
func (w *writers) keep(out steps.Sink, lists map[string][]string) string {
	return steps.Keep(out, "writers", steps.MediaText, func(to io.Writer) error {
		b := bufio.NewWriter(to)
		fmt.Fprintf(b, "What may write %s. Accounts are by RBAC only: other authorizers and members of system:masters are not in it.\n", w.t)
		for _, name := range []string{"suspects", "mutating", "validating", "controllers", "accounts", "workloads"} {
			fmt.Fprintf(b, "\n%s: %d\n", strings.ToUpper(name), len(lists[name]))
			for _, line := range lists[name] {
				fmt.Fprintln(b, "  "+steps.Flat(line))
			}
		}
		for name, list := range map[string][]string{"BINDINGS OF ROLES THAT ARE NOT THERE": w.dangling, "MAY GIVE THEMSELVES THE RIGHT": w.indirect, "NOT READ": w.unread} {
			if len(list) > 0 {
				fmt.Fprintf(b, "\n%s: %d\n  %s\n", name, len(list), steps.Flat(strings.Join(list, "\n  ")))
			}
		}
		return b.Flush()
	})
}

func (w *writers) summary(suspects []suspect) string {
	text := fmt.Sprintf("%d suspects may write %s", len(suspects), w.t)
	if len(suspects) == 1 {
		text = fmt.Sprintf("1 suspect may write %s", w.t)
	}
	if len(suspects) > 0 {
		text += ", first " + suspects[0].name
	}
	if w.absent {
		text += ", which is not there"
	}
	if len(w.unread) > 0 {
		return text + fmt.Sprintf("; %d sources could not be read, so that there may be more.", len(w.unread))
	}
	return text + "."
}

// remarks are what a person must not miss.
func (w *writers) remarks(suspects []suspect) (out []steps.Finding) {
	say := func(level steps.Level, format string, args ...any) {
		out = append(out, steps.Findingf(level, format, args...))
	}
	for _, s := range suspects[:min(len(suspects), 10)] {
		say(steps.Warning, "%s", steps.Clip(s.String(), 500))
	}
	for _, e := range w.everybody {
		say(steps.Critical, "All accounts of the cluster may write %s: %s.", w.t, e)
	}
	for _, d := range w.dangling[:min(len(w.dangling), 10)] {
		say(steps.Info, "%s: the creator of that role decides what it grants.", steps.Clip(d, 400))
	}
	switch n := len(w.indirect); n {
	case 0:
	case 1:
		say(steps.Info, "1 account may give itself the right to write it, or act as an account that has it: %s.", steps.Clip(w.indirect[0], 300))
	default:
		say(steps.Info, "%d accounts may give themselves the right to write it, or act as an account that has it; the artifact names them. First: %s.", n, steps.Clip(w.indirect[0], 300))
	}
	say(steps.Info, "The accounts are by RBAC only. Writers outside of the cluster (a node's timers and cron, CI, people) are in no object of it: see kube/node-report and the audit log.")
	return out
}
