package terraform

import (
	"context"
	"fmt"
	"io"
	"time"

	"handrail/steps"
)

func stateFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether there is a recorded state for the workspace"},
		{Name: "serial", Type: steps.Int, Doc: "number of the newest write"},
		{Name: "lineage", Type: steps.Ident, Doc: "identity of the state since it was created"},
		{Name: "resources", Type: steps.Int, Doc: "managed resource instances"},
		{Name: "written", Type: steps.Time, Doc: "when it was last written"},
		{Name: "tool_version", Type: steps.String, Doc: "version of the tool that wrote it"},
		{Name: "backend", Type: steps.Enum, Values: backends(), Doc: "type of the backend"},
		{Name: "encrypted", Type: steps.Bool, Doc: "whether tofu encrypted it"},
		{Name: "addresses", Type: steps.Strings, Doc: "addresses of the managed resource instances, in order"},
	}
}

type stateProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p stateProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	_, s, err := open(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r, err := s.state(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: s.command("state")}
	f := steps.NewFacts(stateFacts())
	f.Set("exists", steps.BoolOf(r.exists))
	f.Set("backend", steps.EnumOf(s.name()))
	if !r.written.IsZero() {
		f.Set("written", steps.TimeOf(r.written))
	}
	if !r.exists {
		obs.Summary = "No state is recorded at " + r.where + "."
		obs.Facts = f.Rest("there is no state")
		return obs, nil
	}
	if r.broken != "" {
		obs.Summary = "The state at " + r.where + " cannot be read."
		obs.Findings = []steps.Finding{{Level: steps.Critical, Say: "The state cannot be read: " + r.broken}}
		obs.Facts = f.Rest(r.broken)
		return obs, nil
	}
	defer r.body.Close()
	st, err := parseState(bounded(ctx, r.body), out.Secret)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("state at %s: %w", r.where, err)
	}
	// The second pass is for the artifact: by now its secrets are known.
	gap := steps.Keep(out, "state", steps.MediaState, func(w io.Writer) error {
		if _, err := r.body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := io.Copy(w, bounded(ctx, r.body))
		return err
	})
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	st.fill(f, &obs, r)
	return obs, nil
}

// fill turns what was parsed into facts and findings.
func (s *tofuState) fill(f steps.Facts, obs *steps.Observation, r stateRead) {
	for _, b := range s.broken {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical, Say: b})
	}
	why := "it is not written in the state"
	if len(s.broken) > 0 {
		why = s.broken[0]
	}
	if !s.whole {
		obs.Summary = "The state at " + r.where + " is broken."
		obs.Facts = f.Rest(why)
		return
	}
	f.Set("encrypted", steps.BoolOf(s.encrypted))
	if s.hasSerial {
		f.Set("serial", steps.IntOf(s.serial))
	}
	if s.lineage != "" {
		f.Set("lineage", steps.IdentOf(s.lineage))
	}
	if s.tool != "" {
		f.Set("tool_version", steps.StringOf(s.tool))
	}
	switch {
	case s.encrypted:
		f.Unknown("the state is encrypted", "resources", "addresses", "tool_version")
	case s.resourcesOK:
		f.Set("resources", steps.IntOf(int64(s.count)))
		f.Set("addresses", steps.StringsOf(s.sorted()))
		if s.count > maxAddresses {
			f.Unknown(fmt.Sprintf("%d addresses are too many to list; they are in the artifact", s.count), "addresses")
		}
	}
	warn := func(n int, format string) {
		if n > 0 {
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: fmt.Sprintf(format, n)})
		}
	}
	warn(s.tainted, "%d instances are tainted: the next apply replaces them.")
	warn(s.deposed, "%d deposed objects wait for their deletion.")
	at := "unknown time"
	if !r.written.IsZero() {
		at = r.written.UTC().Format(time.RFC3339)
	}
	obs.Summary = fmt.Sprintf("State serial %d with %d resources, written %s.", s.serial, s.count, at)
	switch {
	case len(s.broken) > 0:
		obs.Summary = "The state at " + r.where + " is broken: " + s.broken[0]
	case s.encrypted:
		obs.Summary = fmt.Sprintf("State serial %d, encrypted, written %s.", s.serial, at)
	}
	obs.Facts = f.Rest(why)
}

// bounded reads r until ctx ends.
func bounded(ctx context.Context, r io.Reader) io.Reader { return ctxReader{ctx, r} }

type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
