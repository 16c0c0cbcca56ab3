package runlog

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/joblog"
)

// maxRuns bounds the runs of a log that are told apart.
const maxRuns = 1000

// runLogs are the runs of one log, which may hold several: an init before an
// apply, a retry after it, or runs of several jobs beside each other.
type runLogs struct {
	frame  *joblog.Frame
	runs   []*Log
	by     map[string]*Log // the one of each source that goes on
	last   string
	open   bool // its last line has no end
	doubts string
}

func newRunLogs(f *joblog.Frame) *runLogs {
	return &runLogs{frame: f, by: map[string]*Log{}, doubts: f.Unclear()}
}

// line takes a line of the log with its frame.
func (l *runLogs) line(raw string, how joblog.End) {
	text, from, framed := l.frame.Strip(raw)
	if how == joblog.Long && l.doubts == "" {
		l.doubts = "it has a line that is too long to be read whole"
	}
	l.open = how == joblog.Open
	h, ok := hear(text)
	if !ok {
		return
	}
	if h.event == nil && l.doubts == "" && !strings.HasPrefix(h.text, "│") && leftAway(h.text) && !joblog.Quoted(h.text) {
		l.doubts = "it says that lines were left away"
	}
	if !framed { // not of the program
		l.last = steps.Clip(h.text, 500)
		return
	}
	r := l.by[from]
	if r == nil || r.another(h) {
		if len(l.runs) == maxRuns {
			l.doubts = "it holds more runs than are told apart"
			return
		}
		if r != nil {
			r.End()
		}
		r = New()
		l.runs, l.by[from] = append(l.runs, r), r
	}
	r.take(h)
	l.last = r.last
}

// end settles every run.
func (l *runLogs) end() {
	for _, r := range l.by {
		if r.heredoc != "" {
			r.doubt("it breaks off inside an output")
		}
		if r.inError && (r.boxed || l.open) {
			r.doubt("it breaks off inside an error")
		}
		r.End()
	}
}

// busy are the runs that may have changed something.
func (l *runLogs) busy() []*Log {
	return slices.DeleteFunc(slices.Clone(l.runs), func(r *Log) bool { return !r.busy() })
}

// one is the log as one run: the only one that changed something, or the last.
// What others say of errors and ends is added to it.
func (l *runLogs) one() *Log {
	out := New()
	if busy := l.busy(); len(busy) > 0 {
		out = busy[len(busy)-1]
	} else if n := len(l.runs); n > 0 {
		out = l.runs[n-1]
	}
	var errs []Error
	count := 0
	for _, r := range l.runs {
		errs, count = append(errs, r.Errors[:min(len(r.Errors), maxErrors-len(errs))]...), count+r.ErrorCount
		if r != out {
			out.Interrupts, out.interrupted = max(out.Interrupts, r.Interrupts), out.interrupted || r.interrupted
			out.Panicked, out.saveFailed, out.LostLock = out.Panicked || r.Panicked, out.saveFailed || r.saveFailed, out.LostLock || r.LostLock
		}
	}
	out.Errors, out.ErrorCount = errs, count
	return out
}

// lacks says why what the log does not show may have happened all the same, "".
func (l *runLogs) lacks() string {
	if l.doubts != "" {
		return l.doubts
	}
	if len(l.runs) == 0 {
		return "it is empty"
	}
	for _, r := range l.runs {
		if why := r.lacks(); why != "" {
			return why
		}
	}
	return ""
}

// operations counts what began and what completed, over all runs. A last line
// that counts more than the log shows is believed.
func (l *runLogs) operations() (started, completed int) {
	for _, r := range l.runs {
		n := max(r.completed, r.reported)
		started, completed = started+max(r.Started, n), completed+n
	}
	return started, completed
}
