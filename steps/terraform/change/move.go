package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/configuration"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
)

// MoveGate gives one recorded object another address.
type MoveGate struct{ Env steps.Env }

const (
	keyFrom = "from"
	keyTo   = "to"
)

func (g MoveGate) target(t site, from, to string) []steps.KV {
	return t.target(steps.KV{Key: keyFrom, Value: from}, steps.KV{Key: keyTo, Value: to}, steps.KV{Key: keyOthers, Value: state.Sum(state.Without(t.now.Entries, from, to))})
}

func moveArgs(from, to string) []string { return []string{"state", "mv", "-no-color", from, to} }

// Preview implements steps.Gater.
func (g MoveGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := readSite(ctx, g.Env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	from, to := in.Text("from"), in.Text("to")
	p := steps.Preview{
		Target:  g.target(t, from, to),
		Effect:  fmt.Sprintf("record the object of %s under %s in the state of %s (workspace %s). The object itself is not touched; a plan destroys and creates it all the same where the configuration has no %s.", from, to, t.w.Dir, t.w.Space, to),
		Phrase:  steps.Phrase("state-mv", from),
		Request: t.request(moveArgs(from, to)...),
		Command: t.said(g.Env, "state", "mv", from, to),
		Undo:    fmt.Sprintf("Move it back: %s. Or: %s", t.said(g.Env, "state", "mv", to, from), undoWrite),
		Prior:   t.putBack(g.Env),
	}
	f := floors{need: &p.Unmet}
	f.writable(g.Env, t)
	p.Owners = t.others()
	f.sound(t)
	f.movable(t, from, to)
	if len(p.Unmet) > 0 {
		return p, nil
	}
	p.Shown = append(moved(t, from, to), t.mind(g.Env)...)
	p.Shown = append(p.Shown, t.otherStates(ctx, g.Env, out, queryOf(t, from))...)
	lines, err := rehearse(ctx, g.Env, t, "state", "mv", "-dry-run", "-lock=false", from, to)
	want := []string{fmt.Sprintf("Would move %q to %q", from, to)}
	switch {
	case err != nil:
		f.unmet("mend what it names, then preview again", "The rehearsal (state mv -dry-run) failed: %v", err)
	case !slices.Equal(lines, want) && !slices.Equal(lines, []string{"Would move " + quoted(from) + " to " + quoted(to)}):
		f.unmet("name both addresses as the state does", "The rehearsal would do something else: %s.", steps.Clip(strings.Join(lines, ", "), 600))
	default:
		p.Diff = []string{"- " + from, "+ " + to}
	}
	return p, ctx.Err()
}

// quoted is how a program puts an address between quotes without escaping it.
func quoted(s string) string { return `"` + s + `"` }

// moved says what goes along.
func moved(t site, from, to string) []steps.KV {
	var out []steps.KV
	for _, e := range t.now.At(from) {
		switch {
		case e.Deposed != "":
			out = append(out, steps.KV{Key: "deposed", Value: "an object that waits for its deletion moves along: " + steps.Clip(e.Deposed, 20)})
		default:
			out = append(out, steps.KV{Key: "type", Value: e.Type})
		}
	}
	if a, b := configuration.ModuleOf(from), configuration.ModuleOf(to); a != b {
		out = append(out, steps.KV{Key: "module", Value: orRoot(a) + " -> " + orRoot(b)})
	}
	return append(out, steps.KV{Key: "dependencies", Value: "those of other objects keep naming the old address until the next apply"})
}

func orRoot(name string) string {
	if name == "" {
		return "the root module"
	}
	return name
}

// movable says what keeps an address from being moved.
func (f floors) movable(t site, from, to string) {
	for _, a := range []string{from, to} {
		if !plainAddress.MatchString(a) {
			f.unmet("write it as `tofu state list` does", "%q is no address.", steps.Clip(a, 300))
			return
		}
	}
	if t.unsound != nil {
		return
	}
	a, okFrom := configuration.ParseAddress(from)
	b, okTo := configuration.ParseAddress(to)
	if !okFrom || !okTo {
		bad := from
		if okFrom {
			bad = to
		}
		f.unmet("name one resource instance, as TYPE.NAME, TYPE.NAME[0] or module.M.TYPE.NAME[\"key\"]", "%q does not name one resource instance.", steps.Clip(bad, 300))
		return
	}
	f.recorded(t, from)
	switch {
	case from == to:
		f.unmet("name another address", "It is at %s already.", steps.Clip(to, 300))
	case len(t.now.At(to)) > 0:
		f.unmet("remove or move what is there first", "%s is recorded already.", steps.Clip(to, 300))
	case a.Type != b.Type || a.Data != b.Data:
		f.unmet("let the configuration move it with a moved block, if the provider can", "%s and %s are not of one type.", steps.Clip(from, 300), steps.Clip(to, 300))
	case a.Data:
		f.unmet("leave it: the next run reads it again", "%s is a data source.", steps.Clip(from, 300))
	case b.Keyed != keyedAs(t, to, b):
		f.unmet("give all instances of a resource keys of one sort", "%s has other instances, with keys of another sort.", steps.Clip(b.Resource, 300))
	}
}

// keyedAs is the sort of keys that the instances of a resource have beside the
// one that comes.
func keyedAs(t site, to string, b configuration.Address) byte {
	for _, e := range t.now.Resource(b.Resource) {
		if o, ok := configuration.ParseAddress(e.Address); ok && e.Address != to {
			return o.Keyed
		}
	}
	return b.Keyed
}

// Act implements steps.Gater. It works from the approved preview alone.
func (g MoveGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	from, to := steps.Find(p.Target, keyFrom), steps.Find(p.Target, keyTo)
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir)), "from": steps.StringOf(from), "to": steps.StringOf(to)}
	before, why := ready(ctx, g.Env, g, p, in, out)
	if why != nil {
		return *why, nil
	}
	said, runErr := writeTool(ctx, g.Env, before, nil, out, moveArgs(from, to)...)
	now, err := readAfter(ctx, g.Env, p, said, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	c := movedChange(now, from, to, before.now.Doc.Serial, before.now.Doc.Lineage)
	if d := state.Compare(state.Without(before.now.Entries, from, to), state.Without(now.now.Entries, from, to)); !d.None() {
		c.other = d.String()
	} else if c.done && !sameObjects(before.now.At(from), now.now.At(to)) {
		c.other = to + " does not record the object that " + from + " did"
	}
	o := steps.Outcome{After: g.target(now, from, to)}
	o.Result, o.Response = c.judge(now, said, runErr)
	return o, nil
}

