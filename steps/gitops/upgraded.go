package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/change"
	"handrail/steps/kube/report"
)

// upgraded is what an upgrade of a release comes to: what the chart makes now, held against Helm's record of the release
// in force. It is not rehearsed: the patch that Helm sends is made of its record, the chart and what is live, and not of
// the chart alone. What was changed live in a field that the chart leaves as it was is told and not counted: whether Helm
// takes it back depends on its version, and on how the release was applied first.
func upgraded(p change.Plan, r *desiredRun) changes {
	if r.release == nil {
		p.Show("Git", "not compared: Helm's record of the release in force could not be read")
		return changes{}
	}
	ch := changes{rendered: true}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(r.sides)) {
		s := r.sides[name]
		switch {
		case s.unread != "" || s.unsaid != "":
			ch.untried++
			why := s.unread + s.unsaid
			p.Show("not known "+name, "%s", report.Ended(steps.Clip(why, 300)))
			fmt.Fprintf(sum, "%q unread\n", name)
			continue
		case len(s.varies) > 0:
			ch.untried++
			p.Show("not known "+name, "its chart makes something else at each rendering: %s", strings.Join(few(slices.Sorted(maps.Keys(s.varies))), ", "))
		case s.desired == nil && s.recorded != nil && s.actual != nil:
			ch.pruned = append(ch.pruned, name)
		}
		var say, live []string
		for _, l := range s.lines() {
			fmt.Fprintf(sum, "%q %q %q %q\n", l.object, l.at, l.desired, l.actual)
			if l.moved == movedLive {
				ch.perhaps++
				live = append(live, fmt.Sprintf("%s is %s live, %s in the chart", l.at, steps.Clip(l.actual, 80), steps.Clip(l.desired, 80)))
				continue
			}
			ch.fields++
			text := fmt.Sprintf("%s %s -> %s", l.at, steps.Clip(l.actual, 80), steps.Clip(l.desired, 80))
			if l.moved == movedBoth {
				ch.back++
				text += " (changed live)"
			}
			say = append(say, text)
		}
		if len(say) > 0 {
			p.Show("change "+name, "%s", strings.Join(few(say), "; "))
		}
		if len(live) > 0 {
			p.Show("may go back "+name, "%s", strings.Join(few(live), "; "))
		}
	}
	for _, i := range r.hooks {
		of, _, _ := r.resourceOf(r.wanted.Objects[i])
		ch.hooks = append(ch.hooks, of.String())
		fmt.Fprintf(sum, "hook %q\n", of)
	}
	p.Hold(keyChanges, hex.EncodeToString(sum.Sum(nil))[:12])
	return ch
}
