package runlog

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/joblog"
	"handrail/steps/terraform/prose"
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

// logLine is one line of a run: an event of -json output, or text.
type logLine struct {
	event *uiEvent
	text  string
}

// hear reads a line without its frame; false for an empty one.
func hear(line string) (logLine, bool) {
	if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "{") {
		if e := readEvent(trimmed); e != nil {
			return logLine{event: e}, true
		}
	}
	// What a terminal would have overwritten is not there, but for what a
	// provisioner prints: it must not write over the address before it.
	line = strings.TrimRight(line, " \t\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 && !joblog.Quoted(line) {
		line = line[i+1:]
	}
	return logLine{text: line}, strings.TrimSpace(line) != ""
}

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

// operates reports whether a line is of an operation on a resource.
func operates(text string) bool {
	return hinted(text, "ing...") && (starts.MatchString(text) || progress.MatchString(text)) || hinted(text, " complete") && completes.MatchString(text)
}

// hinted lets most lines pass by the expressions.
func hinted(text, hint string) bool {
	return strings.Contains(text, ": ") && strings.Contains(text, hint)
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

func (r *Log) see(addr string) string {
	addr = deposedAt.ReplaceAllString(addr, "")
	if _, known := r.Running[addr]; !known {
		r.Running[addr] = 0
		r.order = append(r.order, addr)
	}
	return addr
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

// End settles what only the whole log can say: a run with a fatal error does
// not count as finished.
func (r *Log) End() {
	r.closeError()
	if r.interrupted && len(r.Failed) > 0 {
		r.finished = false
	}
}

// addresses returns those of which all that began has completed, and those with
// an operation that never did.
func (r *Log) addresses() (done, open []string) {
	for _, a := range r.order {
		if r.Running[a] > 0 {
			open = append(open, a)
		} else if r.done[a] && !r.half(a) {
			done = append(done, a)
		}
	}
	slices.Sort(done)
	slices.Sort(open)
	return done, open
}

// half reports whether an address is between the two operations of a replacement.
func (r *Log) half(a string) bool { return r.replaces[a] && r.Ends[a] == 1 }

// standing returns the addresses that exist by the log, and those that it ended.
// What is under way, failed or half replaced is of neither.
func (r *Log) standing() (present, destroyed []string) {
	done, _ := r.addresses()
	for _, a := range done {
		switch {
		case r.Failed[a]:
		case r.gone[a]:
			destroyed = append(destroyed, a)
		default:
			present = append(present, a)
		}
	}
	return present, destroyed
}

// ids are the ids of those addresses whose object the log names by its id.
func (r *Log) ids(addresses []string) map[string]string {
	out := map[string]string{}
	for _, a := range addresses {
		if id, ok := strings.CutPrefix(r.named[a], "id="); ok && id != "" {
			out[a] = id
		}
	}
	return out
}

// objects are the addresses that exist by the log, each with what it stood for then.
func (r *Log) objects() []string {
	present, _ := r.standing()
	for i, a := range present {
		present[i] = prose.Object(a, r.named[a])
	}
	return present
}
