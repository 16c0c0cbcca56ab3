package change

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/configuration"
	"handrail/steps/terraform/loosetype"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
)

// ImportGate records one object that exists under an address.
type ImportGate struct{ Env steps.Env }

const keyImported = "object id"

// plainID is an id that can be shown and typed.
var plainID = regexp.MustCompile(`^[^\x00-\x1f\x7f]+$`)

func (g ImportGate) target(t site, address, id string) []steps.KV {
	return t.target(steps.KV{Key: keyAddress, Value: address}, steps.KV{Key: keyImported, Value: id},
		steps.KV{Key: keyOthers, Value: state.Sum(state.Without(t.now.Entries, address))})
}

func importArgs(address, id string) []string {
	return []string{"import", "-no-color", "-input=false", address, id}
}

// Preview implements steps.Gater.
func (g ImportGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := readSite(ctx, g.Env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	address, id := in.Text("address"), in.Text("id")
	p := steps.Preview{
		Target:  g.target(t, address, id),
		Effect:  fmt.Sprintf("record the object %s under %s in the state of %s (workspace %s). The object is read and not changed; from then on a plan compares it with the configuration, and an apply changes it.", id, address, t.w.Dir, t.w.Space),
		Phrase:  steps.Phrase("import", address),
		Request: t.request(importArgs(address, id)...),
		Command: t.said(g.Env, "import", "-input=false", address, id),
		Undo:    fmt.Sprintf("Forget it again: %s. The object stays as it is.", t.said(g.Env, "state", "rm", address)),
		Prior:   t.putBack(g.Env),
	}
	if p.Prior != nil {
		p.Undo += " Or: " + undoWrite
	}
	f := floors{need: &p.Unmet}
	f.writable(g.Env, t)
	p.Owners = t.others()
	f.beginnable(ctx, t)
	if module.HasWrapper(module.Wrappers(t.w.Dir), "terragrunt") {
		f.unmet("run `terragrunt import` there yourself", "%s is a unit of terragrunt: without its inputs the provider may ask another account.", t.w.Dir)
	}
	f.importable(ctx, t, address, id, &p)
	if plan := in.Text("plan"); plan != "" {
		p.Shown = append(p.Shown, steps.KV{Key: "present plan", Value: plan})
	} else {
		p.Shown = append(p.Shown, steps.KV{Key: "present plan", Value: "unknown: make one first, to see afterwards what the import changed"})
	}
	p.Shown = append(p.Shown, steps.KV{Key: "recorded now", Value: fmt.Sprintf("%d objects", len(t.now.Entries))})
	p.Shown = append(p.Shown, t.mind(g.Env)...)
	if a, ok := configuration.ParseAddress(address); ok {
		p.Shown = append(p.Shown, t.otherStates(ctx, g.Env, out, query{[]string{address}, []objectID{{a.Type, id}}})...)
	}
	p.Diff = []string{"+ " + address + " (" + id + ")"}
	return p, ctx.Err()
}

// importable says what keeps an object from being recorded under an address.
func (f floors) importable(ctx context.Context, t site, text, id string, p *steps.Preview) {
	a, ok := configuration.ParseAddress(text)
	switch {
	case !plainAddress.MatchString(text) || !ok:
		f.unmet("name one resource instance, as TYPE.NAME, TYPE.NAME[0] or module.M.TYPE.NAME[\"key\"]", "%q does not name one resource instance.", steps.Clip(text, 300))
		return
	case a.Data:
		f.unmet("leave it: a run reads it", "%s is a data source.", steps.Clip(text, 300))
		return
	case !plainID.MatchString(id) || len(id) > 1024:
		f.unmet("name the object as the documentation of its resource type says", "%q is no id.", steps.Clip(id, 300))
		return
	}
	if there := t.now.At(text); len(there) > 0 {
		f.unmet("compare what is recorded with the object; an object cannot be recorded over another", "%s is recorded already, as %q.", steps.Clip(text, 300), steps.Clip(there[0].ID, 300))
	}
	for _, e := range t.now.Entries {
		if e.Type == a.Type && e.Mode == "managed" && e.ID == id && e.Address != text && e.Deposed == "" {
			f.unmet("move that address, if this is the one the configuration has", "The object %s is recorded already, as %s: two addresses would fight over it.", steps.Clip(id, 300), steps.Clip(e.Address, 300))
			break
		}
	}
	if a.Keyed != keyedAs(t, text, a) {
		f.unmet("give all instances of a resource keys of one sort", "%s has other instances, with keys of another sort.", steps.Clip(a.Resource, 300))
	}
	d := configuration.Declared(ctx, t.w, a)
	f.declarable(d, a, text)
	if d.Found {
		p.Shown = append(p.Shown, steps.KV{Key: "declared", Value: d.At})
	} else if len(d.Gaps) > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "declared", Value: "unknown: " + steps.Clip(strings.Join(d.Gaps, "; "), 300) + "; the program refuses what is not declared"})
	}
}

