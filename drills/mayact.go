package drills

import (
	"slices"

	"handrail/drills/stage"
)

// unseen reports whether gates of a kind write where the lab has no audit log: files of this
// machine, a forge, or a store of objects. What those have is a condition of the drill.
func unseen(kind string) bool {
	return slices.Contains([]string{"terraform/pause", "terraform/resume", "forge/propose", "forge/comment", "store/policy", "store/canary"}, kind)
}

// program reports whether gates of a kind run a program on the state of the
// drill's module. It sends requests of its own, under names that the gate does not
// know.
func program(kind string) bool {
	return slices.Contains([]string{
		"terraform/apply-plan", "terraform/apply-refresh", "terraform/apply-targeted", "terraform/apply-batches", "terraform/import", "terraform/import-batch",
		"terraform/restore-state", "terraform/state-mv", "terraform/state-rm",
	}, kind)
}

// stateAlone reports whether gates of a kind write the state, and no object.
func stateAlone(kind string) bool {
	return program(kind) && kind != "terraform/apply-plan" && kind != "terraform/apply-targeted" && kind != "terraform/apply-batches"
}

// may is what an act may write besides its target: the state of the module and its
// lock, and what the drill says of this gate. The incident has no say in it.
func (r *Running) may(a act) []string {
	unlocks := a.kind == "terraform/force-unlock"
	if !program(a.kind) && !unlocks || r.stage.Rec.Suffix == "" {
		return nil
	}
	in := r.stage.Rec.Namespace.Name + "/"
	out := []string{storedState + " " + r.stage.Rec.Suffix}
	if b := r.stage.Rec.Bucket; b != nil {
		out = append(out, storedObject+" "+b.Name+"/"+b.Key, storedObject+" "+b.Name+"/"+b.Key+".tflock")
	}
	if unlocks { // the gate names what it releases
		return out[:1]
	}
	out = append(out, "secrets "+in+"tfstate-default-"+r.stage.Rec.Suffix, "leases "+in+"lock-tfstate-default-"+r.stage.Rec.Suffix)
	for _, object := range r.scene.writes[stage.StepName(a.step)] {
		out = append(out, object.plural+" "+in+object.name)
	}
	return out
}
