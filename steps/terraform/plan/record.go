package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// mostNamed bounds the digests that are listed.
const mostNamed = 100

// RecordFacts are the facts of terraform/plan-record.
func RecordFacts() []steps.Field {
	return []steps.Field{
		{Name: "found", Type: steps.Bool, Doc: "whether there is such a file"},
		{Name: "names", Type: steps.Enum, Values: []string{"same", "other", "none"}, Doc: "whether it names the plan by its digest, another digest alone, or none"},
		{Name: "named", Type: steps.String, Doc: "the digest of the plan where it names that, else the first one that it names"},
		{Name: "digests", Type: steps.Strings, Doc: "all that it names, in order"},
		{Name: "written", Type: steps.Time, Doc: "when the file was last written, by the file system"},
	}
}

// RecordProbe is terraform/plan-record.
type RecordProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p RecordProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := absolute(p.Env, in.Text("file"))
	f := steps.NewFacts(RecordFacts())
	obs := steps.Observation{Command: "grep -oiE '[0-9a-f]{64}' " + steps.Quote(name)}
	text, err := module.ReadSmall(name)
	if errors.Is(err, fs.ErrNotExist) {
		f.Set("found", steps.BoolOf(false))
		obs.Summary = "There is no " + name + " yet."
		obs.Facts = f.Rest("there is no such file")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("record: %w", err)
	}
	f.Set("found", steps.BoolOf(true))
	if gap := steps.Keep(out, "record", steps.MediaText, func(w io.Writer) error { _, err := w.Write(text); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	if info, err := os.Stat(name); err == nil {
		f.Set("written", steps.TimeOf(info.ModTime()))
	}
	digests := steps.Digests(string(text), mostNamed)
	f.Set("digests", steps.StringsOf(digests))
	want := in.Text("digest")
	switch {
	case slices.Contains(digests, want):
		f.Set("names", steps.EnumOf("same"))
		f.Set("named", steps.StringOf(want))
		obs.Summary = "It names the plan by its digest."
	case len(digests) == mostNamed:
		obs.Summary = fmt.Sprintf("Its first %d digests are of other plans; the others were not read.", mostNamed)
	case len(digests) > 0:
		f.Set("names", steps.EnumOf("other"))
		f.Set("named", steps.StringOf(digests[0]))
		obs.Summary = "It names another digest than that of the plan."
	default:
		f.Set("names", steps.EnumOf("none"))
		f.Set("named", steps.StringOf("none"))
		obs.Summary = "It names no digest."
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}
