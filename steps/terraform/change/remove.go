package change

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
)

// mostRemoved bounds one batch: a person must be able to read it.
const mostRemoved = 200

// RemoveGate takes addresses out of a state whose objects are gone.
type RemoveGate struct {
	Env  steps.Env
	Live state.Live
}

// addressesIn returns the addresses that parameters or a target name, in order
// and once each.
func addressesIn(in steps.Params) []string {
	list := slices.Clone(in["addresses"].Strings())
	slices.Sort(list)
	return slices.Compact(list)
}

// listed is a list as a target holds it: one as it is, more as JSON.
func listed(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	b, err := json.Marshal(list)
	if err != nil {
		return ""
	}
	return string(b)
}

// unlisted reads a list of a journal back.
func unlisted(text string) []string {
	var list []string
	if !strings.HasPrefix(text, "[") {
		return []string{text}
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	return list
}

func (g RemoveGate) target(t site, list []string) []steps.KV {
	return t.target(steps.KV{Key: keyAddress, Value: listed(list)}, steps.KV{Key: keyOthers, Value: state.Sum(state.Without(t.now.Entries, list...))})
}

func removeArgs(list []string) []string { return append([]string{"state", "rm", "-no-color"}, list...) }

// Preview implements steps.Gater.
func (g RemoveGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := readSite(ctx, g.Env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	list := addressesIn(in)
	what := fmt.Sprintf("%d addresses", len(list))
	if len(list) == 1 {
		what = list[0]
	}
	p := steps.Preview{
		Target:  g.target(t, list),
		Effect:  fmt.Sprintf("forget %s in the state of %s (workspace %s). Nothing is destroyed: an object that still exists is then unmanaged, and the next plan creates anew what the configuration declares.", what, t.w.Dir, t.w.Space),
		Phrase:  steps.BatchPhrase("state-rm", list),
		Request: t.request(removeArgs(list)...),
		Command: t.said(g.Env, append([]string{"state", "rm"}, list...)...),
		Args:    list,
		Undo:    undoWrite,
		Prior:   t.putBack(g.Env),
	}
	f := floors{need: &p.Unmet}
	f.writable(g.Env, t)
	p.Owners = t.others()
	f.sound(t)
	f.removable(t, list)
	if len(p.Unmet) > 0 {
		return p, nil
	}
	p.Shown = append(removed(t, list), t.mind(g.Env)...)
	p.Shown = append(p.Shown, t.otherStates(ctx, g.Env, out, queryOf(t, list...))...)
	seen, why := g.look(ctx, t, list, out)
	p.Shown = append(p.Shown, seen.shown(list, why)...)
	f.absent(seen, list)
	if len(p.Unmet) > 0 {
		return p, ctx.Err()
	}
	if p.Diff, err = rehearse(ctx, g.Env, t, append([]string{"state", "rm", "-dry-run", "-lock=false"}, list...)...); err != nil {
		f.unmet("mend what it names, then preview again", "The rehearsal (state rm -dry-run) failed: %v", err)
	} else if want := rehearsed(t, list); !slices.Equal(slices.Sorted(slices.Values(p.Diff)), want) {
		f.unmet("take the addresses one by one, as the state names them", "The rehearsal would remove something else: %s.", steps.Clip(strings.Join(p.Diff, ", "), 600))
	}
	return p, ctx.Err()
}

// removed says what goes with the addresses.
func removed(t site, list []string) []steps.KV {
	types, deposed, data := map[string]bool{}, 0, 0
	var kinds []string
	for _, a := range list {
		for _, e := range t.now.At(a) {
			if e.Deposed != "" {
				deposed++
			}
			if e.Mode == "data" {
				data++
			}
			if !types[e.Type] {
				types[e.Type] = true
				kinds = append(kinds, e.Type)
			}
		}
	}
	slices.Sort(kinds)
	out := []steps.KV{
		{Key: "types", Value: strings.Join(kinds, ", ")},
		{Key: "stays recorded", Value: fmt.Sprintf("%d objects", len(state.Without(t.now.Entries, list...)))},
	}
	if deposed > 0 {
		out = append(out, steps.KV{Key: "deposed", Value: fmt.Sprintf("%d objects that wait for their deletion are forgotten with them and will never be deleted", deposed)})
	}
	if data > 0 {
		out = append(out, steps.KV{Key: "data sources", Value: fmt.Sprintf("%d, which the next run reads again", data)})
	}
	return out
}

// rehearsed is what the dry form should say.
func rehearsed(t site, list []string) []string {
	var out []string
	for _, a := range list {
		out = append(out, "Would remove "+a)
	}
	slices.Sort(out)
	return out
}

// removable says what keeps the addresses from being removed.
func (f floors) removable(t site, list []string) {
	switch {
	case len(list) == 0:
		f.unmet("name the addresses to forget", "No address is named.")
	case len(list) > mostRemoved:
		f.unmet("split the list", "%d addresses are more than the %d that one act forgets.", len(list), mostRemoved)
	}
	for _, a := range list {
		if !plainAddress.MatchString(a) {
			f.unmet("write it as `tofu state list` does", "%q is no address.", steps.Clip(a, 300))
		} else if t.unsound == nil {
			f.recorded(t, a)
		}
		if len(*f.need) > 20 {
			return
		}
	}
}

// recorded demands that an address means one instance, and no other with it.
func (f floors) recorded(t site, address string) {
	if len(t.now.At(address)) == 0 {
		others := t.now.Resource(address)
		if len(others) > 0 {
			f.unmet("name each instance with its key", "%s has %d instances, first %s: the address means all of them.", steps.Clip(address, 300), len(others), steps.Clip(others[0].Address, 300))
			return
		}
		f.unmet("read the state again: it may have been removed, or it is written in another way", "%s is not recorded.", steps.Clip(address, 300))
		return
	}
	for _, e := range t.now.Resource(address) {
		if e.Address != address {
			f.unmet("move one of them to another address first", "%s also means %s for the program.", steps.Clip(address, 300), steps.Clip(e.Address, 300))
			return
		}
	}
}

// Act implements steps.Gater. It works from the approved preview alone.
func (g RemoveGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	list, err := steps.ArgsOf[[]string](p)
	if err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + err.Error()}, nil
	}
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir)), "addresses": steps.StringsOf(list)}
	before, why := ready(ctx, g.Env, g, p, in, out)
	if why != nil {
		return *why, nil
	}
	said, runErr := writeTool(ctx, g.Env, before, nil, out, removeArgs(list)...)
	now, err := readAfter(ctx, g.Env, p, said, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	c := removedChange(now, list, before.now.Doc.Serial, before.now.Doc.Lineage)
	want := state.Without(before.now.Entries, list...)
	if d := state.Compare(want, state.Without(now.now.Entries, list...)); !d.None() {
		c.other = d.String()
	}
	o := steps.Outcome{After: g.target(now, list)}
	o.Result, o.Response = c.judge(now, said, runErr)
	return o, nil
}

