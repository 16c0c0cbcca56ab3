package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/holder"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/runlog"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
	"handrail/steps/terraform/tool"
)

// readRecorded reads lock and state as they are now.
func readRecorded(ctx context.Context, s backend.Store) (*recordedState, error) {
	n := &recordedState{recorded: map[string]bool{}, deposed: map[string]int{}}
	var err error
	if n.lock, err = s.Lock(ctx); err != nil {
		return nil, err
	}
	if n.state, err = state.Snap(ctx, s); err != nil {
		return nil, err
	}
	r, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	if n.where = r.Where; !r.Exists {
		return n, nil
	}
	defer r.Body.Close()
	_, err = tfstate.Read(module.Until(ctx, r.Body), tfstate.Options{Visit: func(i *tfstate.Instance) error {
		switch {
		case i.Deposed != "":
			n.deposed[i.Address]++
		case i.Mode == "managed":
			n.recorded[i.Address] = i.Status == "tainted"
		}
		return nil
	}})
	return n, err
}

// Find implements steps.Finder: what an apply came to whose end was not recorded.
// Its log is lost with who followed it; the lock says whether it goes on, and the
// record what was saved.
func (g ApplyGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	in := steps.Params{"dir": steps.PathOf(steps.Find(before, module.KeyDir)), "workspace": steps.StringOf(steps.Find(before, module.KeyWorkspace))}
	w, s, err := backend.OpenAt(ctx, g.Env, in, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	n, err := readRecorded(ctx, s)
	if err != nil {
		return steps.Outcome{}, err
	}
	if n.where != steps.Find(before, keyStateObject) || n.lock.Where != steps.Find(before, keyLock) {
		return steps.Outcome{}, fmt.Errorf("the state is %q now, the act was on %q: go back to where it was", n.where, steps.Find(before, keyStateObject))
	}
	if n.lock.Held {
		return steps.Outcome{}, fmt.Errorf("%w, or another run began: the lock is held as %s; wait for its end, and if its holder is dead, release it first", tool.ErrStillRuns, prose.OrUnknown(n.lock.ID))
	}
	r, err := holder.Look(g.Env, w, holder.Suspect{})
	if err := ended(n.lock, before, r, err); err != nil {
		return steps.Outcome{}, err
	}
	if err == nil {
		for _, p := range slices.Concat(r.Holders, r.Plugins, r.Children) {
			return steps.Outcome{}, fmt.Errorf("%w, or a part of it: process %d runs %s", tool.ErrStillRuns, p.PID, p.Described())
		}
	}
	o := steps.Outcome{Result: steps.Failed, After: []steps.KV{
		{Key: keyStateObject, Value: n.where}, {Key: keySerial, Value: serialOf(n.state)}, {Key: keyLineage, Value: n.state.Lineage}, {Key: "lock", Value: lockWord(n.lock)},
	}}
	was := steps.Find(before, keySerial)
	if serialOf(n.state) == was && n.state.Lineage == steps.Find(before, keyLineage) {
		o.Response = "The state is as it was, at serial " + was + ", and the lock is " + lockWord(n.lock) + ": nothing was recorded. What the run made before it died may exist all the same: compare the record with the real objects before anything is applied again."
		return o, nil
	}
	file, sum, saved, err := plan.OpenSaved(ctx, steps.Find(before, keyPlan))
	if err != nil || sum != steps.Find(before, keyPlanSum) {
		return steps.Outcome{}, fmt.Errorf("the state went from serial %s to %s, and the plan that would say how far it came is gone; plan anew, and record what you find as a note", was, serialOf(n.state))
	}
	defer file.Close()
	return n.found(o, saved.Doc, was), nil
}

// found holds what is recorded against what the plan was to do.
func (n *recordedState) found(o steps.Outcome, d *tfplan.Doc, was string) steps.Outcome {
	shown, open := map[string]bool{}, map[string]bool{}
	blind := 0
	for _, c := range d.Changes {
		switch c.Act {
		case tfplan.Read:
			continue
		case tfplan.Update, tfplan.Replace, tfplan.ReplaceSafer:
			// The address is there before and after.
			blind++
			continue
		}
		if operations(c.Act) == 0 && recordOnly(c, n) == runlog.Complete || operations(c.Act) > 0 && n.shows(c) {
			shown[c.Address] = true
		} else {
			open[c.Address] = true
		}
	}
	o.Response = fmt.Sprintf("The run wrote: serial %s, then %s, and the lock is %s.", was, strconv.FormatInt(n.state.Serial, 10), lockWord(n.lock))
	switch {
	case len(open) > 0:
		o.Response += fmt.Sprintf("\nRecorded: %s.\nNot recorded: %s; they may exist all the same.", orNothing(shown), orNothing(open))
	case blind > 0:
		o.Response += fmt.Sprintf("\nAll that it was to create, destroy or record is recorded. Whether its %s in place came to their end is not seen from the record: plan anew.", prose.Plural(blind, "change"))
	default:
		o.Result = steps.Done
		o.Response += "\nAll that it was to do is recorded."
	}
	return o
}

func orNothing(set map[string]bool) string {
	if len(set) == 0 {
		return "nothing"
	}
	return prose.List(slices.Sorted(maps.Keys(set)))
}
