package blame

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
	"handrail/steps/kube/fieldpath"
	"handrail/steps/kube/object"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
)

func facts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "verdict", Type: steps.Enum, Values: []string{verdictNamed, verdictShared, verdictUnowned, verdictUnknown},
			Doc: "named: one writer holds the field; shared: several do; unowned: no writer asked for it: a default, or put in by admission"},
		{Name: "writer", Type: steps.String, Doc: "manager that wrote it last: the name that the client gave itself, a lead and not a proof"},
		{Name: "operation", Type: steps.Enum, Values: []string{"apply", "update"}, Doc: "how: who applied a field restores it at its next pass"},
		{Name: "written", Type: steps.Time, Doc: "when the writer last wrote this object; there is one time for all of its fields"},
		{Name: "age", Type: steps.Duration, Ages: true, Doc: "now, by the clock of the server, minus written"},
		{Name: "others", Type: steps.Strings, Doc: "the other writers that hold it, newest first"},
		{Name: "present", Type: steps.Bool, Doc: "whether the field is there"},
		{Name: "rewritten", Type: steps.Bool, Doc: "whether it was written less than a minute ago by a client that does not call itself kubectl: derived state, so change its input"},
		{Name: "inputs", Type: steps.Strings, Doc: "ConfigMaps of its namespace that hold the value which was rewritten: what the field may be made from; unknown where it was not rewritten"},
		{Name: "owners", Type: steps.Strings, Doc: "who would undo a change: parents, Argo CD, Flux, with whether each is paused"},
		{Name: "fields", Type: steps.Table, Doc: "each field with an owner, to its writer; unknown above 500, the artifact has them all"},
	}
}

type probe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	path, err := fieldpath.Parse(in.Text("field"))
	if err != nil {
		return steps.Observation{}, err
	}
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	b := &blameRun{c: c, t: t, facts: steps.NewFacts(facts())}
	b.obs.Command = c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml", "--show-managed-fields")
	b.o, err = Read(ctx, c, t)
	if errors.Is(err, cluster.ErrAbsent) {
		b.facts.Set("exists", steps.BoolOf(false))
		b.obs.Summary = t.String() + " is not there. A deletion leaves no author in the cluster: only the audit log tells who deleted it."
		b.obs.Findings, b.obs.Facts = c.Warnings(), b.facts.Rest(report.NotThere)
		return b.obs, nil
	}
	if err != nil {
		return steps.Observation{}, err
	}
	if b.place, err = path.In(b.o.Object); err != nil {
		return steps.Observation{}, err
	}
	b.facts.Set("exists", steps.BoolOf(true))
	b.books(out)
	if err := b.judge(ctx); err != nil {
		return steps.Observation{}, err
	}
	b.inputs(ctx)
	if err := b.company(ctx); err != nil {
		return steps.Observation{}, err
	}
	b.obs.Findings = append(b.obs.Findings, c.Warnings()...)
	b.obs.Facts = b.facts.Rest("managedFields do not say")
	return b.obs, nil
}

// Read reads an object, a Secret without its values.
func Read(ctx context.Context, c *cluster.Client, t cluster.Target) (cluster.Object, error) {
	if !object.IsSecret(t.Resource) {
		return c.Get(ctx, t.Resource, t.Namespace, t.Name)
	}
	raw, err := c.Read(ctx, t.Path(t.Namespace, t.Name), cluster.AsMetadata, nil)
	if err != nil {
		return cluster.Object{}, err
	}
	o, err := cluster.ParseObject(raw)
	if err != nil {
		return cluster.Object{}, fmt.Errorf("%s: the answer of %s cannot be read: %w", t, c.Server, err)
	}
	for _, name := range []string{"data", "stringData"} {
		delete(o.Object, name) // of a server that does not know of metadata
	}
	o.Raw = nil
	if o.GetUID() == "" || o.GetName() != t.Name {
		return cluster.Object{}, fmt.Errorf("%s: %s answered something else than the object", t, c.Server)
	}
	return o, nil
}

// blameRun fills in an observation about one field.
type blameRun struct {
	c       *cluster.Client
	t       cluster.Target
	o       cluster.Object
	place   fieldpath.Place
	entries []Entry
	unread  int
	facts   steps.Facts
	obs     steps.Observation
}

// what names the field of the object.
func (b *blameRun) what() string {
	if len(b.place.Path) == 0 {
		return b.t.String()
	}
	return steps.Clip(b.place.Path.String(), 300) + " of " + b.t.String()
}

