package blame

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/fieldpath"
	"handrail/steps/kube/object"
	"handrail/steps/kube/report"
)

func signalsFacts() []steps.Field {
	return []steps.Field{
		{Name: "all", Type: steps.Bool, Doc: "whether every signal holds; false as soon as one is known not to"},
		{Name: "bad", Type: steps.Strings, Doc: "names of the signals that do not hold; unknown while one is unread"},
		{Name: "unread", Type: steps.Strings, Doc: "signals that cannot be told, with the reason"},
		{Name: "faults", Type: steps.Strings, Doc: "faults, as the file names them, of which a signal does not hold"},
		{Name: "mended", Type: steps.Strings, Doc: "faults of which every signal holds"},
		{Name: "unsure", Type: steps.Strings, Doc: "faults that cannot be told, since a signal is unread"},
		{Name: "signals", Type: steps.Table, Doc: "name of each signal to whether it holds, and what is there"},
	}
}

type signalsProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p signalsProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		const why = "no file describes the signals"
		return steps.Observation{Summary: "No file describes what a reconciler waits for.", Command: "handrail step show kube/signals", Facts: steps.NewFacts(signalsFacts()).Rest(why)}, nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.env.Dir, name)
	}
	raw, err := steps.ReadFile(name, largestSignals)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("signals: %w", err)
	}
	file, err := parseSignals(raw)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s: %w", name, err)
	}
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	namespace := in.Text("namespace")
	if namespace == "" {
		namespace = c.Namespace
	}
	seen := readSignalled(ctx, c, file.signals, namespace)
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("signals of %s: %w", name, err)
	}
	obs := signalled(c, file, seen, out)
	if gap := steps.Keep(out, "file", steps.MediaText, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	return obs, nil
}

// signalTraits is what one signal is like.
type signalTraits struct {
	signal
	at     string // the object, as it was resolved
	known  bool
	holds  bool
	is     string // what is there
	writer string // who wrote it last, "" where it is not known
	doubt  string // why it is not known
}

func (s signalTraits) String() string {
	switch {
	case !s.known:
		return "unknown: " + s.doubt
	case s.holds:
		return "holds"
	}
	return fmt.Sprintf("does not hold: it is %s and is wanted %s", s.is, s.wants())
}

// readSignalled reads every object once, eight at a time.
func readSignalled(ctx context.Context, c *cluster.Client, all []signal, namespace string) []signalTraits {
	out := make([]signalTraits, len(all))
	by := map[string][]int{}
	targets := map[string]cluster.Target{}
	for i, s := range all {
		out[i].signal = s
		r, err := c.Find(ctx, s.resource)
		if err != nil {
			out[i].doubt = err.Error()
			continue
		}
		t := cluster.Target{Resource: r, Name: s.id, Namespace: s.namespace}
		switch {
		case !r.Namespaced && t.Namespace != "":
			out[i].doubt = fmt.Sprintf("%s has no namespace", r)
			continue
		case r.Namespaced && t.Namespace == "":
			t.Namespace = namespace
		}
		out[i].at = t.String()
		by[t.String()] = append(by[t.String()], i)
		targets[t.String()] = t
	}
	gate := make(chan struct{}, cluster.ListsAtOnce)
	var wg sync.WaitGroup
	for name, of := range by {
		wg.Go(func() {
			defer fault.To(func(err error) {
				for _, i := range of {
					out[i].known, out[i].doubt = false, err.Error()
				}
			})
			gate <- struct{}{}
			defer func() { <-gate }()
			o, err := Read(ctx, c, targets[name])
			for _, i := range of {
				out[i].look(o, err, object.IsSecret(targets[name].Resource))
			}
		})
	}
	wg.Wait()
	return out
}

// look says whether the signal holds in an object.
func (s *signalTraits) look(o cluster.Object, err error, secret bool) {
	if errors.Is(err, cluster.ErrAbsent) {
		s.known, s.is = true, "not there with its object"
		s.holds = s.present != nil && !*s.present
		return
	}
	if err != nil {
		s.doubt = err.Error()
		return
	}
	pl, err := s.path.In(o.Object)
	if err != nil {
		s.doubt = err.Error()
		return
	}
	entries, unread := Entries(o)
	held := false
	for _, e := range entries {
		if pl.Held(e.Fields).Any() {
			if !held {
				s.writer = e.String()
			}
			held = true
		}
	}
	blind := secret && len(pl.Path) > 0 && pl.Path[0].Name != "metadata"
	switch {
	case blind && s.want != nil:
		s.doubt = "the values of a Secret are not read: ask with present"
		return
	case blind && !held:
		s.doubt = "the values of a Secret are not read, and this one has no owner"
		if unread > 0 {
			s.doubt += " as far as its managedFields can be read"
		}
		return
	case blind:
		s.known, s.is, s.holds = true, "there", *s.present
		return
	}
	s.known = true
	s.is = "not there"
	if pl.Present {
		s.is = "there"
	}
	if s.present != nil {
		s.holds = *s.present == pl.Present
		return
	}
	if !pl.Present {
		return
	}
	text, ok := fieldpath.Text(pl.Value)
	if !ok {
		s.known, s.doubt = false, "the field is a list or a map, and no single value"
		return
	}
	s.is, s.holds = fmt.Sprintf("%q", steps.Clip(text, report.LongestValue)), text == *s.want
}

