package drills

import (
	"slices"

	"handrail/drills/stage"
)

// here reports whether gates of a kind write files of this machine alone: the lab
// sees nothing of them.
func here(kind string) bool { return kind == "terraform/pause" || kind == "terraform/resume" }

// program reports whether gates of a kind run a program on the state of the
// drill's module. It sends requests of its own, under names that the gate does not
// know.
func program(kind string) bool {
	return slices.Contains([]string{
		"terraform/apply-plan", "terraform/apply-refresh", "terraform/apply-targeted", "terraform/apply-batches", "terraform/import", "terraform/import-batch",
		"terraform/restore-state", "terraform/state-mv", "terraform/state-rm",
	}, kind)
}

// may is what an act may write besides its target: the state of the module and its
// lock, and what the drill says of this gate. The incident has no say in it.
func (r *Running) may(a act) []string {
	if !program(a.kind) || r.stage.Rec.Suffix == "" {
		return nil
	}
	in := r.stage.Rec.Namespace.Name + "/"
	out := []string{"secrets " + in + "tfstate-default-" + r.stage.Rec.Suffix, "leases " + in + "lock-tfstate-default-" + r.stage.Rec.Suffix}
	for _, object := range r.scene.writes[stage.StepName(a.step)] {
		out = append(out, object.plural+" "+in+object.name)
	}
	return out
}
