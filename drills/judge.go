package drills

import (
	"context"
	"fmt"
)

// ConditionResult is one win condition and whether it holds.
type ConditionResult struct {
	Condition string `json:"condition"`
	Holds     bool   `json:"holds"`
	Why       string `json:"why,omitempty"` // what was read, or why it cannot be told
}

// Judgement says whether a drill is won.
type Judgement struct {
	Won        bool              `json:"won"`
	Conditions []ConditionResult `json:"conditions"`
}

// Judge reads the lab anew as robot and judges the win conditions. The bundle
// has no say. A condition that cannot be told does not hold; the error means
// that the judging was cut off.
func (r *Running) Judge(ctx context.Context) (Judgement, error) {
	vars := map[string]any{}
	for name, v := range r.stage.Rec.Values {
		vars["drill."+name] = celValue(v)
	}
	unknown := ""
	for _, p := range r.scene.win.probes {
		facts, err := read(ctx, &r.stage, p.reading)
		if ctx.Err() != nil {
			return Judgement{}, context.Cause(ctx)
		}
		if err != nil {
			unknown += fmt.Sprintf("; %s: %v", p.name, err)
		}
		for name, v := range facts {
			if v.Known() {
				vars["facts."+p.name+"."+name] = celValue(v)
			}
		}
	}
	j := Judgement{Won: true}
	for _, c := range r.scene.win.all {
		out := ConditionResult{Condition: c.text}
		val, _, err := c.program.Eval(vars)
		if err != nil {
			out.Why = "cannot be told: " + err.Error() + unknown
		} else {
			out.Holds, _ = val.Value().(bool)
		}
		j.Won = j.Won && out.Holds
		j.Conditions = append(j.Conditions, out)
	}
	return j, nil
}