// Act implements steps.Gater. It works from the approved preview alone.
func (g ImportGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	address, id := steps.Find(p.Target, keyAddress), steps.Find(p.Target, keyImported)
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir)), "address": steps.StringOf(address), "id": steps.StringOf(id)}
	before, why := ready(ctx, g.Env, g, p, in, out)
	if why != nil {
		return *why, nil
	}
	said, runErr := writeTool(ctx, g.Env, before, nil, out, importArgs(address, id)...)
	now, err := readAfter(ctx, g.Env, p, said, out)
	if err != nil && !nothing(err) {
		return steps.Outcome{}, err
	}
	was, _, _ := began(p.Target)
	c := importedChange(now, address, id, was)
	if d := state.Compare(state.Without(before.now.Entries, address), state.Without(now.now.Entries, address)); !d.None() {
		c.other = d.String()
	}
	o := steps.Outcome{After: g.target(now, address, id)}
	o.Result, o.Response = c.judge(now, said, runErr)
	return o, nil
}

func importedChange(now site, address, id string, was change) change {
	c := was
	there := now.now.At(address)
	c.done = len(there) > 0
	c.what = fmt.Sprintf("%s is recorded under %s, all others are as they were. Plan before the next import.", id, address)
	c.not = address + " is not recorded."
	if c.done && slices.ContainsFunc(there, func(e state.Entry) bool { return e.Deposed != "" }) {
		c.other = address + " has a deposed object"
	}
	return c
}

// Find implements steps.Finder.
func (g ImportGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := readAgain(ctx, g.Env, before, in, out)
	if err != nil && !nothing(err) {
		return steps.Outcome{}, err
	}
	was, others, err := began(before)
	if err != nil {
		return steps.Outcome{}, err
	}
	address, id := steps.Find(before, keyAddress), steps.Find(before, keyImported)
	c := importedChange(t, address, id, was)
	if c.other == "" {
		c.other = otherThan(others, state.Sum(state.Without(t.now.Entries, address)))
	}
	o := steps.Outcome{After: g.target(t, address, id)}
	o.Result, o.Response = c.judge(t, "", nil)
	return o, nil
}

// declarable says what keeps the configuration from having an address.
func (f floors) declarable(d loosetype.Declaration, a configuration.Address, text string) {
	switch {
	case !d.Found && len(d.Gaps) == 0:
		f.unmet("write its resource block first, and have it reviewed", "The configuration does not declare %s.", steps.Clip(a.Resource, 300))
	case !d.Found: // the program will refuse it, if it is not there
	case d.Repeat == "count" && a.Keyed != 'i':
		f.unmet("name the instance, as "+a.Resource+"[0]", "%s has count (%s), and %s names no index.", steps.Clip(a.Resource, 300), d.At, steps.Clip(text, 300))
	case d.Repeat == "for_each" && a.Keyed != 's':
		f.unmet(`name the instance, as `+a.Resource+`["key"]`, "%s has for_each (%s), and %s names no key.", steps.Clip(a.Resource, 300), d.At, steps.Clip(text, 300))
	case d.Repeat == "" && a.Keyed != 0:
		f.unmet("name it as "+a.Resource, "%s is declared once (%s), without count or for_each.", steps.Clip(a.Resource, 300), d.At)
	}
}
