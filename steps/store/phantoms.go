package store

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"handrail/steps"
)

const mostExamples = 10

type phantomsProbe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p phantomsProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := steps.Below(p.env.Dir, in.Text("notifications"))
	raw, err := steps.ReadFile(name, mostEventBytes)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("notifications: %w", err)
	}
	var obs steps.Observation
	if gap := steps.Keep(out, "notifications", steps.MediaText, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	told, err := parseEvents(raw)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	to, err := placeOf(ctx, p.env, p.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	client, done := to.reader()
	defer done()
	bucket, prefix := in.Text("bucket"), in.Text("prefix")
	at := clock(p.env)
	got, err := to.objects(ctx, client, bucket, prefix, atMost(in), func(n int) { out.Line(fmt.Sprintf("%d objects so far", n)) })
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if err != nil {
		return steps.Observation{}, err
	}
	if gap := keepListing(out, got.list); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	f := steps.NewFacts(phantomsFacts())
	f.Set("at", steps.TimeOf(at))
	f.Set("unreadable", steps.IntOf(int64(told.unreadable)))
	f.Set("complete", steps.BoolOf(got.complete))
	is := told.missingFrom(got.list, bucket, prefix, in["from"].Time(), in["until"].Time())
	f.Set("events", steps.IntOf(int64(is.told)))
	f.Set("other", steps.IntOf(int64(is.elsewise+told.passed)))
	obs.Command = to.command("list-objects-v2 --bucket "+steps.Quote(bucket)+prefixed(prefix)) + " --query 'Contents[].Key'"
	why := ""
	switch {
	case !got.complete:
		why = fmt.Sprintf("the list goes on beyond the %d objects that were read", len(got.list))
	case told.unreadable > 0:
		why = fmt.Sprintf("%d documents of the file are no notification that can be read", told.unreadable)
	}
	if why != "" {
		f.Unknown(why, "keys", "phantoms", "stale", "removed", "first_at", "last_at", "examples")
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = "How many notifications lack their object is not known: " + why + "."
		obs.Facts = f.Rest("not read")
		return obs, nil
	}
	f.Set("keys", steps.IntOf(int64(is.keys)))
	f.Set("phantoms", steps.IntOf(int64(len(is.missing))))
	f.Set("stale", steps.IntOf(int64(is.stale)))
	f.Set("removed", steps.IntOf(int64(is.removed)))
	examples := []string{}
	if len(is.missing) == 0 {
		f.Unknown("no object is missing", "first_at", "last_at")
	} else {
		first, last := is.missing[0].at, is.missing[0].at
		for _, ev := range is.missing {
			if ev.at.Before(first) {
				first = ev.at
			}
			if ev.at.After(last) {
				last = ev.at
			}
		}
		f.Set("first_at", steps.TimeOf(first))
		f.Set("last_at", steps.TimeOf(last))
		for _, ev := range is.missing[:min(len(is.missing), mostExamples)] {
			examples = append(examples, steps.OneLine(strings.ToValidUTF8(ev.key, "?"), 200))
		}
	}
	f.Set("examples", steps.StringsOf(examples))
	obs.Summary = fmt.Sprintf("%d of %d objects that were told to be written are not in %s.", len(is.missing), is.keys, bucket)
	if is.stale > 0 {
		obs.Say(steps.Warning, "%d more are there, and are older than what was told of them: what was written over them is lost.", is.stale)
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}
