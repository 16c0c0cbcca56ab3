package registry

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
)

const (
	match    = "match"
	mismatch = "mismatch"
	missing  = "missing"
)

func imageFacts() []steps.Field {
	return append([]steps.Field{
		{Name: "reference", Type: steps.String, Doc: "the reference with its host and its tag, as a node reads it"},
		{Name: "ref_kind", Type: steps.Enum, Values: []string{"tag", "digest"}, Doc: "what a node pulls by: a tag may move, a digest cannot"},
	}, append(standingFacts(), []steps.Field{
		{Name: "digest_now", Type: steps.Ident, Doc: "digest of the bytes that the registry serves for the reference"},
		{Name: "digest", Type: steps.Enum, Values: []string{match, mismatch, missing}, Doc: "those bytes against expected, else against the digest of the reference; unknown without either"},
		{Name: "expected_present", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "where the tag moved: whether the registry still has the expected digest"},
		{Name: "tag_now", Type: steps.Ident, Doc: "of a reference with tag and digest: the digest that its tag has now"},
		{Name: "media_type", Type: steps.String, Doc: "type of the manifest"},
		{Name: "platforms", Type: steps.Strings, Doc: "of an index: the platforms that it has images for"},
		{Name: "size", Type: steps.Int, Doc: "bytes of the manifest, as in a descriptor"},
	}...)...)
}

// readImage is registry/image.
func readImage(ctx context.Context, a inquiry) (steps.Observation, error) {
	a.f.Set("reference", steps.StringOf(a.String()))
	a.f.Set("ref_kind", steps.EnumOf(a.kind()))
	address := *a.base
	address.Path = a.path("manifests", a.pulled())
	obs := steps.Observation{Command: "curl -sSL -H " + steps.Quote("Accept: "+accepted) + " " + steps.Quote(address.String()) + " | sha256sum"}
	expected := a.in.Text("expected")
	if expected == "" {
		expected = a.reference.digest
	}
	r, err := a.manifestAt(ctx, a.pulled())
	if stop := ctx.Err(); stop != nil {
		return obs, stop
	}
	a.standing(err)
	if r.raw != nil {
		a.keep("manifest", steps.MediaJSON, r.raw, &obs)
		a.keepHeaders(r, &obs)
	}
	switch {
	case err != nil:
		a.tellUnread(ctx, r, err, &obs)
	case expected == "":
		a.tellManifest(r)
		a.f.Unknown("no expected digest was given, and the reference has none", "digest", "expected_present")
		obs.Summary = fmt.Sprintf("%s is %s now.", a, r.digest)
	case r.digest == expected:
		a.tellManifest(r)
		a.f.Set("digest", steps.EnumOf(match))
		a.f.Unknown("it is what is served", "expected_present")
		obs.Summary = fmt.Sprintf("%s is %s, as expected.", a, r.digest)
	default:
		a.tellManifest(r)
		a.f.Set("digest", steps.EnumOf(mismatch))
		obs.Summary = fmt.Sprintf("%s is %s, and %s was expected.", a, r.digest, expected)
		a.tellMoved(ctx, r, expected, &obs)
	}
	a.tellTag(ctx, err, &obs)
	obs.Facts = a.f.Rest("the manifest was not read")
	return obs, nil
}

