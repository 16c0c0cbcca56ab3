package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfstate"
)

// DiffFacts are the facts of terraform/state-diff.
func DiffFacts() []steps.Field {
	return []steps.Field{
		{Name: "same", Type: steps.Bool, Doc: "whether both record the same"},
		{Name: "missing", Type: steps.Int, Doc: "instances of the first that the second lacks"},
		{Name: "added", Type: steps.Int, Doc: "instances of the second that the first lacks"},
		{Name: "changed", Type: steps.Int, Doc: "instances with other attributes or another status"},
		{Name: "moved", Type: steps.Int, Doc: "instances with the same id or content under another address"},
		{Name: "bookkeeping", Type: steps.Int, Doc: "instances that differ in private data, dependencies or schema version alone"},
		{Name: "missing_addresses", Type: steps.Strings, Doc: "the missing ones"},
		{Name: "added_addresses", Type: steps.Strings, Doc: "the added ones"},
		{Name: "changed_addresses", Type: steps.Strings, Doc: "the changed ones"},
		{Name: "changed_attributes", Type: steps.Table, Doc: "of the first changed ones, the names of the attributes, never values"},
		{Name: "moves", Type: steps.Table, Doc: "old address to new address"},
		{Name: "outputs_changed", Type: steps.Bool, Doc: "whether the outputs differ"},
		{Name: "lineage_changed", Type: steps.Bool, Doc: "whether they are two different states"},
		{Name: "collision", Type: steps.Bool, Doc: "same lineage and serial with different content: two writers"},
		{Name: "regressed", Type: steps.Bool, Doc: "whether the second has the lower serial"},
		{Name: "serial_before", Type: steps.Int, Doc: "serial of the first"},
		{Name: "serial_after", Type: steps.Int, Doc: "serial of the second"},
		{Name: "condition_before", Type: steps.Enum, Values: tfstate.Conditions(), Doc: "condition of the first"},
		{Name: "condition_after", Type: steps.Enum, Values: tfstate.Conditions(), Doc: "condition of the second"},
	}
}

// DiffProbe is terraform/state-diff.
type DiffProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p DiffProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	before, beforeName, show, err := p.first(ctx, in, out)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("first state: %w", err)
	}
	defer before.Close()
	after, afterName, command, err := p.second(ctx, in, out)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("second state: %w", err)
	}
	defer after.Close()
	d, err := tfstate.Compare(module.UntilSeeker(ctx, before), module.UntilSeeker(ctx, after))
	if err != nil {
		return steps.Observation{}, fmt.Errorf("comparing %s with %s: %w", beforeName, afterName, err)
	}
	obs := steps.Observation{Command: fmt.Sprintf("diff <(%s | jq -S .) <(%s | jq -S .)", show, command)}
	f := steps.NewFacts(DiffFacts())
	fillDiff(d, f, &obs, beforeName, afterName)
	return obs, nil
}

// mostCompared bounds a version that is read whole.
const mostCompared = 256 << 20

// first is the copy, or the version of the backend, that is compared from.
func (p DiffProbe) first(ctx context.Context, in steps.Params, out steps.Sink) (body io.ReadSeekCloser, name, command string, err error) {
	id := in.Text("version")
	switch {
	case id != "" && in.Text("before") != "":
		return nil, "", "", errors.New("both a copy and a version are named: name one")
	case id == "":
		body, name, err = p.file(in.Text("before"))
		return body, name, "cat " + steps.Quote(name), err
	}
	_, s, err := backend.OpenAt(ctx, p.Env, in, out)
	if err != nil {
		return nil, "", "", err
	}
	list, err := s.Versions(ctx, backend.MostVersions)
	if err != nil {
		return nil, "", "", err
	}
	for _, v := range list.List {
		if v.ID != id {
			continue
		}
		if v.Deleted {
			return nil, "", "", fmt.Errorf("version %s is the mark of a deletion", id)
		}
		raw, err := v.Open(ctx, 0)
		if err != nil {
			return nil, "", "", fmt.Errorf("version %s: %w", id, err)
		}
		defer raw.Close()
		b, err := io.ReadAll(io.LimitReader(module.Until(ctx, raw), mostCompared+1))
		if err == nil && len(b) > mostCompared {
			err = fmt.Errorf("it is over %d bytes", mostCompared)
		}
		if err != nil {
			return nil, "", "", fmt.Errorf("version %s: %w", id, err)
		}
		return whole{bytes.NewReader(b)}, "version " + id, "version " + steps.Quote(id), nil
	}
	if !list.Kept {
		return nil, "", "", fmt.Errorf("version %s cannot be had: %s", id, list.Why)
	}
	return nil, "", "", fmt.Errorf("version %s is not among those that the backend keeps", id)
}

// whole is a version in memory.
type whole struct{ *bytes.Reader }

func (whole) Close() error { return nil }

func (p DiffProbe) file(name string) (io.ReadSeekCloser, string, error) {
	if name == "" {
		return nil, "", errors.New("neither before nor version is given: name a copy of the state, or a version that the backend keeps")
	}
	name = steps.Below(p.Env.Dir, name)
	f, err := steps.OpenRegular(name)
	return f, name, err
}

