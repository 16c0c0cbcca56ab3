package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

const (
	mostRun     = 10 * time.Minute
	mostPrinted = mostRead // of each stream
	mostArgs    = 100
)

// execProbe is own/exec.
type execProbe struct {
	env    steps.Env
	outs   []steps.Output
	kernel func() sandbox
}

// errNeedsSandbox is why nothing starts that could write where nothing may change.
var errNeedsSandbox = errors.New("the incident is read-only, and here the kernel cannot keep the program from writing")

// Probe implements steps.Prober.
func (p execProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := trusted(p.env); err != nil {
		return steps.Observation{}, err
	}
	argv := in["argv"].Strings()
	if len(argv) == 0 || len(argv) > mostArgs || slices.ContainsFunc(argv, func(a string) bool { return strings.ContainsRune(a, 0) }) {
		return steps.Observation{}, fmt.Errorf("argv has %d items, or one with a zero byte: it takes 1 to %d", len(argv), mostArgs)
	}
	alone := in.Text("network") == "none"
	kept := p.kernel()
	switch {
	case p.env.ReadOnly != "" && !kept.whole():
		return steps.Observation{}, fmt.Errorf("%w (%s): read it by hand, or on a machine whose kernel has Landlock", errNeedsSandbox, kept.why)
	case alone && !kept.noNetwork():
		return steps.Observation{}, fmt.Errorf("network: none cannot be held here, %s: read it by hand, or leave the network open", kept.why)
	}
	job, err := p.job(in, argv)
	if err != nil {
		return steps.Observation{}, err
	}
	defer job.end()
	job.confined = confined{in: kept, alone: alone, read: job.readable, write: job.private}
	for _, v := range steps.SecretVariables(job.env) {
		out.Secret(v)
	}
	span := min(max(in.Duration("timeout"), 0), mostRun)
	if span == 0 {
		span = 30 * time.Second
	}
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	out.Line("running " + quoted(argv))
	r, err := job.run(ctx, out.Line)
	var gaps, more []string
	r.stdout, gaps = keep(out, "stdout", r.stdout)
	r.stderr, more = keep(out, "stderr", r.stderr)
	gaps = append(gaps, more...)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return steps.Observation{}, fmt.Errorf("%s was killed with all that it started after %s: %w", argv[0], span, err)
	case err != nil:
		return steps.Observation{}, err
	case !slices.Contains(exitsOf(in), r.exit):
		return steps.Observation{}, fmt.Errorf("%s ended with %d, and the runbook takes %s as a success: %s%s", argv[0], r.exit, counts(exitsOf(in)), said(r), job.hint(r))
	}
	f := steps.NewFacts(steps.Kind{Facts: p.fields()}.Facts)
	f.Set("exit", steps.IntOf(int64(r.exit)))
	f.Set("sandboxed", steps.BoolOf(kept.whole()))
	f.Set("sandbox", steps.StringOf(kept.words(alone)))
	obs := steps.Observation{Command: job.typed(argv), Gaps: append(gaps, readOutputs(ctx, p.outs, in.Text("as"), r.stdout, f)...)}
	if !kept.whole() {
		obs.Say(steps.Warning, "Nothing but your trust in the runbook kept %s from writing: %s.", argv[0], kept.why)
	}
	obs.Facts = f.Rest("it was not declared")
	obs.Summary = fmt.Sprintf("%s ended with %d%s", filepath.Base(argv[0]), r.exit, told(p.outs, obs.Facts))
	return obs, nil
}

func (p execProbe) fields() []steps.Field { return fieldsOf("own/exec", p.outs) }

// fieldsOf are the facts of a kind with those that the step declares.
func fieldsOf(kind string, outs []steps.Output) []steps.Field {
	for _, k := range Kinds() {
		if k.Name == kind {
			return k.Telling(outs).Facts
		}
	}
	return nil
}

// exitsOf are the codes that are a success.
func exitsOf(in steps.Params) []int {
	out := []int{}
	for _, text := range in["exits"].Strings() {
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return []int{0}
	}
	return out
}

func counts(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}

// told are the declared facts that are known, for one line.
func told(outs []steps.Output, facts map[string]steps.Value) string {
	var out []string
	for _, o := range outs {
		if v := facts[o.Name]; v.Known() && len(out) < 6 {
			out = append(out, o.Name+" "+steps.OneLine(v.Text(), 60))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// said is what a program said of its failure.
func said(r result) string {
	for _, b := range [][]byte{r.stderr, r.stdout} {
		if text := steps.OneLine(strings.ToValidUTF8(string(b), "?"), 300); text != "" {
			return text
		}
	}
	return "it said nothing"
}

// keep stores what came as an artifact, and returns it as that holds it: what is not to
// be stored is in no fact either, whatever path the author of a runbook takes to it.
func keep(out steps.Sink, role string, raw []byte) (kept []byte, gaps []string) {
	if len(raw) == 0 {
		return nil, nil
	}
	media := steps.MediaText
	if json.Valid(raw) {
		media = steps.MediaJSON
	}
	if gap := steps.Keep(out, role, media, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		gaps = append(gaps, gap)
	}
	red, ok := out.(steps.RedactingSink)
	if !ok {
		return raw, gaps // nothing of it is stored
	}
	kept, err := red.Redacted(media, raw)
	if err != nil {
		return nil, append(gaps, "the "+role+" could not be redacted, so nothing is read from it: "+err.Error())
	}
	return kept, gaps
}

// quoted is an argument list as a person would type it.
func quoted(argv []string) string {
	var out []string
	for _, a := range argv {
		out = append(out, steps.Quote(a))
	}
	return strings.Join(out, " ")
}

// tellExec is a step of own/exec in words.
func tellExec(w steps.With) string {
	out := "runs " + quoted(w.Texts("argv"))
	if dir := w.Text("dir"); dir != "" {
		out += " in " + dir + ", which must be trusted as it is"
	} else {
		out += " in an empty private directory"
	}
	out += ", for at most " + w.Text("timeout")
	if names := w.Texts("env"); len(names) > 0 {
		out += "; gives it of your environment " + strings.Join(names, ", ")
		if slices.Contains(names, "HOME") {
			out += ", and lets it read your home"
		}
	} else {
		out += "; gives it no credentials of your environment"
	}
	if w.Text("network") == "none" {
		return out + "; keeps it off the network"
	}
	return out + "; the network is open to it"
}
