package change

import (
	"context"
	"fmt"
	"strconv"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
)

// Act implements steps.Gater. It works from the approved preview alone: it reads
// everything once more, replaces what no program can read, and pushes.
func (g RestoreGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir))}
	if v := steps.Find(p.Target, keyVersion); v != "" {
		in["version"] = steps.StringOf(v)
	}
	if v := steps.Find(p.Target, keyFile); v != "" {
		in["file"] = steps.PathOf(v)
	}
	r, err := g.read(ctx, in, out)
	refuse := func(why string) (steps.Outcome, error) {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + why}, nil
	}
	if err != nil {
		return refuse("the target could not be read again: " + err.Error())
	}
	if why := unsent(p, r.preview(g.Env), nil); why != "" {
		return refuse(why)
	}
	content, err := reserial(r.from.Raw, r.pushed())
	if err != nil {
		return refuse(err.Error())
	}
	first := ""
	if r.mend != nil {
		out.Line(r.mend.Request)
		if first, err = r.mend.Do(ctx); err != nil {
			now, readErr := g.read(context.WithoutCancel(ctx), in, out)
			if readErr != nil || now.now.Sum() != r.now.Sum() {
				return steps.Outcome{}, fmt.Errorf("what cannot be read was to be replaced: %w; whether it was is not known, look at the state", err)
			}
			return steps.Outcome{Result: steps.Failed, Response: "The state is as it was: " + err.Error(), After: now.target()}, nil
		}
		first += "\n"
	}
	said, runErr := writeTool(ctx, g.Env, r.site, content, out, "state", "push", "-no-color", "-")
	now, err := readAfter(ctx, g.Env, p, said, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	c := r.change(now)
	o := steps.Outcome{After: now.target()}
	o.Result, o.Response = c.judge(now, first+said, runErr)
	return o, nil
}

// change is what a restore should have done.
func (r restoreInput) change(now site) change {
	c := change{lineage: r.from.Doc.Lineage, loose: true}
	if r.now.Doc != nil {
		c.serial = r.now.Doc.Serial
	}
	d := state.Compare(r.from.Entries, now.now.Entries)
	c.done = d.None() && now.now.Doc.OutputSum == r.from.Doc.OutputSum
	c.what = fmt.Sprintf("The state records what %s does, %d resources.", r.name(), r.from.Doc.Managed)
	c.not = fmt.Sprintf("The state does not record what %s does.", r.name())
	switch serial := now.now.Doc.Serial; {
	case !c.done && (now.now.Sum() != r.now.Sum() || r.now.Broken):
		c.other = d.String()
	case c.done && serial < r.pushed() && r.mend != nil:
		c.what += " It was replaced where no program could read it; the push after that did not come."
	case c.done && serial > r.pushed()+mostLeap:
		c.other = fmt.Sprintf("serial %d is above what this write leaves, someone else wrote it too", serial)
	}
	return c
}

// Find implements steps.Finder.
func (g RestoreGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := readAgain(ctx, g.Env, before, in, out)
	o := steps.Outcome{After: t.target()}
	switch {
	case err != nil && t.now.Broken && !t.lock.Held && t.now.Sum() == steps.Find(before, keyBytes):
		o.Result, o.Response = steps.Failed, "The state is as it was and cannot be read: "+err.Error()
		return o, nil
	case err != nil && t.now.Broken && !t.lock.Held:
		o.Result, o.Response = steps.Failed, "The state still cannot be read, and has other bytes than before: "+err.Error()+". Restore it again."
		return o, nil
	case err != nil:
		return steps.Outcome{}, fmt.Errorf("the state after the restore: %w", err)
	}
	want, err := strconv.ParseInt(steps.Find(before, keyPushed), 10, 64)
	if err != nil {
		return steps.Outcome{}, fmt.Errorf("the serial that was to be written is not known: %w", err)
	}
	name := steps.Find(before, keyVersion) + steps.Find(before, keyFile)
	serial := t.now.Doc.Serial
	same := state.Sum(t.now.Entries) == steps.Find(before, keyContent)
	switch {
	case t.lock.Digest == "mismatch":
		o.Result, o.Response = steps.Failed, fmt.Sprintf("The state has serial %d, and the digest in the table is not that of it: no program can open it. Restore it again.", serial)
	case same && serial >= want && serial <= want+mostLeap:
		o.Result, o.Response = steps.Done, fmt.Sprintf("The state records what %s does, as serial %d.", name, serial)
	case same && serial == want-1:
		o.Result, o.Response = steps.Done, fmt.Sprintf("The state records what %s does, as serial %d: it was replaced where it could not be read, and the push after that did not come. Plan.", name, serial)
	case t.now.Sum() == steps.Find(before, keyBytes):
		o.Result, o.Response = steps.Failed, fmt.Sprintf("The state is as it was, serial %d.", serial)
	case serial > want+mostLeap:
		o.Result, o.Response = steps.Failed, fmt.Sprintf("The state has serial %d, above the %d of the restore: someone else wrote it since. Compare the versions.", serial, want)
	default:
		o.Result, o.Response = steps.Failed, fmt.Sprintf("The state has serial %d and records neither what it did nor what %s does: someone else wrote it.", serial, name)
	}
	return o, nil
}