func removedChange(now site, list []string, serial int64, lineage string) change {
	var left []string
	for _, a := range list {
		if len(now.now.At(a)) > 0 {
			left = append(left, a)
		}
	}
	c := change{serial: serial, lineage: lineage, done: len(left) == 0}
	c.what = fmt.Sprintf("%d addresses are forgotten, all others are as they were.", len(list))
	if len(list) == 1 {
		c.what = list[0] + " is forgotten, all others are as they were."
	}
	c.not = fmt.Sprintf("%d of %d addresses are still recorded, first %s.", len(left), len(list), steps.Clip(strings.Join(left, ", "), 300))
	if len(left) > 0 && len(left) < len(list) {
		c.other = fmt.Sprintf("%d addresses are forgotten and %d are not", len(list)-len(left), len(left))
	}
	return c
}

// Find implements steps.Finder.
func (g RemoveGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := readAgain(ctx, g.Env, before, in, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	was, others, err := began(before)
	if err != nil {
		return steps.Outcome{}, err
	}
	list := unlisted(steps.Find(before, keyAddress))
	c := removedChange(t, list, was.serial, was.lineage)
	if c.other == "" {
		c.other = otherThan(others, state.Sum(state.Without(t.now.Entries, list...)))
	}
	o := steps.Outcome{After: g.target(t, list)}
	o.Result, o.Response = c.judge(t, "", nil)
	return o, nil
}
