package admit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/object"
	"handrail/steps/kube/report"
)

type traceProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p traceProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	if in.Text("name") == "" {
		return p.webhook(inner, turned, in, out)
	}
	c, t, err := cluster.Reach(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	request, exists, err := requestOf(inner, c, t, p.env, in, out)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r := &reading{c: c, request: request, lost: map[string]bool{}, called: in.Text("constraint")}
	if request.NoSpace != "" {
		r.unread = append(r.unread, "namespace "+t.Namespace+": "+request.NoSpace)
		r.lost[admission.Mutating], r.lost[admission.Validating] = true, true
	}
	r.read(inner)
	tr := tracing{reading: r, t: t, exists: exists, rows: admission.Trace(request, r.config), now: p.env.Now()}
	tr.ask(inner)
	if err := turned(); err != nil {
		return steps.Observation{}, fmt.Errorf("admission of %s: %w", t, err)
	}
	return tr.observe(request, out), nil
}

// webhook traces no object: it looks at the entries of one name alone.
func (p traceProbe) webhook(ctx context.Context, turned func() error, in steps.Params, out steps.Sink) (steps.Observation, error) {
	name := in.Text("webhook")
	if name == "" {
		return steps.Observation{}, errors.New("neither an object nor a webhook is named: what is to be traced?")
	}
	c, err := cluster.Connect(p.env, out)
	if err == nil {
		err = c.Discover(ctx)
	}
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r := &reading{c: c, lost: map[string]bool{}}
	r.hooks(ctx, admission.Mutating, "MutatingWebhookConfiguration", &r.config.MutatingHooks)
	r.hooks(ctx, admission.Validating, "ValidatingWebhookConfiguration", &r.config.ValidatingHooks)
	tr := tracing{reading: r, hook: name, rows: admission.Entries(r.config, name), now: p.env.Now()}
	tr.ask(ctx)
	if err := turned(); err != nil {
		return steps.Observation{}, fmt.Errorf("the webhook %s: %w", name, err)
	}
	return tr.observe(admission.Request{}, out), nil
}

// requestOf is the request that the parameters describe, of the object of a manifest or
// of the one that is there.
func requestOf(ctx context.Context, c *cluster.Client, t cluster.Target, env steps.Env, in steps.Params, out steps.Sink) (r admission.Request, exists bool, err error) {
	r = admission.Request{Object: admission.Object{Group: t.Group, Version: t.Version, Resource: t.Plural, Namespaced: t.Namespaced, Name: t.Name},
		Kind: t.Kind, Operation: strings.ToUpper(in.Text("operation")), Namespace: t.Namespace, Sealed: object.IsSecret(t.Resource)}
	if r.Operation == "" {
		r.Operation = "CREATE"
	}
	live, err := readObject(ctx, c, t)
	switch {
	case err == nil:
		exists = true
	case !errors.Is(err, cluster.ErrAbsent):
		return r, false, err
	}
	switch {
	case in.Text("file") != "":
		m, err := manifestOf(c, env, in, t, out)
		if err != nil {
			return r, exists, err
		}
		r.Content, r.Partial = m, "the server fills in defaults before admission"
	case exists:
		r.Content = live.Object
	default:
		r.NoLabels = report.NotThere
	}
	if r.Content != nil {
		r.Labels = object.Texts(metadata(r.Content)["labels"])
	}
	if r.Operation == "UPDATE" && exists {
		r.Old = live.Object
	}
	namespaceOf(ctx, c, &r)
	r.Served = c.Versions(t.Group, t.Plural)
	return r, exists, nil
}

// namespaceOf reads the labels of the namespace, and the whole of it for expressions.
func namespaceOf(ctx context.Context, c *cluster.Client, r *admission.Request) {
	if !r.Namespaced {
		return
	}
	ns, err := c.Get(ctx, cluster.Namespaces(), "", r.Namespace)
	if err != nil {
		r.NoSpace = steps.Clip(err.Error(), 300)
		return
	}
	r.Space, r.LiveNamespace = object.Texts(metadata(ns.Object)["labels"]), ns.Object
}

// tracing is what one trace came to.
type tracing struct {
	*reading
	t      cluster.Target
	hook   string // the one webhook, in place of an object
	exists bool
	rows   []admission.Row
	dead   []deadRow
	unsure []string // webhooks that fail closed, and of which it is not known whether anything answers
	now    time.Time
}

// deadRow is a webhook that the request meets, or may, and of which nothing answers.
type deadRow struct {
	admission.Row
	why string
}

