package cloud

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"handrail/steps"
)

// probe asks one service of AWS.
type probe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
	facts []steps.Field
	read  func(context.Context, asked) error
}

// asked is what one reading has.
type asked struct {
	env   steps.Env
	roots *x509.CertPool
	cfg   aws.Config
	in    steps.Params
	out   steps.Sink
	f     steps.Facts
	now   time.Time
	*told
}

// told is what a reading says beside its facts.
type told struct {
	obs    steps.Observation
	absent string // why facts that were not set are unknown
}

// begin signs in for one reading.
func begin(ctx context.Context, env steps.Env, roots *x509.CertPool, in steps.Params, out steps.Sink) (asked, error) {
	if err := ctx.Err(); err != nil {
		return asked{}, err
	}
	cfg, err := signIn(ctx, env, out)
	if err != nil {
		return asked{}, err
	}
	if at := in.Text("region"); at != "" {
		cfg.Region = at
	}
	if !region.MatchString(cfg.Region) { // it becomes a part of the name of the server
		return asked{}, errors.New("no region is known: give the parameter region, or set AWS_REGION")
	}
	a := asked{env: env, roots: roots, cfg: cfg, in: in, out: out, now: time.Now(), told: &told{absent: "it was not read"}}
	if env.Now != nil {
		a.now = env.Now()
	}
	return a, nil
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	a, err := begin(ctx, p.env, p.roots, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	a.f = steps.NewFacts(p.facts)
	err = p.read(ctx, a)
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if err != nil {
		return steps.Observation{}, err
	}
	a.obs.Facts = a.f.Rest(a.absent)
	return a.obs, nil
}

// keep writes what was answered into the evidence, as it was understood.
func (a asked) keep(role string, v any) {
	gap := steps.Keep(a.out, role, steps.MediaJSON, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
	if gap != "" {
		a.obs.Gaps = append(a.obs.Gaps, gap)
	}
}

func clean(s string) string { return steps.OneLine(strings.ToValidUTF8(s, "?"), 300) }