// tellUnread says what came instead of a manifest.
func (a inquiry) tellUnread(ctx context.Context, r response, err error, obs *steps.Observation) {
	var (
		stop *shutError
		gone *missingError
		lies *liesError
	)
	switch {
	case errors.As(err, &gone):
		if proven, why := a.absent(ctx, err); !proven {
			obs.Summary = fmt.Sprintf("Whether %s is there is unknown: %s.", a, why)
			obs.Gaps = append(obs.Gaps, why)
			a.f.Unknown(why, "digest", "digest_now", "media_type", "platforms", "size")
			return
		}
		a.f.Set("digest", steps.EnumOf(missing))
		a.f.Unknown("the registry has no such manifest: "+gone.code, "digest_now", "media_type", "platforms", "size")
		obs.Summary = fmt.Sprintf("%s is missing: %s.", a, err)
		obs.Say(steps.Critical, "%s is missing from the registry, which was read (%s).", a, gone.code)
	case errors.As(err, &lies):
		why := lies.Error()
		a.f.Unknown(why, "digest", "digest_now", "media_type", "platforms", "size")
		obs.Summary = "The digest is unknown: " + why + "."
		obs.Say(steps.Critical, "%s. A registry or a proxy between hands out other bytes than it names.", why)
		obs.Gaps = append(obs.Gaps, why)
	case errors.As(err, &stop) && stop.state != "":
		obs.Summary = fmt.Sprintf("The registry of %s is %s (%s): %s.", a, stop.state, stop.reason, stop)
		obs.Gaps = append(obs.Gaps, stop.Error()+a.hint())
		a.f.Unknown("the registry is "+stop.state+": "+stop.Error(), "digest", "digest_now", "media_type", "platforms", "size")
	default:
		obs.Summary = fmt.Sprintf("What %s is now is unknown: %s.", a, err)
		obs.Gaps = append(obs.Gaps, err.Error())
		a.f.Unknown(err.Error(), "digest", "digest_now", "media_type", "platforms", "size")
	}
}

func (a inquiry) tellManifest(r response) {
	a.f.Set("digest_now", steps.IdentOf(r.digest))
	a.f.Set("media_type", steps.StringOf(r.MediaType))
	a.f.Set("size", steps.IntOf(int64(len(r.raw))))
	if !r.index() {
		a.f.Unknown("it is the manifest of one image, and its platform stands in its configuration", "platforms")
		return
	}
	platforms := []string{}
	for _, d := range r.Manifests {
		if p := d.platform(); p != "" {
			platforms = append(platforms, p)
		}
	}
	a.f.Set("platforms", steps.StringsOf(platforms))
}

// tellMoved says what the other digest may come from, and whether the expected one can still be pulled.
func (a inquiry) tellMoved(ctx context.Context, r response, expected string, obs *steps.Observation) {
	if a.reference.digest != "" && r.digest != a.reference.digest {
		obs.Say(steps.Critical, "The registry serves bytes of %s under the digest %s.", r.digest, a.reference.digest)
	} else {
		obs.Say(steps.Critical, "%s is not what was promoted: %s was expected, and %s is served. A supply chain matter until it is explained.", a, expected, r.digest)
	}
	for _, d := range r.Manifests {
		if d.Digest == expected {
			obs.Say(steps.Warning, "The expected digest is the image of one platform (%s) of the index that is served: the promotion may have recorded that one.", orElse(d.platform(), "none named"))
		}
	}
	is, err := a.manifestAt(ctx, expected)
	gone := (*missingError)(nil)
	switch {
	case err == nil && is.digest == expected:
		a.f.Set("expected_present", steps.EnumOf("yes"))
	case errors.As(err, &gone): // the repository was read a moment ago
		a.f.Set("expected_present", steps.EnumOf("no"))
		obs.Say(steps.Warning, "The registry no longer has %s: it cannot be pinned to.", expected)
	case err == nil:
		a.f.Unknown("the registry serves other bytes under that digest", "expected_present")
	default:
		a.f.Unknown(err.Error(), "expected_present")
		obs.Gaps = append(obs.Gaps, "the expected digest: "+err.Error())
	}
}

// tellTag says what the tag beside a digest is now: it moves no pull, and it may mislead a reader.
func (a inquiry) tellTag(ctx context.Context, err error, obs *steps.Observation) {
	stop := (*shutError)(nil)
	switch {
	case a.tag == "" || a.reference.digest == "":
		a.f.Unknown("the reference has not both a tag and a digest", "tag_now")
		return
	case errors.As(err, &stop):
		a.f.Unknown(stop.Error(), "tag_now")
		return
	}
	t, err := a.manifestAt(ctx, a.tag)
	if err != nil {
		a.f.Unknown(err.Error(), "tag_now")
		obs.Gaps = append(obs.Gaps, "the tag: "+err.Error())
		return
	}
	a.f.Set("tag_now", steps.IdentOf(t.digest))
	if t.digest != a.reference.digest {
		obs.Say(steps.Warning, "The tag %s is %s now, another digest than the reference has: nodes pull by the digest.", a.tag, t.digest)
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
