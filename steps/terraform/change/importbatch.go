package change

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/configuration"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
)

// mostImported bounds one batch: each is a run of the program of its own.
const mostImported = 50

const keyImports = "to import"

// ImportBatchGate records several objects that exist, each by a run of its own, and
// stops at the first that does not come out as it should.
type ImportBatchGate struct{ Env steps.Env }

// pair is one object and the address to record it under.
type pair = state.Pair

// pairsOf gathers what was read and what a file lists, in order of the address. why says
// what of it is no list.
func pairsOf(env steps.Env, in steps.Params) (list []pair, why string) {
	ids := in["ids"].Table()
	for _, a := range in["addresses"].Strings() {
		id, ok := ids[a]
		if !ok {
			return nil, fmt.Sprintf("The id of %s is not known.", steps.Clip(a, 300))
		}
		list = append(list, pair{Address: a, ID: id})
	}
	if file := in.Text("file"); file != "" {
		text, err := state.ReadList(env, file)
		if err != nil {
			return nil, fmt.Sprintf("The list %s cannot be read: %v.", steps.Clip(file, 300), err)
		}
		told, why := state.ParsePairs(text)
		if why != "" {
			return nil, why
		}
		for _, p := range told {
			if p.ID != state.Absent {
				list = append(list, p)
			}
		}
	}
	slices.SortFunc(list, func(a, b pair) int { return strings.Compare(a.Address, b.Address) })
	list = slices.Compact(list)
	for i := 1; i < len(list); i++ {
		if list[i].Address == list[i-1].Address {
			return nil, fmt.Sprintf("Two ids are given for %s: %s and %s.", steps.Clip(list[i].Address, 300), steps.Clip(list[i-1].ID, 200), steps.Clip(list[i].ID, 200))
		}
	}
	return list, ""
}

func addressesOf(list []pair) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Address)
	}
	return out
}

// target holds every pair: what is imported is what was shown.
func (g ImportBatchGate) target(t site, list []pair) []steps.KV {
	b, err := json.Marshal(list)
	if err != nil {
		b = nil
	}
	return t.target(steps.KV{Key: keyImports, Value: string(b)}, steps.KV{Key: keyOthers, Value: state.Sum(state.Without(t.now.Entries, addressesOf(list)...))})
}

// Preview implements steps.Gater.
func (g ImportBatchGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := readSite(ctx, g.Env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	list, why := pairsOf(g.Env, in)
	var p steps.Preview
	f := floors{need: &p.Unmet}
	switch {
	case why != "":
		f.unmet("write one line for each: its address, a blank, its id", "%s", why)
		return p, nil
	case len(list) == 0:
		f.unmet("name what to import", "No address is named.")
		return p, nil
	}
	list = g.open(t, list, &p)
	if len(list) == 0 {
		f.unmet("nothing: plan, and go on", "All of them are recorded already.")
		return p, nil
	}
	g.words(t, list, &p)
	f.writable(g.Env, t)
	p.Owners = t.others()
	f.beginnable(ctx, t)
	if module.HasWrapper(module.Wrappers(t.w.Dir), "terragrunt") {
		f.unmet("run `terragrunt import` there yourself", "%s is a unit of terragrunt: without its inputs the provider may ask another account.", t.w.Dir)
	}
	g.importable(ctx, t, list, in["creates"], &p)
	p.Shown = append(p.Shown, steps.KV{Key: "recorded now", Value: fmt.Sprintf("%d objects", len(t.now.Entries))})
	p.Shown = append(p.Shown, t.mind(g.Env)...)
	q := query{addresses: addressesOf(list)}
	for _, one := range list {
		if a, ok := configuration.ParseAddress(one.Address); ok {
			q.objects = append(q.objects, objectID{a.Type, one.ID})
		}
	}
	p.Shown = append(p.Shown, t.otherStates(ctx, g.Env, out, q)...)
	return p, ctx.Err()
}

// open leaves out what is recorded under its address with its id already, so that a
// batch that stopped goes on from there, and what is beyond one batch.
func (g ImportBatchGate) open(t site, list []pair, p *steps.Preview) []pair {
	var rest []pair
	var there []string
	for _, one := range list {
		if at := t.now.At(one.Address); len(at) == 1 && at[0].ID == one.ID && at[0].Deposed == "" {
			there = append(there, one.Address)
			continue
		}
		rest = append(rest, one)
	}
	if len(there) > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "recorded already", Value: steps.Clip(strings.Join(there, ", "), 600)})
	}
	if beyond := len(rest) - mostImported; beyond > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "not in this batch", Value: fmt.Sprintf("%d more: plan, and show this gate again once it is done", beyond)})
		rest = rest[:mostImported]
	}
	return rest
}

