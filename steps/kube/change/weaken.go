package change

import (
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
	"handrail/steps/kube/weaken"
)

// mostWeak bounds what a gate says of one change: more than that is no one
// repair.
const mostWeak = 8

// weakenFields are the parameters by which a runbook says that its repair takes
// something away or opens something, and where.
func weakenFields() []steps.Field {
	const grammar = `/|(/[^/\s]+)+`
	return []steps.Field{
		{Name: string(weaken.Removes), Type: steps.Strings, Literal: true, Pattern: grammar,
			Doc: "places that this repair may take something away from, as /spec/hard/pods, * for any one part; nothing else may be removed or emptied"},
		{Name: string(weaken.Widens), Type: steps.Strings, Literal: true, Pattern: grammar,
			Doc: "places that this repair may open further, as /roleRef; nothing else may be opened"},
	}
}

// holdsTo refuses what a change takes away or opens, unless the runbook says that
// this is the repair; what it says stands on the gate.
func (f floors) holdsTo(p *steps.Preview, in steps.Params, t cluster.Target, changes []weaken.Change) {
	told := 0
	for _, c := range changes {
		does := "opens"
		if c.Sort == weaken.Removes {
			does = "takes away"
		}
		if declares(in, c) {
			p.Shown = append(p.Shown, steps.KV{Key: "what it " + does, Value: fmt.Sprintf("%s, as the runbook says: %s", c.Path, steps.Clip(c.Why, 300))})
			continue
		}
		if told++; told > mostWeak {
			continue
		}
		cure := fmt.Sprintf("leave %s as it is, or change it where %s is made; a runbook whose repair this is says so in its step, by %s: [%s]", c.Path, t, c.Sort, c.Path)
		if c.Never {
			cure = fmt.Sprintf("change it where %s is made, with a review; no gate does it", t)
		}
		f.unfit(cure, "The change %s %s of %s: %s.", does, c.Path, t, report.Ended(steps.Clip(c.Why, 300)))
	}
	if told > mostWeak {
		f.unfit("make one repair at a time", "The change takes away or opens %d more places of %s.", told-mostWeak, t)
	}
}

func declares(in steps.Params, c weaken.Change) bool {
	for _, declared := range in[string(c.Sort)].Strings() {
		if weaken.Covers(strings.TrimSpace(declared), c) {
			return true
		}
	}
	return false
}

// weakens judges what operations make of an object.
func (pl *alterPlan) weakens(doc map[string]any, resolved []patch.Op) error {
	changed, err := patch.Apply(doc, resolved)
	if err != nil {
		pl.unfit("read the object again, and write the patch for what it holds", "The patch does not fit %s: %v.", pl.t, err)
		return nil
	}
	before, err := plainDoc(doc)
	if err != nil {
		return err
	}
	after, err := plainDoc(changed)
	if err != nil {
		return err
	}
	pl.holdsTo(pl.p, pl.in, pl.t, weaken.Judge(weaken.Kind{Group: pl.t.Group, Kind: pl.t.Kind}, before, after))
	return nil
}

// plainDoc has every number in the form in which a server sends it.
func plainDoc(doc map[string]any) (map[string]any, error) {
	raw, err := act.Compact(doc)
	if err != nil {
		return nil, err
	}
	return patch.Decode(raw)
}
