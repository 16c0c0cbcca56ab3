package change

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfplan"
)

// Limits of what a preview of an apply lists. What is destroyed or replaced is
// listed whole, or the gate stays shut.
const (
	maxDoomed = 500
	maxActs   = 500
	maxFixed  = 40
)

// phrase names the plan, and how much it destroys.
func (t *applyInput) phrase() string {
	p := steps.Phrase("apply", t.sum[:min(12, len(t.sum))])
	if t.saved == nil {
		return p
	}
	if n := t.saved.Doc.Destroyed(); n > 0 {
		p += fmt.Sprintf(" destroying %d", n)
	}
	return p
}

func (t *applyInput) effect(mode planMode) string {
	if t.saved == nil {
		return "apply the plan " + t.name
	}
	d := t.saved.Doc
	if mode == RefreshOnly {
		return fmt.Sprintf("write what was found of %d objects into the state of %s. Nothing outside of the state is changed.", drifted(d), t.where)
	}
	s := fmt.Sprintf("create %d, change %d, destroy %d and replace %d objects of %s", d.Count[tfplan.Create]+d.Count[tfplan.ForgetReplace], d.Count[tfplan.Update], d.Count[tfplan.Delete], d.Replaced(), t.w.Dir)
	if n := d.Imported; n > 0 {
		s += fmt.Sprintf(", import %d", n)
	}
	if n := d.Count[tfplan.Forget]; n > 0 {
		s += fmt.Sprintf(", drop %d from the state", n)
	}
	return s + ". It takes the lock, and ends when the program ends: it may take hours, and an interrupt leaves part of it done."
}

func drifted(d *tfplan.Doc) int {
	n := 0
	for _, c := range d.Drift {
		if c.Act != tfplan.None {
			n++
		}
	}
	return n
}

// diff lists what the plan would do, what ends first.
func (t *applyInput) diff() []string {
	var ends, rest []string
	for _, c := range t.saved.Doc.Changes {
		name := c.Address
		if c.Deposed != "" {
			name += " (deposed " + c.Deposed + ")"
		}
		if c.Previous != "" {
			name += " (moved from " + c.Previous + ")"
		}
		if c.Importing != "" {
			name += " (imported, id " + c.Importing + ")"
		}
		why := tfplan.Reason(c)
		if len(c.Forced) > 0 {
			why += ": " + strings.Join(c.Forced, ", ")
		}
		switch c.Act {
		case tfplan.Delete:
			ends = append(ends, "- destroy "+name+": "+why)
		case tfplan.Replace:
			ends = append(ends, "- destroy, then make anew "+name+": "+why)
		case tfplan.ReplaceSafer:
			ends = append(ends, "- make anew, then destroy "+name+": "+why)
		case tfplan.Forget:
			ends = append(ends, "- drop from the state and keep "+name)
		case tfplan.ForgetReplace:
			ends = append(ends, "- make anew, and keep the old object unmanaged "+name)
		case tfplan.Create:
			rest = append(rest, "+ create "+name)
		case tfplan.Update:
			rest = append(rest, "~ change "+name)
		case tfplan.None:
			rest = append(rest, "  record "+name)
		}
	}
	slices.Sort(ends)
	slices.Sort(rest)
	for _, c := range t.saved.Doc.Drift {
		if c.Act != tfplan.None {
			rest = append(rest, "  found changed outside, and recorded so: "+c.Address+" ("+string(c.Act)+")")
		}
	}
	if over := len(rest) - maxActs; over > 0 {
		rest = append(rest[:maxActs], fmt.Sprintf("  and %d more that end nothing", over))
	}
	return append(ends[:min(len(ends), maxDoomed)], rest...)
}

// alone is what the plan fixes, where there is no other plan to hold it against. What has
// a row of its own is left out.
func (t *applyInput) alone() []steps.KV {
	out := slices.DeleteFunc(slices.Clone(t.fixed), func(kv steps.KV) bool { return !strings.HasPrefix(kv.Key, "variable ") && kv.Key != "replace" })
	if over := len(out) - maxFixed; over > 0 {
		out = append(out[:maxFixed], steps.KV{Key: "variables", Value: fmt.Sprintf("%d more are in the facts of the plan", over)})
	}
	return out
}

func (t *applyInput) shown(env steps.Env) []steps.KV {
	kvs := append(guard(t.lock), []steps.KV{
		{Key: "made", Value: prose.OrUnknown(t.saved.Created) + " by version " + prose.OrUnknown(t.saved.Doc.Tool)},
		{Key: "mode", Value: t.saved.Mode},
	}...)
	if len(t.saved.Targets) > 0 {
		kvs = append(kvs, steps.KV{Key: "made for", Value: strings.Join(t.saved.Targets, ", ") + " alone"})
	}
	switch {
	case t.valuesErr != nil:
		kvs = append(kvs, steps.KV{Key: "values compared", Value: "no: " + t.valuesErr.Error()})
	case t.values != "" && len(t.changes) == 0:
		kvs = append(kvs, steps.KV{Key: "values compared", Value: "all are those of " + t.values})
	}
	kvs = append(kvs, t.changes...)
	if t.values == "" {
		kvs = append(kvs, t.alone()...)
	}
	if n := t.saved.Doc.Outputs; n > 0 {
		kvs = append(kvs, steps.KV{Key: "outputs that change", Value: fmt.Sprint(n)})
	}
	if n := t.saved.Doc.Deferred; n > 0 {
		kvs = append(kvs, steps.KV{Key: "deferred", Value: prose.Plural(n, "change") + " that this plan does not make: " + prose.OrUnknown(prose.List(t.saved.Doc.Later))})
	}
	if t.pause.By(env) {
		kvs = append(kvs, steps.KV{Key: "pause", Value: "yours: " + t.pause.Whose()})
	}
	warn := func(why ...string) {
		for _, w := range why {
			kvs = append(kvs, steps.KV{Key: "mind", Value: w})
		}
	}
	if t.toolErr == nil {
		warn(t.program.Mixed(t.w, t.doc.Providers, t.doc.Tool)...)
	}
	for _, w := range module.Wrappers(t.w.Dir) {
		warn(w.Say())
	}
	warn(module.Dropped(env)...)
	kvs = append(kvs, t.scan.Rows()...)
	for _, gap := range t.obs.Gaps {
		kvs = append(kvs, steps.KV{Key: "not checked", Value: gap})
	}
	return kvs
}