func (g ImportBatchGate) words(t site, list []pair, p *steps.Preview) {
	var requests, commands, back []string
	for _, one := range list {
		requests = append(requests, t.request(importArgs(one.Address, one.ID)...))
		commands = append(commands, t.said(g.Env, "import", "-input=false", one.Address, one.ID))
		back = append(back, one.Address)
		p.Diff = append(p.Diff, "+ "+one.String())
	}
	p.Target = g.target(t, list)
	many := "1 object"
	if n := len(list); n != 1 {
		many = fmt.Sprintf("%d objects, one after the other,", n)
	}
	p.Effect = fmt.Sprintf("record %s in the state of %s (workspace %s). It stops at the first that does not come out as it should, and leaves the rest. What is recorded is read and not changed; from then on a plan compares it with the configuration, and an apply changes it.", many, t.w.Dir, t.w.Space)
	p.Phrase = steps.BatchPhrase("import", back)
	p.Request, p.Command = strings.Join(requests, "\n"), strings.Join(commands, "\n")
	p.Undo = fmt.Sprintf("Forget them again: %s. The objects stay as they are.", t.said(g.Env, append([]string{"state", "rm"}, back...)...))
	if t.unsound == nil && t.now.Doc != nil {
		// Each run takes the next serial; the copy has to be above the last.
		if raw, err := reserial(t.now.Raw, t.now.Doc.Serial+int64(len(list))+1); err == nil {
			p.Prior = &steps.Prior{Media: steps.MediaState, Raw: raw, Back: t.said(g.Env, "state", "push", "-")}
			p.Undo += fmt.Sprintf(" Or put the whole state back as it was, where no other run wrote it since; look first, for the copy has the serial %d and lies above what such a run wrote.", t.now.Doc.Serial+int64(len(list))+1)
		}
	}
	p.Args = list
}

// importable holds each pair to what the import of one wants, and all of them to each
// other.
func (g ImportBatchGate) importable(ctx context.Context, t site, list []pair, creates steps.Value, p *steps.Preview) {
	f := floors{need: &p.Unmet}
	objects := map[objectID]string{}
	for _, one := range list {
		var beside steps.Preview
		alone := floors{need: &beside.Unmet}
		alone.importable(ctx, t, one.Address, one.ID, &beside)
		*f.need = append(*f.need, beside.Unmet...)
		for _, kv := range beside.Shown {
			p.Shown = append(p.Shown, steps.KV{Key: kv.Key, Value: one.Address + ": " + kv.Value})
		}
		a, _ := configuration.ParseAddress(one.Address)
		if other, twice := objects[objectID{a.Type, one.ID}]; twice {
			f.unmet("give the id of each", "%s and %s are given one object, %s.", steps.Clip(other, 300), steps.Clip(one.Address, 300), steps.Clip(one.ID, 200))
		}
		objects[objectID{a.Type, one.ID}] = one.Address
		if creates.Known() && !slices.Contains(creates.Strings(), one.Address) {
			f.unmet("plan again, and take it out of the list where the plan does not create it", "The plan does not create %s.", steps.Clip(one.Address, 300))
		}
		if len(*f.need) > 20 {
			return
		}
	}
}

// Act implements steps.Gater. It works from the approved preview alone, and reads the
// state before and after each import.
func (g ImportBatchGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	list, err := steps.ArgsOf[[]pair](p)
	if err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + err.Error()}, nil
	}
	var asked steps.Preview
	was, err := readSite(ctx, g.Env, steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir))}, out)
	switch asked.Target = g.target(was, list); {
	case err != nil:
		return steps.Outcome{Result: steps.Refused, Response: "not sent: the state could not be read again: " + err.Error()}, nil
	case movedSince(p, asked.Target) != "":
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + movedSince(p, asked.Target), After: asked.Target}, nil
	}
	if g.words(was, list, &asked); asked.Request != p.Request {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: the program would be started in another way than was shown"}, nil
	}
	now := was
	o, err := steps.Batch(ctx, importItems(list, p), func(i int) (steps.Outcome, error) {
		got, after, err := g.one(ctx, now, list[i], p, out)
		now = after
		return got, err
	})
	if err != nil {
		return o, err
	}
	if now.now.Doc != nil {
		o.After = g.target(now, list)
	}
	return o, nil
}

