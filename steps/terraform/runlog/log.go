package runlog

import (
	"regexp"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/joblog"
)

// Log gathers what a log of one run says, line by line.
type Log struct {
	Started     int
	completed   int
	interrupted bool
	finished    bool
	last        string
	order       []string       // addresses in order of appearance
	Running     map[string]int // operations that started and did not complete
	done        map[string]bool
	Ends        map[string]int    // operations that completed: a replacement has two
	gone        map[string]bool   // the last one that completed destroyed it
	named       map[string]string // what an address stood for at its last end, as `id=X`
	Failed      map[string]bool
	inError     bool
	errText     strings.Builder
	errAddress  string
	Errors      []Error
	ErrorCount  int
	Interrupts  int
	Panicked    bool
	saveFailed  bool
	LostLock    bool
	waiting     map[string]time.Duration // longest progress line of what goes on
	stalled     int                      // progress lines since anything began or ended
	plan        []string                 // addresses that the plan in the log acts on
	inPlan      map[string]bool
	replaces    map[string]bool // of them, those that take two operations
	planWhole   bool            // the plan came to its end
	completion
}

// New returns a log that has no line yet.
func New() *Log {
	return &Log{Running: map[string]int{}, waiting: map[string]time.Duration{}, inPlan: map[string]bool{}, replaces: map[string]bool{},
		done: map[string]bool{}, Ends: map[string]int{}, gone: map[string]bool{}, named: map[string]string{}, Failed: map[string]bool{}}
}

// instance is an address with the mark of a deposed object.
const instance = `(` + joblog.Address + `(?: \(deposed object [0-9a-f]+\))?)`

// The forms of human output. A key may hold anything, so the grammar of addresses
// is what anchors them.
var (
	starts    = regexp.MustCompile(`^` + instance + `: (Creating|Modifying|Destroying|Importing)\.\.\.`)
	completes = regexp.MustCompile(`^` + instance + `: (Creation|Modifications|Destruction|Import) complete`)
	named     = regexp.MustCompile(` \[((?:id|name)=.*)\]$`) // at the end of a line that completes
	progress  = regexp.MustCompile(`^` + instance + `: Still (creating|modifying|destroying|importing)\.\.\. .*?\[(?:id=.*, )?([0-9hms]+) elapsed\]`)
	errWith   = regexp.MustCompile(`^\s*with (\S.*),$`)
	cutShort  = regexp.MustCompile(`^(Interrupt received\.|Two interrupts received\.|Stopping operation\.\.\.|Error: (execution halted|operation canceled|Execution halted|Operation cancell?ed))`)
	deposedAt = regexp.MustCompile(` \(deposed object [0-9a-f]+\)$`)
)

// Line takes a line of the tool itself, without a frame.
func (r *Log) Line(raw []byte) {
	if h, ok := hear(joblog.Plain(string(raw))); ok {
		r.take(h)
	}
}

func (r *Log) take(h logLine) {
	if h.event != nil {
		r.event(h.event)
		return
	}
	r.last = steps.Clip(h.text, 500)
	switch {
	case joblog.Quoted(h.text): // says what a provisioner says, whatever that looks like
	case strings.HasPrefix(h.text, "╷"), strings.HasPrefix(h.text, "╵"):
		r.closeError()
		r.boxed = strings.HasPrefix(h.text, "╷")
	case strings.HasPrefix(h.text, "│"):
		r.inBox(strings.TrimPrefix(strings.TrimPrefix(h.text, "│"), " "))
	default:
		r.human(h.text)
	}
}

// inBox takes a line of an error or a warning in its box.
func (r *Log) inBox(text string) {
	switch {
	case r.inError:
		r.inText(text)
	case strings.HasPrefix(text, "Error: "):
		r.begin(text)
	}
	r.boxed = true
}

// inText takes a line of the error that is open. It may quote anything.
func (r *Log) inText(text string) {
	r.more(text)
	r.saveFailed = r.saveFailed || reSave.MatchString(text)
	if m := errWith.FindStringSubmatch(text); m != nil && r.errAddress == "" {
		r.errAddress = deposedAt.ReplaceAllString(m[1], "")
		r.fail(m[1])
	}
}

func (r *Log) human(text string) {
	if r.boxed {
		r.closeError()
		r.boxed = false
	}
	switch {
	case strings.HasPrefix(text, "Error: "):
		r.begin(text)
	case strings.HasPrefix(text, "Warning: "):
		r.closeError()
	case crashed.MatchString(text):
		r.Panicked = true
	case r.inError:
		r.inText(text)
		if operates(text) || endings.MatchString(text) {
			r.doubt("the text of an error has the words of a run: it may quote one, or another run follows")
		}
	case r.outputs:
		r.inOutputs(text)
	case r.operation(text):
	case cutShort.MatchString(text):
		r.interrupt(text)
	default:
		r.planWhole = r.planWhole || planLine.MatchString(text)
		r.saveFailed = r.saveFailed || strings.Contains(text, "state") && reSave.MatchString(text)
		if m := planned.FindStringSubmatch(text); m != nil {
			r.plans(m[1], strings.Contains(m[2], "replaced"))
		}
		r.bounds(text)
	}
}

// operation takes a line of an operation on a resource; false when it is none.
func (r *Log) operation(text string) bool {
	if hinted(text, "ing...") {
		if m := starts.FindStringSubmatch(text); m != nil {
			r.start(m[1])
			return true
		}
		if m := progress.FindStringSubmatch(text); m != nil {
			r.still(m[1], elapsedOf(m[3]))
			return true
		}
	}
	if hinted(text, " complete") {
		if m := completes.FindStringSubmatch(text); m != nil {
			stood := ""
			if n := named.FindStringSubmatch(text); n != nil {
				stood = n[1]
			}
			r.complete(m[1], m[2] == "Destruction", stood)
			return true
		}
	}
	return false
}

// End settles what only the whole log can say: a run with a fatal error does
// not count as finished.
func (r *Log) End() {
	r.closeError()
	if r.interrupted && len(r.Failed) > 0 {
		r.finished = false
	}
}
