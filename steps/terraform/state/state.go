package state

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfstate"
)

// Probe is terraform/state.
type Probe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p Probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	_, s, err := backend.OpenAt(ctx, p.Env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r, err := s.State(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: s.Command("state")}
	f := steps.NewFacts(Facts())
	f.Set("exists", steps.BoolOf(r.Exists))
	f.Set("backend", steps.EnumOf(s.Name()))
	if !r.Written.IsZero() {
		f.Set("written", steps.TimeOf(r.Written))
	}
	if !r.Exists {
		obs.Summary = "No state is recorded at " + r.Where + "."
		holdsNothing(f)
		obs.Facts = f.Rest("there is no state")
		return obs, nil
	}
	if r.Broken != "" {
		obs.Summary = "The state at " + r.Where + " cannot be read."
		obs.Findings = []steps.Finding{{Level: steps.Critical, Say: "The state cannot be read: " + r.Broken}}
		obs.Facts = f.Rest(r.Broken)
		return obs, nil
	}
	defer r.Body.Close()
	var objects []string
	unnamed := 0
	st, err := readState(module.Until(ctx, r.Body), tfstate.Options{Secret: out.Secret, Digest: in.Text("digest"), Visit: func(i *tfstate.Instance) error {
		if i.Mode != "managed" || i.Deposed != "" || len(objects) > tfstate.MaxAddresses {
			return nil
		}
		stands, known := i.Stands()
		if !known {
			unnamed++
		}
		objects = append(objects, prose.Object(i.Address, stands))
		return nil
	}})
	if err != nil {
		return steps.Observation{}, fmt.Errorf("state at %s: %w", r.Where, err)
	}
	st.objects, st.unnamed = objects, unnamed
	// The second pass is for the artifact: by now its secrets are known.
	gap := steps.Keep(out, "state", steps.MediaState, func(w io.Writer) error {
		if _, err := r.Body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := io.Copy(w, module.Until(ctx, r.Body))
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
func (s *tofuState) fill(f steps.Facts, obs *steps.Observation, r backend.State) {
	for i, b := range s.broken {
		if i == 20 {
			b = fmt.Sprintf("%d more faults are not listed.", len(s.broken)-i)
		}
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical, Say: b})
		if i == 20 {
			break
		}
	}
	why := "it is not written in the state"
	if len(s.broken) > 0 {
		why = s.broken[0]
	}
	f.Set("condition", steps.EnumOf(string(s.Condition())))
	f.Set("size", steps.IntOf(s.Size))
	if !s.whole {
		obs.Summary = "The state at " + r.Where + " is broken."
		if s.Condition() == tfstate.Empty {
			obs.Summary = "The state at " + r.Where + " is empty."
			holdsNothing(f)
		}
		obs.Facts = f.Rest(why)
		return
	}
	f.Set("encrypted", steps.BoolOf(s.encrypted))
	if s.hasSerial {
		f.Set("serial", steps.IntOf(s.serial))
	} else if s.BeyondSerial != "" {
		f.Unknown(s.beyond(), "serial")
	}
	if s.lineage != "" {
		f.Set("lineage", steps.IdentOf(s.lineage))
	}
	if s.tool != "" {
		f.Set("tool_version", steps.StringOf(s.tool))
	}
	if s.encrypted {
		f.Unknown("the state is encrypted", "resources", "addresses", "objects", "tool_version")
		why = "the state is encrypted"
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info,
			Say: "tofu encrypted the state: serial and lineage are readable, its resources are not. `state push` refuses such a file; see errored.tfstate."})
	} else if s.resourcesOK {
		s.counts(f, obs)
	}
	obs.Summary = s.summary(r)
	obs.Facts = f.Rest(why)
}

// holdsNothing is what is known of a state that the tools take for none.
func holdsNothing(f steps.Facts) {
	f.Set("resources", steps.IntOf(0))
	f.Set("tainted", steps.IntOf(0))
	f.Set("deposed", steps.IntOf(0))
	f.Set("marked", steps.StringsOf(nil))
	f.Set("addresses", steps.StringsOf(nil))
	f.Set("objects", steps.StringsOf(nil))
}

func (s *tofuState) summary(r backend.State) string {
	at := "unknown time"
	if !r.Written.IsZero() {
		at = r.Written.UTC().Format(time.RFC3339)
	}
	serial := strconv.FormatInt(s.serial, 10)
	if s.BeyondSerial != "" {
		serial = s.BeyondSerial
	}
	switch {
	case len(s.broken) > 0:
		return "The state at " + r.Where + " is broken: " + s.broken[0]
	case s.encrypted:
		return fmt.Sprintf("State serial %s, encrypted, written %s.", serial, at)
	}
	return fmt.Sprintf("State serial %s with %d resources, written %s.", serial, s.count, at)
}
