package forge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
)

func artifactFacts() []steps.Field {
	return []steps.Field{
		{Name: "run", Type: steps.Ident, Doc: "number of the run"},
		{Name: "head", Type: steps.Ident, Doc: "commit that it ran on"},
		{Name: "names", Type: steps.Strings, Doc: "its artifacts, in order"},
		{Name: "sizes", Type: steps.Table, Doc: "bytes of each"},
		{Name: "digests", Type: steps.Table, Doc: "digest of each that the forge names one of"},
		{Name: "expiries", Type: steps.Table, Doc: "when each expires"},
		{Name: "gone", Type: steps.Strings, Doc: "those that have expired"},
		{Name: "found", Type: steps.Bool, Doc: "whether the one that is meant is listed"},
		{Name: "expired", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether the one that is meant has expired"},
		{Name: "expires", Type: steps.Time, Doc: "when it expires"},
		{Name: "created", Type: steps.Time, Doc: "when it was made"},
		{Name: "size", Type: steps.Int, Doc: "its bytes"},
		{Name: "digest", Type: steps.Ident, Doc: "its digest"},
	}
}

// readArtifacts is forge/artifacts.
func readArtifacts(ctx context.Context, a asked) (steps.Observation, error) {
	q, err := a.question()
	if err != nil {
		return steps.Observation{}, err
	}
	repo := a.in.Text("repo")
	r, err := a.reader().run(ctx, repo, q)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s of %s: %w", q, repo, err)
	}
	obs := steps.Observation{Command: a.command(a.runs(repo, r))}
	if r.nothing != "" {
		obs.Summary = fmt.Sprintf("The artifacts of the %s of %s are unknown: %s.", q, repo, r.nothing)
		obs.Gaps = append(obs.Gaps, r.nothing)
		obs.Facts = a.f.Rest(r.nothing)
		return obs, nil
	}
	list, err := a.reader().artifacts(ctx, repo, r)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("artifacts of the %s of %s: %w", q, repo, err)
	}
	const unsaid = "the forge does not say"
	a.ident("run", r.id, unsaid)
	a.ident("head", r.head, unsaid)
	names, gone := []string{}, []string{}
	sizes, digests, expiries := map[string]string{}, map[string]string{}, map[string]string{}
	wanted := a.in.Text("artifact")
	var meant []artifact
	for _, one := range list {
		if one.expired == "" {
			one.expired = expiredBy(one.expires, a.now)
		}
		names = append(names, one.name)
		sizes[one.name] = count(one.size)
		if one.digest != "" {
			digests[one.name] = one.digest
		}
		if !one.expires.IsZero() {
			expiries[one.name] = one.expires.UTC().Format(time.RFC3339)
		}
		if one.expired == "yes" {
			gone = append(gone, one.name)
		}
		if one.name == wanted {
			meant = append(meant, one)
		}
	}
	a.f.Set("names", steps.StringsOf(names))
	a.f.Set("sizes", steps.TableOf(sizes))
	a.f.Set("digests", steps.TableOf(digests))
	a.f.Set("expiries", steps.TableOf(expiries))
	a.f.Set("gone", steps.StringsOf(gone))
	if wanted != "" {
		a.f.Set("found", steps.BoolOf(len(meant) > 0))
	}
	switch {
	case wanted == "":
	case len(meant) == 1:
		one := meant[0]
		a.enum("expired", one.expired, unsaid)
		a.at("expires", one.expires, unsaid)
		a.at("created", one.created, unsaid)
		a.f.Set("size", steps.IntOf(one.size))
		a.ident("digest", one.digest, "the forge names no digest: download it and take its SHA-256")
		if one.expired == "yes" {
			obs.Say(steps.Warning, "The artifact %s has expired: what was approved can no longer be read from the forge.", one.name)
		}
	case len(meant) > 1:
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("%d artifacts are called %s: which is meant is unknown", len(meant), wanted))
	}
	obs.Summary = fmt.Sprintf("The %s of %s left %d artifacts, of which %d have expired.", q, repo, len(names), len(gone))
	if wanted != "" && len(meant) == 0 {
		obs.Summary = fmt.Sprintf("The %s of %s left no artifact %s: %s.", q, repo, wanted, orElse(strings.Join(names, ", "), "none at all"))
	}
	obs.Facts = a.f.Rest("no artifact was named, or the one that was is not there alone")
	return obs, nil
}

// expiredBy reports whether what expires at a time has, by the clock of this machine; what never expires has not.
func expiredBy(at, now time.Time) string {
	if at.IsZero() {
		return "no"
	}
	return yesNo(!at.After(now))
}
