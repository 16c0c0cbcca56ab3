package change

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tool"
)

const planAgain = "plan again, and have the new plan approved"

// plan holds the file to its digest, to what can be shown of it and to the mode.
func (f floors) plan(t *applyInput, digest string, mode planMode) {
	if t.lost != "" {
		f.unmet("restore what was recorded first, with the runbook state-corruption", "The state has 0 bytes, and %s.", strings.TrimSuffix(t.lost, "."))
	}
	if t.planErr != nil {
		f.unmet("make the plan again with terraform/saved-plan", "The plan cannot be read: %v.", t.planErr)
	}
	if t.sum != digest {
		f.unmet(planAgain, "The file is not the plan that was approved: its SHA-256 is %s, not %s.", prose.OrUnknown(t.sum), digest)
	}
	if t.saved == nil {
		return
	}
	d := t.saved.Doc
	if why := plan.Incomplete(t.saved, mode == RefreshOnly); why != "" {
		f.unmet(planAgain, "The plan cannot be applied from here: %s.", why)
	}
	if n := d.Destroyed() + d.Count[tfplan.Forget] + d.Count[tfplan.ForgetReplace]; n > maxDoomed {
		f.unmet("split the change, so that a person can read what ends", "The plan ends or drops %d objects, more than the %d that can be listed and read.", n, maxDoomed)
	}
	switch {
	case actsOf(d) == 0 && drifted(d) == 0 && d.Outputs == 0:
		f.unmet("nothing is to be done", "The plan would change nothing.")
	case t.saved.Idle:
		f.unmet("nothing is to be done, or plan in the other mode", "The tool itself calls the plan not applyable, and would refuse it: Terraform applies no refresh that found nothing but other outputs.")
	}
	switch mode {
	case RefreshOnly:
		if n := actsOf(d); n > 0 {
			f.unmet("use terraform/apply-plan, which shows them", "The plan acts on %d objects, so it is not one that only writes the state.", n)
		}
	case Targeted:
		f.within(d, t.addresses)
	}
}

// actsOf counts what a plan would do to resources; reads change nothing.
func actsOf(d *tfplan.Doc) int {
	n := 0
	for _, c := range d.Changes {
		if c.Act != tfplan.Read {
			n++
		}
	}
	return n
}

// within refuses what the plan would do to any address but those of the list.
func (f floors) within(d *tfplan.Doc, allowed []string) {
	var out []string
	for _, c := range d.Changes {
		if c.Act == tfplan.Read {
			continue
		}
		if !covered(c.Address, allowed) || c.Previous != "" && !covered(c.Previous, allowed) {
			out = append(out, c.Address)
		}
	}
	if len(out) > 0 {
		slices.Sort(out) // a plan file has them in no order
		f.unmet("plan again for these addresses alone, or name the others too", "The plan acts outside of the list, on %s.", prose.List(out))
	}
}

// covered reports whether an address is one of the list, or an instance or a
// part of a module of it.
func covered(address string, allowed []string) bool {
	for _, a := range allowed {
		if address == a || a != "" && strings.HasPrefix(address, a) && (address[len(a)] == '[' || address[len(a)] == '.' && strings.HasPrefix(a, "module.")) {
			return true
		}
	}
	return false
}

// bindings refuses where anything that the plan was made from moved, or where
// that cannot be told.
func (f floors) bindings(t *applyInput) {
	if t.saved == nil {
		return
	}
	words := []struct{ fact, moved string }{
		{"state_bound", "The state is not the one that the plan was made from: serial or lineage moved. The tool would refuse it as stale."},
		{"content_bound", "The state has the serial of the plan and records something else: two writers collided. The tool would take the plan all the same, and overwrite the state with the plan's own copy. (A provider whose schema changed since the state was written looks alike: terraform/plan-file says what differs.)"},
		{"config_bound", "The configuration in the plan is not the one in the directory."},
		{"providers_bound", "The lock file of the providers is not the one that the plan was made with."},
		{"workspace_bound", "The plan is for another workspace or another backend."},
		{"tool_bound", "The plan was made by another version of the tool than the one that is here."},
	}
	stale := t.bound.Got("state_bound").Text() == "moved"
	for _, w := range words {
		v := t.bound.Got(w.fact)
		switch {
		case !v.Known():
			f.unmet("mend what could not be read, then preview again", "Whether %s still holds cannot be told: %s.", strings.TrimSuffix(w.fact, "_bound"), v.Why())
		case v.Text() == "moved" && (w.fact != "content_bound" || !stale):
			why := w.moved
			if w.fact == "tool_bound" && t.toolErr == nil {
				why = fmt.Sprintf("Version %s made the plan, and %s is here: only the very version that made a plan applies it.", t.saved.Doc.Tool, t.program)
			}
			if changes := t.bound.Got("config_changes").Strings(); w.fact == "config_bound" && len(changes) > 0 {
				why += fmt.Sprintf(" %s, first %s.", prose.Plural(len(changes), "difference"), changes[0])
			}
			f.unmet(planAgain, "%s", why)
		}
	}
}

// free refuses while another run goes on, or a pause stands.
func (f floors) free(env steps.Env, t *applyInput) {
	if t.lock.Unread != "" && !unseen(t.lock) {
		f.unmet("apply it where the lock is taken and seen, in your pipeline", "Whether the state is locked cannot be read: %s.", t.lock.Unread)
	}
	if t.lock.Held {
		who := "someone"
		if t.lock.Info != nil {
			who = prose.OrUnknown(t.lock.Info.Who)
		}
		f.unmet("let that run end, or find out whether its holder lives", "The lock is held as %s by %s.", prose.OrUnknown(t.lock.ID), who)
	}
	if who := module.PausedByOthers(env, t.w.Dir); who != "" {
		f.unmet("ask them to resume it first", "Applies here are paused by %s.", who)
	}
	if t.w.Backend == "cloud" || t.w.Backend == "remote" {
		f.unmet("apply on that server", "Backend %s runs applies on its own server, not from a file.", t.w.Backend)
	}
}

// runs refuses where the program cannot run, or should not beside what runs
// there. The lock speaks for other machines; where the process table of this one
// cannot be read, the preview says so.
func (f floors) runs(env steps.Env, t *applyInput) {
	if t.toolErr != nil {
		f.unmet("install the tool that made the plan, or name it with --program", "There is no program to apply with: %v.", t.toolErr)
	}
	if err := tool.Trusted(env, t.w.Dir); err != nil {
		f.unmet("trust the directory once, after a look at its configuration", "Programs may not run there: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	f.living(t.scan)
}
