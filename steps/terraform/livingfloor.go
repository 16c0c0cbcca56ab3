package terraform

import (
	"handrail/steps"
)

// living refuses whatever writes a state or applies a plan while a run of that
// state, or what one left behind, is alive on this machine.
func (f floors) living(r scan) {
	for _, p := range firstFew(append(r.holders[:len(r.holders):len(r.holders)], r.later...)) {
		f.unmet("let it end first", "A run is active in the directory: process %d runs %s.", p.pid, p.described())
	}
	f.leftBehind(r)
}

// leftBehind refuses while a plugin or a child of a dead run lives: what it does
// next, no lock keeps from the state and the objects.
func (f floors) leftBehind(r scan) {
	for _, p := range firstFew(r.plugins) {
		f.unmet(endIt(p), "The provider plugin %d is alive without its run and may still change the world: %s.", p.pid, p.described())
	}
	for _, p := range firstFew(r.children) {
		f.unmet(endIt(p), "Process %d is what a run left behind, and may still change the world: %s.", p.pid, p.described())
	}
	if n := len(r.plugins) + len(r.children); n > len(firstFew(r.plugins))+len(firstFew(r.children)) {
		f.unmet("let them end, then look again with terraform/holder", "%d processes in all outlived their run.", n)
	}
}

// around looks for runs of the state on this machine once for each reading of
// the site; what cannot be looked at is told, since the lock speaks for it too.
func (t site) around(env steps.Env) (scan, string) {
	if !t.near.done {
		t.near.done = true
		r, err := scanHolder(env, t.w, suspect{})
		t.near.scan, t.near.gap = r, r.blind
		if err != nil {
			t.near.gap = err.Error()
		}
	}
	return t.near.scan, t.near.gap
}

// surroundings is what a process table said.
type surroundings struct {
	done bool
	scan scan
	gap  string // why it may have missed something
}
