package holder

import (
	"fmt"

	"handrail/steps"
)

// HowToEnd is what to do about a process that outlived its run.
func HowToEnd(p Process) string {
	return fmt.Sprintf("see what it did last (ps -o pid,ppid,lstart,args -p %d), then let it end or end it (kill %d) and look again", p.PID, p.PID)
}

// mostNamed bounds how many processes a gate names one by one.
const mostNamed = 4

// Few are the first of a list, as many as a gate names.
func Few(list []Process) []Process { return list[:min(len(list), mostNamed)] }

// Rows show what was left behind, and what merely is there.
func (r Scan) Rows() []steps.KV {
	var out []steps.KV
	for _, p := range Few(append(r.Plugins[:len(r.Plugins):len(r.Plugins)], r.Children...)) {
		out = append(out, steps.KV{Key: "left behind", Value: fmt.Sprintf("process %d: %s", p.PID, p.Described())})
	}
	for _, p := range Few(r.Sitting) {
		out = append(out, steps.KV{Key: "is there too", Value: fmt.Sprintf("process %d: %s", p.PID, p.Described())})
	}
	return out
}
