package change

import (
	"handrail/steps"
	"handrail/steps/terraform/holder"
)

// living refuses whatever writes a state or applies a plan while a run of that
// state, or what one left behind, is alive on this machine.
func (f floors) living(r holder.Scan) {
	for _, p := range holder.Few(append(r.Holders[:len(r.Holders):len(r.Holders)], r.Later...)) {
		f.unmet("let it end first", "A run is active in the directory: process %d runs %s.", p.PID, p.Described())
	}
	f.leftBehind(r)
}

// leftBehind refuses while a plugin or a child of a dead run lives: what it does
// next, no lock keeps from the state and the objects.
func (f floors) leftBehind(r holder.Scan) {
	for _, p := range holder.Few(r.Plugins) {
		f.unmet(holder.HowToEnd(p), "The provider plugin %d is alive without its run and may still change the world: %s.", p.PID, p.Described())
	}
	for _, p := range holder.Few(r.Children) {
		f.unmet(holder.HowToEnd(p), "Process %d is what a run left behind, and may still change the world: %s.", p.PID, p.Described())
	}
	if n := len(r.Plugins) + len(r.Children); n > len(holder.Few(r.Plugins))+len(holder.Few(r.Children)) {
		f.unmet("let them end, then look again with terraform/holder", "%d processes in all outlived their run.", n)
	}
}

// around looks for runs of the state on this machine once for each reading of
// the site; what cannot be looked at is told, since the lock speaks for it too.
func (t site) around(env steps.Env) (holder.Scan, string) {
	if !t.near.done {
		t.near.done = true
		r, err := holder.Look(env, t.w, holder.Suspect{})
		t.near.scan, t.near.gap = r, r.Blind
		if err != nil {
			t.near.gap = err.Error()
		}
	}
	return t.near.scan, t.near.gap
}

// surroundings is what a process table said.
type surroundings struct {
	done bool
	scan holder.Scan
	gap  string // why it may have missed something
}