// signalled tells what the signals came to.
func signalled(c *cluster.Client, file signalsFile, seen []signalTraits, out steps.Sink) steps.Observation {
	var obs steps.Observation
	var bad, unread []string
	table := map[string]string{}
	for _, s := range seen {
		table[s.name] = steps.Clip(s.String(), 600)
		switch {
		case !s.known:
			unread = append(unread, steps.Clip(s.name+": "+s.doubt, 600))
		case !s.holds:
			bad = append(bad, s.name)
			say := fmt.Sprintf("%s (%s of %s) %s", s.name, s.field, s.at, s)
			if s.writer != "" {
				say += "; last written by " + s.writer
			}
			if s.why != "" {
				say += ". " + s.why
			}
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: steps.Clip(say, 800)})
		}
	}
	// One object stands for all: kubectl takes no list over several namespaces.
	first := seen[0]
	ns := first.namespace
	if parts := strings.Split(first.at, "/"); len(parts) == 3 {
		ns = parts[1]
	}
	obs.Command = c.Kubectl(ns, "get", first.resource, first.id, "-o", "yaml")
	obs.Gaps = unread
	f := steps.NewFacts(signalsFacts())
	if len(unread) > 0 {
		f.Unknown(unread[0], "bad")
	} else {
		f.Set("bad", steps.StringsOf(bad))
	}
	f.Set("unread", steps.StringsOf(unread))
	f.Set("signals", steps.TableOf(table))
	for fact, list := range signalFaults(seen) {
		f.Set(fact, steps.StringsOf(list))
	}
	who := "The reconciler"
	if file.reconciler != "" {
		who = file.reconciler
	}
	held := len(seen) - len(bad) - len(unread)
	obs.Summary = fmt.Sprintf("%s waits: %d of %d signals hold", who, held, len(seen))
	switch {
	case len(bad) > 0:
		f.Set("all", steps.BoolOf(false))
		obs.Summary += ", not " + steps.Clip(strings.Join(bad, ", "), 300) + "."
	case len(unread) > 0:
		f.Unknown(unread[0], "all")
		obs.Summary += fmt.Sprintf(", and %d are not known.", len(unread))
	default:
		f.Set("all", steps.BoolOf(true))
		obs.Summary = fmt.Sprintf("%s may go: all %d signals hold.", who, len(seen))
	}
	if gap := steps.Keep(out, "signals", steps.MediaText, func(w io.Writer) error { return signalsTable(w, seen) }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	obs.Findings = append(obs.Findings, c.Warnings()...)
	obs.Facts = f.Rest("not read")
	return obs
}

// signalFaults sorts the faults that signals show, each once: one that does not
// hold is enough for a fault, and one that is unread keeps it from being mended.
func signalFaults(seen []signalTraits) map[string][]string {
	of := map[string]string{}
	var names []string
	for _, s := range seen {
		if s.fault == "" {
			continue
		}
		if of[s.fault] == "" {
			names, of[s.fault] = append(names, s.fault), "mended"
		}
		switch {
		case s.known && !s.holds:
			of[s.fault] = "faults"
		case !s.known && of[s.fault] == "mended":
			of[s.fault] = "unsure"
		}
	}
	out := map[string][]string{"faults": nil, "mended": nil, "unsure": nil}
	for _, name := range names {
		out[of[name]] = append(out[of[name]], name)
	}
	return out
}

// signalsTable writes the AND of all signals as a table.
func signalsTable(w io.Writer, seen []signalTraits) error {
	t := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tSIGNAL\tOBJECT\tFIELD\tWANTED\tIS\tHOLDS\tLAST WRITTEN BY")
	all := "yes"
	for i, s := range seen {
		holds, is := "no", s.is
		switch {
		case !s.known:
			holds, is = "unknown", s.doubt
			if all == "yes" {
				all = "unknown"
			}
		case s.holds:
			holds = "yes"
		default:
			all = "no"
		}
		and := "AND"
		if i == 0 {
			and = ""
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", and, steps.Flat(s.name), steps.Flat(s.object), steps.Flat(s.field), steps.Flat(s.wants()), steps.Flat(is), holds, steps.Flat(s.writer))
	}
	fmt.Fprintf(t, "=\t\t\t\t\t\t%s\t\n", all)
	return t.Flush()
}