// second opens the file of the parameter after, or the present state.
func (p DiffProbe) second(ctx context.Context, in steps.Params, out steps.Sink) (body io.ReadSeekCloser, name, command string, err error) {
	if in.Text("after") != "" {
		body, name, err = p.file(in.Text("after"))
		return body, name, "cat " + steps.Quote(name), err
	}
	_, s, err := backend.OpenAt(ctx, p.Env, in, out)
	if err != nil {
		return nil, "", "", err
	}
	r, err := s.State(ctx)
	switch {
	case err != nil:
		return nil, "", "", err
	case !r.Exists:
		return nil, "", "", fmt.Errorf("no state is recorded at %s", r.Where)
	case r.Broken != "":
		return nil, "", "", fmt.Errorf("the state at %s cannot be read: %s", r.Where, r.Broken)
	}
	return r.Body, r.Where, s.Command("state"), nil
}

func fillDiff(d *tfstate.Diff, f steps.Facts, obs *steps.Observation, before, after string) {
	f.Set("condition_before", steps.EnumOf(string(d.Before.Condition())))
	f.Set("condition_after", steps.EnumOf(string(d.After.Condition())))
	if d.Before.HasSerial {
		f.Set("serial_before", steps.IntOf(d.Before.Serial))
	}
	if d.After.HasSerial {
		f.Set("serial_after", steps.IntOf(d.After.Serial))
	}
	if d.Before.Lineage != "" && d.After.Lineage != "" {
		f.Set("lineage_changed", steps.BoolOf(d.LineageChanged))
	}
	if d.Before.HasSerial && d.After.HasSerial && !d.LineageChanged {
		f.Set("regressed", steps.BoolOf(d.Regressed))
	}
	if d.LineageChanged {
		obs.Say(steps.Critical, "The lineages differ: these are two states, not two writes of one. A plan does not notice it; a saved plan and `state push` do.")
	}
	if d.Regressed {
		obs.Say(steps.Critical, "The serial went back from %d to %d: an older copy was written over a newer one. A plan does not notice it.", d.Before.Serial, d.After.Serial)
	}
	if d.ToolChanged {
		obs.Say(steps.Info, "Version %s wrote the first, %s the second. A tool takes the state of a newer one without a word.", steps.Clip(d.Before.Tool, 40), steps.Clip(d.After.Tool, 40))
	}
	for name, doc := range map[string]*tfstate.Doc{before: d.Before, after: d.After} {
		if !doc.Usable() {
			why := "it is encrypted"
			if len(doc.Faults) > 0 {
				why = doc.Faults[0].Say
			}
			obs.Summary = "The states cannot be compared: " + name + " is not readable."
			obs.Say(steps.Critical, "%s cannot be compared: %s", name, why)
			obs.Facts = f.Rest(why)
			return
		}
	}
	instances(d, f, obs)
	switch {
	case d.Collision:
		obs.Say(steps.Critical, "Both have serial %d and the same lineage, and different content: two writers raced. The check for a stale plan compares serial and lineage alone, so a plan on either passes, and its apply overwrites the other.", d.After.Serial)
	case d.Same() && d.Before.Serial != d.After.Serial:
		obs.Say(steps.Info, "The content is the same although the serial went from %d to %d.", d.Before.Serial, d.After.Serial)
	}
	obs.Facts = f.Rest("not compared")
}

func instances(d *tfstate.Diff, f steps.Facts, obs *steps.Observation) {
	for name, v := range map[string]bool{"same": d.Same(), "outputs_changed": d.Outputs, "collision": d.Collision} {
		f.Set(name, steps.BoolOf(v))
	}
	for name, n := range map[string]int{"missing": d.Missing, "added": d.Added, "changed": d.Changed, "moved": d.Moved, "bookkeeping": d.Bookkeeping} {
		f.Set(name, steps.IntOf(int64(n)))
	}
	list := func(name string, addresses []string, n int) {
		slices.Sort(addresses)
		f.Set(name, steps.StringsOf(addresses))
		if len(addresses) < n {
			f.Unknown(fmt.Sprintf("%d addresses are too many to list", n), name)
		}
	}
	list("missing_addresses", d.MissingList, d.Missing)
	list("added_addresses", d.AddedList, d.Added)
	list("changed_addresses", d.ChangedList, d.Changed)
	names := map[string]string{}
	for a, list := range d.Attributes {
		names[a] = strings.Join(list, ", ")
	}
	f.Set("changed_attributes", steps.TableOf(names))
	moves := map[string]string{}
	for _, m := range d.MovedList {
		moves[m.From] = m.To
	}
	f.Set("moves", steps.TableOf(moves))
	if len(moves) < d.Moved {
		f.Unknown(fmt.Sprintf("%d moves are too many to list", d.Moved), "moves")
	}
	obs.Summary = fmt.Sprintf("%d missing, %d added, %d changed, %d moved.", d.Missing, d.Added, d.Changed, d.Moved)
	if d.Same() {
		obs.Summary = "Both states record the same."
	}
	if d.Missing > 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning,
			Say: fmt.Sprintf("%d instances are missing in the second, first %s: the next plan would create what exists, unless they were destroyed.", d.Missing, d.MissingList[0])})
	}
}
