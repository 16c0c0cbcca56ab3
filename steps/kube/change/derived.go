package change

import (
	"strings"

	"handrail/steps"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// rewritten: none of the fields was rewritten by another client a moment ago. Such
// a field is what a controller makes of something else; what is written into it
// lasts until its next pass.
func (pl *alterPlan) rewritten(ops []patch.Op) {
	if _, why := pl.c.Now(); why != "" {
		pl.unmet("set the clock right, then preview again", "Whether what the patch is about is being rewritten is not known: %s.", report.Ended(why))
		return
	}
	var pointers []string
	for _, op := range ops {
		pointers = append(pointers, strings.TrimSuffix(op.Path, "/-"))
	}
	for _, doubt := range pl.derived(pl.subject, pointers) {
		pl.show("written at an unknown time", "%s", steps.Clip(doubt, 300))
	}
}

// derived refuses to change what is being rewritten: the change would be gone
// before the person has looked at it.
func (f floors) derived(s *subject, pointers []string) (doubts []string) {
	now, clockless := s.c.Now()
	fields, doubts := blame.DerivedFields(s.o, pointers, now, clockless)
	for _, d := range fields {
		f.unmet("change what it is made from: kube/writers lists who writes it, kube/catch shows their rhythm; stop the writer first if there is no input",
			"%s of %s was rewritten less than a minute ago by %s: it is derived state, and a change of it would not last.", d.Field, s.t, d.Writer)
	}
	return doubts
}
