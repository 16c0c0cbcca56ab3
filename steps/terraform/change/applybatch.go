package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/runlog"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
)

const keySize = "at a time"

// ApplyBatchGate makes the changes of one saved plan some at a time: each batch by a
// plan of its own for these addresses, which may do nothing but what the saved one
// does to them. It stops at the first batch that does not come out as it should.
type ApplyBatchGate struct{ Env steps.Env }

func (g ApplyBatchGate) whole() ApplyGate { return ApplyGate{Env: g.Env, Mode: Whole} }

// batches divides what a plan does to resources, in order of the addresses.
func batches(d *tfplan.Doc, size int) (out [][]string) {
	var all []string
	for _, c := range d.Changes {
		if c.Act != tfplan.Read {
			all = append(all, c.Address)
		}
	}
	slices.Sort(all)
	for part := range slices.Chunk(slices.Compact(all), max(size, 1)) {
		out = append(out, part)
	}
	return out
}

func (g ApplyBatchGate) target(t *applyInput, size int) []steps.KV {
	return append(t.target(Whole), steps.KV{Key: keySize, Value: strconv.Itoa(size)})
}

// Preview implements steps.Gater.
func (g ApplyBatchGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := g.whole().read(ctx, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	size := int(in.Int("size"))
	p := g.whole().preview(t, in.Text("digest"))
	p.Target = g.target(t, size)
	args := t.params()
	args["size"] = steps.IntOf(int64(size))
	p.Args = args
	p.Phrase += fmt.Sprintf(" by %d", size)
	if t.saved == nil {
		return p, nil
	}
	all := batches(t.saved.Doc, size)
	p.Request, p.Command = g.words(t, all)
	p.Effect = strings.TrimSuffix(t.effect(Whole), ".") + fmt.Sprintf(". This is done %d at a time, in %s: for each a plan is made of these addresses alone. Where it would do anything else than this plan does to them, or anything fails, a refused call too, it stops, and leaves the rest.", size, prose.Plural(len(all), "batch"))
	f := floors{need: &p.Unmet}
	f.parts(t.saved, size)
	return p, nil
}

// words are what is started for each batch, and how a person types it.
func (g ApplyBatchGate) words(t *applyInput, all [][]string) (request, command string) {
	var requests, commands []string
	at := site{w: t.w, tool: t.program.Path}
	for i, part := range all {
		file := fmt.Sprintf("batch-%d", i+1)
		requests = append(requests, at.request(plan.PartArgs(file, part)...), at.request(t.args(file)...))
		commands = append(commands, t.said(g.Env, plan.PartArgs(file, part)...)+"; "+t.said(g.Env, t.args(file)...))
	}
	return strings.Join(requests, "\n"), strings.Join(commands, "\n")
}

// maxBatched bounds one batch, and what one gate does.
const (
	maxBatched  = 50
	maxBatchAll = 500
)

// parts refuses what cannot be made some at a time and held to what was approved.
func (f floors) parts(saved *tfplan.Saved, size int) {
	d := saved.Doc
	if saved.Mode != "normal" {
		f.unmet("use terraform/apply-plan", "The plan has the mode %s, and its parts are planned in the normal one.", saved.Mode)
	}
	if size < 1 || size > maxBatched {
		f.unmet("name a size that a person can follow", "A batch has 1 to %d changes, not %d.", maxBatched, size)
	}
	if n := actsOf(d); n > maxBatchAll {
		f.unmet("plan a part of it", "The plan acts on %d objects, more than the %d of one gate.", n, maxBatchAll)
	}
	if d.Deferred > 0 {
		f.unmet("use terraform/apply-plan", "The plan leaves changes for a later one, so its parts cannot be held to it.")
	}
	var out []string
	for _, c := range d.Changes {
		switch {
		case c.Act == tfplan.Read:
		case c.Previous != "" || c.Importing != "" || c.Deposed != "" || c.Act != tfplan.Create && c.Act != tfplan.Update && c.Act != tfplan.Delete:
			out = append(out, c.Address)
		}
	}
	if len(out) > 0 {
		slices.Sort(out)
		f.unmet("use terraform/apply-plan, or plan for the others alone", "Only what is created, changed or destroyed in place goes in batches. The plan does something else to %s.", prose.List(out))
	}
}

// held refuses a plan of a batch that would do anything but what was approved, to the
// very values, or that was made from anything else.
func (f floors) held(approved, now *tfplan.Saved, part []string) {
	differ := func(format string, args ...any) { f.unmet(planAgain, format, args...) }
	if approved.Workspace != now.Workspace || approved.Backend != now.Backend || approved.Doc.Tool != now.Doc.Tool || string(approved.LockFile) != string(now.LockFile) {
		differ("What it stands on (the workspace, the backend, the tool or the providers) is not that of the plan that was approved.")
	}
	if !sameFiles(approved.Files, now.Files) {
		differ("The configuration is not the one in the plan that was approved.")
	}
	was := map[string]tfplan.Change{}
	for _, c := range approved.Doc.Changes {
		was[c.Address] = c
	}
	does := map[string]bool{}
	var other []string
	for _, c := range now.Doc.Changes {
		if c.Act == tfplan.Read {
			continue
		}
		does[c.Address] = true
		w, known := was[c.Address]
		if !known || w.Act != c.Act || w.Values != c.Values || w.Previous != c.Previous || w.Importing != c.Importing || w.Deposed != c.Deposed {
			other = append(other, c.Address)
		}
	}
	if len(other) > 0 {
		slices.Sort(other)
		differ("Planned now, it would do something else to %s than was approved: what exists or the configuration moved.", prose.List(other))
	}
	if n := len(does); n > 2*max(len(part), 1) {
		differ("It takes along what depends on it: %d changes at once, where %d were to be made.", n, len(part))
	}
	var idle []string
	for _, a := range part {
		if !does[a] {
			idle = append(idle, a)
		}
	}
	if len(idle) > 0 {
		differ("Planned now, it would do nothing to %s: another run, or a person, was there.", prose.List(idle))
	}
	drift := map[string]bool{}
	for _, c := range approved.Doc.Drift {
		drift[c.Address] = true
	}
	for _, c := range now.Doc.Drift {
		if c.Act != tfplan.None && !drift[c.Address] {
			differ("%s was changed outside since the plan was approved.", steps.Clip(c.Address, 300))
			return
		}
	}
}

func sameFiles(a, b map[string][32]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for name, sum := range a {
		if b[name] != sum {
			return false
		}
	}
	return true
}

// batchRun is an act on its way from batch to batch.
type batchRun struct {
	g        ApplyBatchGate
	t        *applyInput
	approved *tfplan.Saved
	last     state.Snapshot // the state as the batch before left it
	done     map[string]bool
	after    []steps.KV
	out      steps.Sink
}

// Act implements steps.Gater. The approved plan is never applied itself: each batch is
// planned anew onto the state as the one before left it, and held to it.
func (g ApplyBatchGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	refused := func(why string) (steps.Outcome, error) {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was started: " + why}, nil
	}
	in, err := steps.ArgsOf[steps.Params](p)
	if err != nil {
		return refused(err.Error())
	}
	t, err := g.whole().read(ctx, in, out)
	if err != nil {
		return refused("the target could not be read again: " + err.Error())
	}
	size := int(in.Int("size"))
	if why := g.moved(p, t, in, size); why != "" {
		return refused(why)
	}
	file, drop, err := g.whole().exact(t)
	if err != nil {
		return refused(err.Error())
	}
	defer drop()
	approved, closer, err := plan.Approved(ctx, file)
	if err != nil {
		return refused(err.Error())
	}
	defer closer.Close()
	all := batches(approved.Doc, size)
	if request, _ := g.words(t, all); request != p.Request {
		return refused("the program would be started in another way than was shown")
	}
	r := &batchRun{g: g, t: t, approved: approved, last: t.state, done: map[string]bool{}, out: out}
	o, err := steps.Batch(ctx, batchItems(approved.Doc, all), func(i int) (steps.Outcome, error) { return r.one(ctx, all[i]) })
	o.After = r.after
	return o, err
}

func (g ApplyBatchGate) moved(p steps.Preview, t *applyInput, in steps.Params, size int) string {
	if why := g.whole().moved(steps.Preview{}, t, in); why != "" {
		return why
	}
	var needs []steps.Need
	f := floors{need: &needs}
	if f.parts(t.saved, size); len(needs) > 0 {
		return needs[0].Why
	}
	return movedSince(p, g.target(t, size))
}

// one plans, holds and applies one batch.
func (r *batchRun) one(ctx context.Context, part []string) (steps.Outcome, error) {
	refused := func(why string) (steps.Outcome, error) {
		return steps.Outcome{Result: steps.Refused, Response: "not started: " + why}, nil
	}
	part = slices.DeleteFunc(slices.Clone(part), func(a string) bool { return r.done[a] })
	if len(part) == 0 {
		return steps.Outcome{Result: steps.Done, Response: "Done together with what it depends on.", After: r.after}, nil
	}
	file, err := plan.Part(ctx, r.g.Env, r.t.w, r.t.s, r.t.program, r.approved, part, r.out)
	if err != nil {
		return refused(err.Error())
	}
	defer os.RemoveAll(filepath.Dir(file))
	in := r.t.params()
	in["plan"] = steps.PathOf(file)
	now, err := r.g.whole().read(ctx, in, r.out)
	if err != nil {
		return refused("the target could not be read again: " + err.Error())
	}
	if s := now.state; s.Serial != r.last.Serial || s.Lineage != r.last.Lineage || s.Exists != r.last.Exists {
		return refused(fmt.Sprintf("the state is not as the act left it: serial %s, then %s", serialOf(r.last), serialOf(s)))
	}
	var needs []steps.Need
	f := floors{need: &needs}
	f.plan(now, now.sum, Whole)
	if now.saved != nil {
		f.held(r.approved, now.saved, part)
	}
	f.bindings(now)
	f.free(r.g.Env, now)
	f.runs(r.g.Env, now)
	if len(needs) > 0 {
		return refused(needs[0].Why)
	}
	o, end, err := r.g.whole().perform(ctx, now, in, r.out)
	if end == nil || err != nil {
		return o, err
	}
	r.last, r.after = end.after.state, o.After
	for a, became := range end.tally() {
		if became == runlog.Complete || became == runlog.NoChange {
			r.done[a] = true
		}
	}
	return o, nil
}

// batchItems are the acts of a batch, for the record.
func batchItems(d *tfplan.Doc, all [][]string) (out []steps.Item) {
	does := map[string]string{}
	for _, c := range d.Changes {
		does[c.Address] = string(c.Act)
	}
	for i, part := range all {
		var said []string
		for _, a := range part {
			said = append(said, does[a]+" "+a)
		}
		out = append(out, steps.Item{Object: fmt.Sprintf("batch %d of %d", i+1, len(all)), Effect: strings.Join(said, ", "),
			Before: []steps.KV{{Key: keyAddresses, Value: list(part)}}})
	}
	return out
}

// Find implements steps.Finder: what is recorded is held against the approved plan.
func (g ApplyBatchGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.whole().Find(ctx, before, in, out)
}
