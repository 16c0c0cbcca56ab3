package registry

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"

	"handrail/steps"
)

const (
	imageForm = `[A-Za-z0-9\[][A-Za-z0-9._:/@\[\]-]{0,511}`
	sumForm   = `sha256:[0-9a-f]{64}`

	asks = "asks the registry of the image, by GET alone, with the account that docker's configuration has for it"
)

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	image := steps.Field{Name: "image", Type: steps.String, Required: true, Pattern: imageForm, Doc: "reference as written: host/name:tag, host/name@sha256:…, or both"}
	kind := func(name, doc string, params, facts []steps.Field, read func(context.Context, inquiry) (steps.Observation, error), touches ...string) steps.Kind {
		return steps.Kind{Name: "registry/" + name, Class: steps.Probe, Doc: doc, Params: params, Facts: facts, Touches: append([]string{asks}, touches...),
			Reads: func(e steps.Env) steps.Prober { return probe{env: e, facts: facts, read: read} }}
	}
	return []steps.Kind{
		kind("image", "Asks a registry what an image reference is now: the digest of the bytes of its manifest, and whether that is the promoted one. Missing, moved, down and denied are told apart.",
			[]steps.Field{image,
				{Name: "expected", Type: steps.Ident, Pattern: sumForm, Doc: "digest that was promoted; without it the one in the reference"},
			}, imageFacts(), readImage, "keeps the manifest and headers of the answer"),
		kind("signature", "Verifies the cosign signatures of an image against a public key, offline, and tells whether attestations and an SBOM are attached. A registry that is down or denies leaves all unknown.",
			[]steps.Field{image,
				{Name: "digest", Type: steps.Ident, Pattern: sumForm, Doc: "digest whose signatures are read; without it that of the reference, or what its tag is now"},
				{Name: "key", Type: steps.Path, Required: true, Doc: "file with the public key of the signer in PEM: ECDSA P-256, RSA or Ed25519"},
			}, signatureFacts(), readSignature, "reads the public key", "keeps the manifest of the signatures and their payloads"),
	}
}

// probe is one of the kinds.
type probe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
	facts []steps.Field
	read  func(context.Context, inquiry) (steps.Observation, error)
}

// inquiry is what one reading has.
type inquiry struct {
	*client
	env steps.Env
	in  steps.Params
	out steps.Sink
	f   steps.Facts
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	ref, err := parseReference(in.Text("image"))
	if err != nil {
		return steps.Observation{}, err
	}
	c, err := newClient(p.env, ref, p.roots, out)
	if err != nil {
		return steps.Observation{}, err
	}
	defer c.done()
	obs, err := p.read(ctx, inquiry{c, p.env, in, out, steps.NewFacts(p.facts)})
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	return obs, err
}

func (a inquiry) keep(role, media string, raw []byte, obs *steps.Observation) {
	w := a.out.Artifact(role, media)
	_, err := w.Write(raw)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		obs.Gaps = append(obs.Gaps, "the artifact "+role+" was not kept whole: "+err.Error())
	}
}

// standing sets what a registry is to its reader, by what came of the first read.
func (a inquiry) standing(err error) {
	stop := (*shutError)(nil)
	switch {
	case !errors.As(err, &stop): // it answered: 404 in its own words, or 200, of whatever use that is
		a.f.Set("registry", steps.EnumOf(up))
		a.f.Set("reason", steps.EnumOf(answers))
	case stop.state == "":
		a.f.Unknown(stop.Error(), "registry", "reason")
	default:
		a.f.Set("registry", steps.EnumOf(stop.state))
		a.f.Set("reason", steps.EnumOf(stop.reason))
	}
	as := "anonymous"
	if a.sent {
		as = "account"
	}
	a.f.Set("read_as", steps.EnumOf(as))
}

// absent tells whether a 404 is proof that something is not there, and why not where it is none: a registry may answer 404 as
// well for what it hides from a reader without an account.
func (a inquiry) absent(ctx context.Context, err error) (proven bool, why string) {
	if a.sent || a.readable(ctx) {
		return true, ""
	}
	return false, err.Error() + ", and no account was sent: it is not there, or the registry hides it from a reader without an account" + a.hint()
}

func (a inquiry) hint() string {
	if a.account.none != "" {
		return "; " + a.account.none
	}
	return ""
}

// keptHeaders are those of an answer that say which registry gave it, and when.
var keptHeaders = []string{"Date", "Content-Type", "Content-Length", "Docker-Content-Digest", "Docker-Distribution-Api-Version", "Etag", "Server", "Via", "Warning", "Ratelimit-Limit", "Ratelimit-Remaining"}

func (a inquiry) keepHeaders(r response, obs *steps.Observation) {
	var b strings.Builder
	for _, name := range keptHeaders {
		if v := r.header.Get(name); v != "" {
			b.WriteString(name + ": " + steps.OneLine(strings.ToValidUTF8(v, "?"), 200) + "\n")
		}
	}
	a.keep("headers", steps.MediaText, []byte(b.String()), obs)
}

func yesNo(b bool) steps.Value {
	if b {
		return steps.EnumOf("yes")
	}
	return steps.EnumOf("no")
}

func standingFacts() []steps.Field {
	return []steps.Field{
		{Name: "registry", Type: steps.Enum, Values: []string{up, down, denied}, Doc: "whether it serves this reader; seen from this machine"},
		{Name: "reason", Type: steps.Enum, Values: []string{answers, unreachable, timedOut, serverError, tooMany, unauthenticated, forbidden}, Doc: "why it is down (unreachable, timeout, server-error, too-many-requests) or denies (unauthenticated, forbidden)"},
		{Name: "read_as", Type: steps.Enum, Values: []string{"anonymous", "account"}, Doc: "whether an account of docker's configuration was sent"},
	}
}
