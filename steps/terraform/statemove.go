package terraform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

// moveGate gives one recorded object another address.
type moveGate struct{ env steps.Env }

const (
	keyFrom = "from"
	keyTo   = "to"
)

func (g moveGate) target(t site, from, to string) []steps.KV {
	return t.target(steps.KV{Key: keyFrom, Value: from}, steps.KV{Key: keyTo, Value: to}, steps.KV{Key: keyOthers, Value: sumOf(without(t.now.entries, from, to))})
}

func moveArgs(from, to string) []string { return []string{"state", "mv", "-no-color", from, to} }

// Preview implements steps.Gater.
func (g moveGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := readSite(ctx, g.env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	from, to := in.Text("from"), in.Text("to")
	p := steps.Preview{
		Target:  g.target(t, from, to),
		Effect:  fmt.Sprintf("record the object of %s under %s in the state of %s (workspace %s). The object itself is not touched; a plan destroys and creates it all the same where the configuration has no %s.", from, to, t.w.dir, t.w.space, to),
		Phrase:  steps.Phrase("state-mv", from),
		Request: t.request(moveArgs(from, to)...),
		Command: t.said(g.env, "state", "mv", from, to),
		Undo:    fmt.Sprintf("Move it back: %s. Or: %s", t.said(g.env, "state", "mv", to, from), undoWrite),
		Prior:   t.putBack(g.env),
	}
	f := floors{need: &p.Unmet}
	f.writable(g.env, t)
	f.sound(t)
	f.movable(t, from, to)
	if len(p.Unmet) > 0 {
		return p, nil
	}
	p.Shown = append(moved(t, from, to), t.mind(g.env)...)
	lines, err := rehearse(ctx, g.env, t, "state", "mv", "-dry-run", "-lock=false", from, to)
	want := []string{fmt.Sprintf("Would move %q to %q", from, to)}
	switch {
	case err != nil:
		f.unmet("mend what it names, then preview again", "The rehearsal (state mv -dry-run) failed: %v", err)
	case !slices.Equal(lines, want) && !slices.Equal(lines, []string{"Would move " + quoted(from) + " to " + quoted(to)}):
		f.unmet("name both addresses as the state does", "The rehearsal would do something else: %s.", clip(strings.Join(lines, ", "), 600))
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
	for _, e := range t.now.at(from) {
		switch {
		case e.deposed != "":
			out = append(out, steps.KV{Key: "deposed", Value: "an object that waits for its deletion moves along: " + clip(e.deposed, 20)})
		default:
			out = append(out, steps.KV{Key: "type", Value: e.typ})
		}
	}
	if a, b := moduleOf(from), moduleOf(to); a != b {
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
			f.unmet("write it as `tofu state list` does", "%q is no address.", clip(a, 300))
			return
		}
	}
	if t.unsound != nil {
		return
	}
	a, okFrom := parseAddress(from)
	b, okTo := parseAddress(to)
	if !okFrom || !okTo {
		bad := from
		if okFrom {
			bad = to
		}
		f.unmet("name one resource instance, as TYPE.NAME, TYPE.NAME[0] or module.M.TYPE.NAME[\"key\"]", "%q does not name one resource instance.", clip(bad, 300))
		return
	}
	f.recorded(t, from)
	switch {
	case from == to:
		f.unmet("name another address", "It is at %s already.", clip(to, 300))
	case len(t.now.at(to)) > 0:
		f.unmet("remove or move what is there first", "%s is recorded already.", clip(to, 300))
	case a.typ != b.typ || a.data != b.data:
		f.unmet("let the configuration move it with a moved block, if the provider can", "%s and %s are not of one type.", clip(from, 300), clip(to, 300))
	case a.data:
		f.unmet("leave it: the next run reads it again", "%s is a data source.", clip(from, 300))
	case b.keyed != keyedAs(t, to, b):
		f.unmet("give all instances of a resource keys of one sort", "%s has other instances, with keys of another sort.", clip(b.resource, 300))
	}
}

// keyedAs is the sort of keys that the instances of a resource have beside the
// one that comes.
func keyedAs(t site, to string, b address) byte {
	for _, e := range t.now.resource(b.resource) {
		if o, ok := parseAddress(e.address); ok && e.address != to {
			return o.keyed
		}
	}
	return b.keyed
}

// Act implements steps.Gater. It works from the approved preview alone.
func (g moveGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	from, to := steps.Find(p.Target, keyFrom), steps.Find(p.Target, keyTo)
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, keyDir)), "from": steps.StringOf(from), "to": steps.StringOf(to)}
	before, why := ready(ctx, g.env, g, p, in, out)
	if why != nil {
		return *why, nil
	}
	said, runErr := writeTool(ctx, g.env, before, nil, out, moveArgs(from, to)...)
	now, err := readAfter(ctx, g.env, p, said, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	c := movedChange(now, from, to, before.now.doc.Serial, before.now.doc.Lineage)
	if d := compareEntries(without(before.now.entries, from, to), without(now.now.entries, from, to)); !d.none() {
		c.other = d.String()
	} else if c.done && !sameObjects(before.now.at(from), now.now.at(to)) {
		c.other = to + " does not record the object that " + from + " did"
	}
	o := steps.Outcome{After: g.target(now, from, to)}
	o.Result, o.Response = c.judge(now, said, runErr)
	return o, nil
}

// sameObjects reports whether two addresses record the same.
func sameObjects(a, b []entry) bool {
	rename := func(list []entry) []entry {
		out := slices.Clone(list)
		for i := range out {
			out[i].address = ""
		}
		return out
	}
	return sumOf(rename(a)) == sumOf(rename(b))
}

func movedChange(now site, from, to string, serial int64, lineage string) change {
	left, there := len(now.now.at(from)), len(now.now.at(to))
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
func (g moveGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := readAgain(ctx, g.env, before, in, out)
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
		c.other = otherThan(others, sumOf(without(t.now.entries, from, to)))
	}
	o := steps.Outcome{After: g.target(t, from, to)}
	o.Result, o.Response = c.judge(t, "", nil)
	return o, nil
}