// books reads who wrote what, and keeps the whole of it.
func (b *blameRun) books(out steps.Sink) {
	b.entries, b.unread = Entries(b.o)
	if b.unread > 0 {
		b.obs.Gaps = append(b.obs.Gaps, fmt.Sprintf("%d lines of managedFields cannot be read", b.unread))
	}
	fields := map[string]string{}
	n := 0
	gap := steps.Keep(out, "blame", steps.MediaText, func(w io.Writer) error {
		to := bufio.NewWriter(w)
		fmt.Fprintf(to, "%s, as the server's books have it: the names are those that clients gave themselves.\nFIELD\tWRITER\tOPERATION\tSUBRESOURCE\tWRITTEN\n", b.t)
		for _, e := range b.entries {
			if e.Fields == nil {
				continue
			}
			for path := range e.Fields.Leaves().All() {
				name := fieldpath.Of(path).String()
				fmt.Fprintf(to, "%s\t%s\t%s\t%s\t%s\n", steps.Flat(name), steps.Flat(e.Manager), steps.Flat(e.operation), steps.Flat(e.Subresource), e.when())
				if n++; n <= report.MostNames {
					key := steps.Clip(name, report.LongestValue)
					if before := fields[key]; before != "" {
						fields[key] = before + "; " + e.String()
					} else {
						fields[key] = e.String()
					}
				}
			}
		}
		return to.Flush()
	})
	if gap != "" {
		b.obs.Gaps = append(b.obs.Gaps, gap)
	}
	switch {
	case n > report.MostNames:
		b.facts.Unknown(fmt.Sprintf("more than %d; the artifact has them all", report.MostNames), "fields")
	case b.unread > 0:
		b.facts.Unknown("part of managedFields cannot be read", "fields")
	default:
		b.facts.Set("fields", steps.TableOf(fields))
	}
}

// judge says who wrote the field.
func (b *blameRun) judge(ctx context.Context) error {
	held := slices.ContainsFunc(b.entries, func(e Entry) bool { return b.place.Held(e.Fields).Any() })
	blind := object.IsSecret(b.t.Resource) && len(b.place.Path) > 0 && b.place.Path[0].Name != "metadata"
	switch {
	case blind && !held:
		b.facts.Unknown("the values of a Secret are not read, and this one has no owner", "present")
		b.place.Present = true // as far as a verdict goes: it may be
	default:
		b.place.Present = b.place.Present || held
		b.facts.Set("present", steps.BoolOf(b.place.Present))
	}
	v := namedBy(b.place, b.entries, b.unread, wholeIn(ctx, b.c, b.t, b.place))
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("blame of %s: %w", b.t, err)
	}
	if v.verdict == verdictUnowned && blind {
		v = verdict{verdict: verdictUnknown, why: "it has no owner, and the values of a Secret are not read, so it may not be there at all"}
	}
	b.facts.Set("verdict", steps.EnumOf(v.verdict))
	if v.unread {
		b.facts.Unknown(v.why, "verdict")
		b.obs.Gaps = append(b.obs.Gaps, v.why)
	}
	var others []string
	for _, e := range v.others {
		others = append(others, e.String())
	}
	now, clockless := b.c.Now()
	switch v.verdict {
	case verdictUnknown:
		b.facts.Unknown(v.why, "writer", "operation", "written", "age", "others", "rewritten")
		b.obs.Summary = fmt.Sprintf("The cluster does not tell who wrote %s: %s.", b.what(), v.why)
		if len(others) > 0 || v.writer.Manager != "" {
			b.obs.Say(steps.Info, "Writers that its books name: %s.", steps.Clip(strings.Join(append([]string{v.writer.String()}, others...), ", "), 500))
		}
	case verdictUnowned:
		b.facts.Unknown("the field has no owner", "writer", "operation", "written", "age")
		b.facts.Set("others", steps.StringsOf(nil))
		b.rewritten(newest(b.entries), now, clockless)
		b.obs.Summary = fmt.Sprintf("No writer asked for %s: it is a default of the server, or a webhook or policy put it in, which leaves no owner.", b.what())
		b.obs.Say(steps.Warning, "Look with kube/writers which webhooks and policies may change %s.", b.t)
	default:
		b.writer(v, others, now, clockless)
	}
	if len(b.entries) > 0 {
		b.obs.Say(steps.Info, "The books name the client that asked, by the name that it gave itself, and never a webhook or a policy that changed its request: a lead. The audit log of the server is the proof.")
	}
	return nil
}

// writer tells of a writer that is named.
func (b *blameRun) writer(v verdict, others []string, now time.Time, clockless string) {
	f := b.facts
	f.Set("writer", steps.StringOf(steps.Clip(v.writer.Manager, report.LongestValue)))
	f.Set("others", steps.StringsOf(others))
	if op := v.writer.operation; op == "apply" || op == "update" {
		f.Set("operation", steps.EnumOf(op))
	} else {
		f.Unknown(fmt.Sprintf("the operation %q is not known", steps.Clip(op, 60)), "operation")
	}
	ago := "at a time that was not recorded"
	switch {
	case v.writer.At.IsZero():
		f.Unknown("the time of the write was not recorded", "written", "age")
	case clockless != "":
		f.Set("written", steps.TimeOf(v.writer.At))
		f.Unknown(clockless, "age")
		ago = "at " + v.writer.when()
	default:
		f.Set("written", steps.TimeOf(v.writer.At))
		age := max(0, now.Sub(v.writer.At))
		f.Set("age", steps.DurationOf(age))
		ago = age.Round(time.Second).String() + " ago"
	}
	held := []Entry{v.writer}
	if v.verdict == verdictShared {
		held = append(held, v.others...)
	}
	b.rewritten(held, now, clockless)
	how := map[bool]string{true: "applied", false: "wrote"}[v.writer.operation == "apply"]
	b.obs.Summary = fmt.Sprintf("%s %s %s %s", steps.Clip(v.writer.Manager, 128), how, b.what(), ago)
	if v.verdict == verdictShared {
		b.obs.Summary += fmt.Sprintf(", and %d more hold it", len(others))
	}
	b.obs.Summary += "."
	b.remarks(v, held)
}