// one imports one of the list, onto the state as the one before it left it.
func (g ImportBatchGate) one(ctx context.Context, last site, one pair, p steps.Preview, out steps.Sink) (steps.Outcome, site, error) {
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir)), "address": steps.StringOf(one.Address), "id": steps.StringOf(one.ID)}
	refuse := func(why string) (steps.Outcome, site, error) {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + why}, last, nil
	}
	before, err := readSite(ctx, g.Env, in, out)
	if err != nil {
		return refuse("the state could not be read again: " + err.Error())
	}
	if moved := movedSince(steps.Preview{Target: last.target()}, before.target()); moved != "" {
		return refuse("the state is not as the act left it: " + moved)
	}
	var fresh steps.Preview
	f := floors{need: &fresh.Unmet}
	f.writable(g.Env, before)
	f.beginnable(ctx, before)
	if f.importable(ctx, before, one.Address, one.ID, &fresh); len(fresh.Unmet) > 0 {
		return refuse(fresh.Unmet[0].Why)
	}
	said, runErr := writeTool(ctx, g.Env, before, nil, out, importArgs(one.Address, one.ID)...)
	now, err := readAfter(ctx, g.Env, p, said, out)
	if err != nil && !nothing(err) {
		return steps.Outcome{}, now, err
	}
	was, _, err := began(before.target())
	if err != nil {
		return steps.Outcome{}, now, err
	}
	c := importedChange(now, one.Address, one.ID, was)
	c.what = fmt.Sprintf("%s is recorded under %s, all others are as they were.", one.ID, one.Address)
	if d := state.Compare(state.Without(before.now.Entries, one.Address), state.Without(now.now.Entries, one.Address)); !d.None() {
		c.other = d.String()
	}
	o := steps.Outcome{After: ImportGate(g).target(now, one.Address, one.ID)}
	o.Result, o.Response = c.judge(now, said, runErr)
	return o, now, nil
}

// importItems are the acts of a batch, for the record.
func importItems(list []pair, p steps.Preview) []steps.Item {
	commands := strings.Split(p.Command, "\n")
	var out []steps.Item
	for i, one := range list {
		it := steps.Item{Object: one.Address, Effect: fmt.Sprintf("record the object %s under %s", one.ID, one.Address),
			Before: []steps.KV{{Key: keyAddress, Value: one.Address}, {Key: keyImported, Value: one.ID}}}
		if len(commands) == len(list) {
			it.Command = commands[i]
		}
		out = append(out, it)
	}
	return out
}

// Find implements steps.Finder.
func (g ImportBatchGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := readAgain(ctx, g.Env, before, in, out)
	if err != nil && !nothing(err) {
		return steps.Outcome{}, err
	}
	var list []pair
	if err := json.Unmarshal([]byte(steps.Find(before, keyImports)), &list); err != nil {
		return steps.Outcome{}, fmt.Errorf("what was to be imported is not known: %w", err)
	}
	o, err := steps.FindBatch(importItems(list, steps.Preview{}), func(i int) (steps.Outcome, error) {
		there := t.now.At(list[i].Address)
		if len(there) == 1 && there[0].Deposed == "" {
			return steps.Outcome{Result: steps.Done, Response: list[i].Address + " is recorded, as " + steps.Clip(there[0].ID, 200) + "."}, nil
		}
		return steps.Outcome{Result: steps.Failed, Response: list[i].Address + " is not recorded."}, nil
	})
	if err != nil {
		return o, err
	}
	if others := steps.Find(before, keyOthers); others != state.Sum(state.Without(t.now.Entries, addressesOf(list)...)) {
		o.Result = steps.Failed
		o.Response += " What the state records under other addresses is not what it was before the act. Stop here, and find out who else writes this state."
	}
	o.After = g.target(t, list)
	return o, nil
}