// sameObjects reports whether two addresses record the same.
func sameObjects(a, b []state.Entry) bool {
	rename := func(list []state.Entry) []state.Entry {
		out := slices.Clone(list)
		for i := range out {
			out[i].Address = ""
		}
		return out
	}
	return state.Sum(rename(a)) == state.Sum(rename(b))
}

func movedChange(now site, from, to string, serial int64, lineage string) change {
	left, there := len(now.now.At(from)), len(now.now.At(to))
	c := change{serial: serial, lineage: lineage, done: left == 0 && there > 0,
		what: from + " is recorded as " + to + ", all others are as they were.", not: from + " is still recorded there."}
	switch {
	case left == 0 && there == 0:
		c.not = "Neither " + from + " nor " + to + " is recorded."
		c.other = "the object of " + from + " is recorded nowhere"
	case left > 0 && there > 0:
		c.other = to + " is recorded beside " + from
	}
	return c
}

// Find implements steps.Finder.
func (g MoveGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := readAgain(ctx, g.Env, before, in, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	was, others, err := began(before)
	if err != nil {
		return steps.Outcome{}, err
	}
	from, to := steps.Find(before, keyFrom), steps.Find(before, keyTo)
	c := movedChange(t, from, to, was.serial, was.lineage)
	if c.other == "" {
		c.other = otherThan(others, state.Sum(state.Without(t.now.Entries, from, to)))
	}
	o := steps.Outcome{After: g.target(t, from, to)}
	o.Result, o.Response = c.judge(t, "", nil)
	return o, nil
}
