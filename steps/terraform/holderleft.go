package terraform

import (
	"fmt"

	"handrail/steps"
)

// endIt is what to do about a process that outlived its run.
func endIt(p process) string {
	return fmt.Sprintf("see what it did last (ps -o pid,ppid,lstart,args -p %d), then let it end or end it (kill %d) and look again", p.pid, p.pid)
}

// mostNamed bounds how many processes a gate names one by one.
const mostNamed = 4

func firstFew(list []process) []process { return list[:min(len(list), mostNamed)] }

// rows show what was left behind, and what merely is there.
func (r scan) rows() []steps.KV {
	var out []steps.KV
	for _, p := range firstFew(append(r.plugins[:len(r.plugins):len(r.plugins)], r.children...)) {
		out = append(out, steps.KV{Key: "left behind", Value: fmt.Sprintf("process %d: %s", p.pid, p.described())})
	}
	for _, p := range firstFew(r.sitting) {
		out = append(out, steps.KV{Key: "is there too", Value: fmt.Sprintf("process %d: %s", p.pid, p.described())})
	}
	return out
}