// ask looks what is behind the webhooks that the request may meet.
func (tr *tracing) ask(ctx context.Context) {
	seen := map[string]*[2]string{}
	for _, row := range tr.rows {
		if row.Sort != admission.ByWebhook || row.Match == admission.No {
			continue
		}
		why, known := tr.alive(ctx, row, seen)
		if known && why != "" {
			tr.dead = append(tr.dead, deadRow{row, why})
		}
		switch {
		case row.Fails != "closed":
		case !known:
			tr.unsure = append(tr.unsure, row.Entry+" is asked at "+row.Service+", where handrail asks nothing")
		case why != "" && row.Match == admission.Unknown:
			tr.unsure = append(tr.unsure, "nothing answers for "+row.Entry+", and whether it sees the request is not known")
		}
	}
}

// lines are the rows of which a function says yes.
func (tr *tracing) lines(pick func(admission.Row) bool) []string {
	var out []string
	for _, row := range tr.rows {
		if pick(row) {
			out = append(out, steps.Clip(steps.Flat(row.String()), 500))
		}
	}
	return out
}

func (tr *tracing) observe(request admission.Request, out steps.Sink) steps.Observation {
	obs := steps.Observation{Command: tr.c.Kubectl("", "get", "mutatingwebhookconfigurations,validatingwebhookconfigurations,mutatingadmissionpolicies,mutatingadmissionpolicybindings,validatingadmissionpolicies,validatingadmissionpolicybindings", "-o", "yaml")}
	f := steps.NewFacts(traceFacts())
	if tr.hook == "" {
		f.Set("exists", steps.BoolOf(tr.exists))
	}
	meets := func(phase string) func(admission.Row) bool {
		return func(r admission.Row) bool { return r.Phase == phase && r.Match != admission.No }
	}
	lists := map[string][]string{
		"mutating":   tr.lines(meets(admission.Mutating)),
		"validating": tr.lines(meets(admission.Validating)),
		"refuses":    tr.lines(admission.Row.Denies),
		"unsure":     tr.lines(func(r admission.Row) bool { return r.Match == admission.Unknown }),
		"exceptions": tr.lines(func(r admission.Row) bool { return r.Exception != "" }),
	}
	blocked, expired := false, 0
	for _, d := range tr.dead {
		lists["dead"] = append(lists["dead"], fmt.Sprintf("%s of %s fails %s, and %s", d.Entry, d.Name, d.Fails, d.why))
		blocked = blocked || d.Fails == "closed" && d.Match == admission.Yes
	}
	for _, row := range tr.rows {
		if row.Exception != "" && tr.now.After(row.Until.AddDate(0, 0, 1)) {
			expired++
			obs.Say(steps.Warning, "The exception %s of %s ended on %s, and still takes the request out.", row.Exception, row.Name, row.Until.Format(time.DateOnly))
		}
	}
	needs := map[string][]string{
		"mutating": {admission.Mutating}, "validating": {admission.Validating, "params", ofConstraints}, "refuses": {admission.Mutating, admission.Validating, "params"},
		"unsure": {admission.Mutating, admission.Validating, "params", ofConstraints}, "exceptions": {admission.Validating, "params", ofConstraints}, "dead": {admission.Mutating, admission.Validating, "backends"},
	}
	for name, phases := range needs {
		if why, lost := tr.lostOf(phases...); lost {
			f.Unknown(why, name)
			continue
		}
		f.Set(name, steps.StringsOf(lists[name][:min(len(lists[name]), report.MostNames)]))
	}
	switch why, lost := tr.lostOf(needs["dead"]...); {
	case lost:
		f.Unknown(why, "blocked")
	case !blocked && len(tr.unsure) > 0:
		f.Unknown(tr.unsure[0], "blocked")
	default:
		f.Set("blocked", steps.BoolOf(blocked))
	}
	tr.admits(f, lists["refuses"], needs["refuses"])
	tr.constraintFacts(f)
	if why, lost := tr.lostOf(needs["exceptions"]...); lost {
		f.Unknown(why, "expired")
	} else {
		f.Set("expired", steps.IntOf(int64(expired)))
	}
	if why, lost := tr.lostOf(admission.Mutating, admission.Validating); lost {
		f.Unknown(why, "budget")
	} else {
		f.Set("budget", steps.DurationOf(admission.Budget(tr.rows)))
	}
	switch {
	case tr.hook != "":
	case request.NoSpace != "":
		f.Unknown(request.NoSpace, "level")
	default:
		f.Set("level", steps.StringOf(levelIn(request.Space)))
	}
	if len(tr.unread) == 0 {
		f.Set("complete", steps.BoolOf(true))
	} else {
		f.Unknown(tr.unread[0], "complete")
	}
	slices.Sort(tr.unread)
	obs.Gaps = append(obs.Gaps, tr.unread...)
	if gap := tr.keep(out); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	obs.Gaps = append(obs.Gaps, tr.keepCalled(out)...)
	for _, d := range tr.dead {
		level := steps.Warning
		if d.Fails == "closed" && d.Match == admission.Yes {
			level = steps.Critical
		}
		obs.Findings = append(obs.Findings, steps.Finding{Level: level, Against: []string{}, Say: fmt.Sprintf("%s of %s fails %s, and %s. %s", d.Entry, d.Name, d.Fails, d.why, unjudged(d.Fails))})
	}
	for _, row := range tr.rows {
		if row.Denies() {
			obs.Say(steps.Warning, "%s (%s) refuses it: %s", row.Name, row.Entry, steps.Clip(row.Says, 400))
		}
	}
	obs.Findings = append(obs.Findings, tr.c.Warnings()...)
	obs.Summary = tr.summary(request, lists)
	obs.Facts = f.Rest("not read")
	return obs
}

