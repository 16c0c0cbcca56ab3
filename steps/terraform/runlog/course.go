package runlog

import "strings"

func (r *Log) see(addr string) string {
	addr = deposedAt.ReplaceAllString(addr, "")
	if _, known := r.Running[addr]; !known {
		r.Running[addr] = 0
		r.order = append(r.order, addr)
	}
	return addr
}

// interrupt counts how often a run was asked to stop: the second time it drops
// what is in flight.
func (r *Log) interrupt(text string) {
	r.interrupted = true
	r.Interrupts = max(r.Interrupts, 1)
	if strings.HasPrefix(text, "Two interrupts") {
		r.Interrupts = 2
	}
}

func (r *Log) start(addr string) {
	deposed := deposedAt.MatchString(addr)
	addr = r.see(addr)
	if r.Running[addr] > 0 && !deposed {
		r.doubt("it starts twice what has not ended: " + addr)
	}
	r.stalled = 0
	r.Started++
	r.Running[addr]++
}

func (r *Log) complete(addr string, destroyed bool, stood string) {
	deposed := deposedAt.MatchString(addr)
	addr = r.see(addr)
	r.completed++
	r.stalled = 0
	delete(r.waiting, addr)
	if r.Running[addr] == 0 {
		r.doubt("it completes what it does not start: " + addr)
	}
	r.Running[addr] = max(0, r.Running[addr]-1)
	r.done[addr] = true
	r.Ends[addr]++
	if !deposed {
		r.gone[addr], r.named[addr] = destroyed, stood
	}
}

// fail counts only what had begun: an error may name any resource.
func (r *Log) fail(addr string) {
	addr = deposedAt.ReplaceAllString(addr, "")
	if r.Running[addr] > 0 {
		r.Failed[addr] = true
	}
}