// remarks say what a person must know of these writers.
func (b *blameRun) remarks(v verdict, held []Entry) {
	if v.above {
		b.obs.Say(steps.Info, "%s is owned as one whole with what is around it: a writer of any part of that writes all of it.", b.what())
	}
	for _, e := range held {
		switch {
		case e.operation == "apply":
			b.obs.Say(steps.Warning, "%s applied %s: it restores its own value at its next pass.", steps.Clip(e.Manager, 128), b.what())
		case e.Subresource == "scale":
			b.obs.Say(steps.Info, "%s wrote through the scale subresource, as an autoscaler and `kubectl scale` do.", steps.Clip(e.Manager, 128))
		case e.Manager == "kube-controller-manager":
			b.obs.Say(steps.Info, "All controllers of kube-controller-manager write under its one name; the audit log tells which.")
		case e.ByPerson() && e.Manager != cluster.FieldManager:
			b.obs.Say(steps.Info, "%s is what people type, and what scripts and CronJobs run: ask before you take it for a person.", steps.Clip(e.Manager, 128))
		}
	}
	if b.o.GetAnnotations()[object.LastApplied] != "" {
		b.obs.Say(steps.Info, "`kubectl apply` is used on %s: its next run puts back what its file says.", b.t)
	}
}

// newest are the entries that may have been last, where the books do not
// say which of them wrote a field.
func newest(entries []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Subresource == "status" })
}

// rewritten tells derived state: a field that one of entries wrote a moment ago.
func (b *blameRun) rewritten(entries []Entry, now time.Time, clockless string) {
	is, by, why := rewritten(entries, b.o.GetCreationTimestamp().Time, now, clockless)
	switch {
	case is:
		b.facts.Set("rewritten", steps.BoolOf(true))
		b.obs.Say(steps.Critical, "%s was rewritten less than a minute ago by %s: it is derived state, and a change of it will not last. Find its input and change that.", b.what(), by)
	case why != "":
		b.facts.Unknown(why, "rewritten")
	default:
		b.facts.Set("rewritten", steps.BoolOf(false))
	}
}

// inputs looks for what derived state is made from.
func (b *blameRun) inputs(ctx context.Context) {
	switch {
	case !b.facts.Got("rewritten").Bool():
		b.facts.Unknown("they are looked for where the field was rewritten a moment ago", "inputs")
		return
	case object.IsSecret(b.t.Resource) || len(b.place.Path) == 0:
		b.facts.Unknown("they are looked for by the value of one field, which is not read", "inputs")
		return
	}
	found, err := Inputs(ctx, b.c, b.t, b.place.Value)
	if err != nil {
		b.facts.Unknown(err.Error(), "inputs")
		return
	}
	b.facts.Set("inputs", steps.StringsOf(found))
	b.obs.Findings = append(b.obs.Findings, InputsFinding(b.what(), found)...)
}

// InputsFinding says what a value may be made from.
func InputsFinding(what string, found []string) []steps.Finding {
	if len(found) == 0 {
		return []steps.Finding{{Level: steps.Info, Say: "No ConfigMap of its namespace holds the value of " + what + ": its input may be a Secret, another namespace, or a file on a node."}}
	}
	return []steps.Finding{{Level: steps.Warning, Say: what + " may be made from " + steps.Clip(strings.Join(found, "; "), 500) + "."}}
}

// company tells who would undo a change.
func (b *blameRun) company(ctx context.Context) error {
	w, err := owner.Resolve(ctx, b.c, b.t, b.o)
	if err != nil {
		return err
	}
	b.obs.Findings, b.obs.Gaps = append(b.obs.Findings, w.Findings...), append(b.obs.Gaps, w.Gaps...)
	var all []string
	for _, o := range w.Owners {
		all = append(all, o.Name+" (paused: "+o.Paused+")")
		if o.Paused != owner.PausedYes {
			b.obs.Say(steps.Warning, "%s would undo a change of %s. %s", o.Name, b.t, steps.Clip(o.How, 300))
		}
	}
	if len(w.Doubts) > 0 && !w.Confirmed {
		b.facts.Unknown(strings.Join(w.Doubts, "; "), "owners")
		return nil
	}
	b.facts.Set("owners", steps.StringsOf(all))
	return nil
}