// admits says whether the policies let the request pass, as far as each is known.
func (tr *tracing) admits(f steps.Facts, refuses, needs []string) {
	if tr.hook != "" {
		f.Unknown("no object is named", "admits")
		return
	}
	if why, lost := tr.lostOf(needs...); lost {
		f.Unknown(why, "admits")
		return
	}
	for _, row := range tr.rows {
		sees := row.Sort == admission.ByPolicy && row.Phase == admission.Validating && slices.Contains(row.Acts, "Deny") && row.Match != admission.No
		if sees && len(refuses) == 0 && (row.Match == admission.Unknown || row.Admits == admission.Unknown) {
			f.Unknown(row.Name+": "+steps.Clip(steps.Flat(row.String()), 300), "admits")
			return
		}
	}
	f.Set("admits", steps.BoolOf(len(refuses) == 0))
}

func (tr *tracing) lostOf(phases ...string) (string, bool) {
	for _, p := range phases {
		if tr.lost[p] {
			return tr.unread[0], true
		}
	}
	return "", false
}

func levelIn(space map[string]string) string {
	level := space["pod-security.kubernetes.io/enforce"]
	if v := space["pod-security.kubernetes.io/enforce-version"]; level != "" && v != "" {
		return level + ":" + v
	} else if level != "" {
		return level + ":latest"
	}
	return ""
}

// unjudged says what becomes of a request while nothing answers behind a webhook.
func unjudged(fails string) string {
	if fails == "open" {
		return "What it should judge passes unchecked."
	}
	return "What it refuses it never judged."
}

// entries says how many entries are called by one name, and behind how many nothing answers.
func entries(name string, all, dead int) string {
	switch {
	case all == 0:
		return "No entry is called " + name + "."
	case all == 1 && dead == 1:
		return "One entry is called " + name + ", and nothing answers behind it."
	case all == 1:
		return "One entry is called " + name + ", and an answer may come from behind it."
	}
	return fmt.Sprintf("%d entries are called %s, and nothing answers behind %d of them.", all, name, dead)
}

func (tr *tracing) summary(request admission.Request, lists map[string][]string) string {
	if tr.hook != "" {
		return entries(tr.hook, len(tr.rows), len(tr.dead))
	}
	text := fmt.Sprintf("The %s of %s meets %d that may change it and %d that may refuse it", strings.ToLower(request.Operation), tr.t, len(lists["mutating"]), len(lists["validating"]))
	if n := len(lists["refuses"]); n > 0 {
		text += fmt.Sprintf("; %d refuse it", n)
	}
	if n := len(tr.dead); n > 0 {
		text += fmt.Sprintf("; of %d nothing answers", n)
	}
	if n := len(tr.unread); n > 0 {
		return text + fmt.Sprintf("; %d sources could not be read, so that there may be more.", n)
	}
	return text + "."
}

// keep stores every row, in the order of the server.
func (tr *tracing) keep(out steps.Sink) string {
	return steps.Keep(out, "admission", steps.MediaText, func(to io.Writer) error {
		b := bufio.NewWriter(to)
		about := "what the webhook " + tr.hook + " sees"
		if tr.hook == "" {
			about = tr.t.String()
		}
		fmt.Fprintf(b, "What a request about %s meets, in order. Who sends it is not known here.\n", about)
		for i, row := range tr.rows {
			fmt.Fprintf(b, "%3d. %s\n", i+1, steps.Flat(row.String()))
		}
		for _, d := range tr.dead {
			fmt.Fprintf(b, "nothing answers: %s of %s, since %s\n", steps.Flat(d.Entry), d.Name, d.why)
		}
		for _, u := range tr.unread {
			fmt.Fprintln(b, "not read: "+steps.Flat(u))
		}
		return b.Flush()
	})
}
