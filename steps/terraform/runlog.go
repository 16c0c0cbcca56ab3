package terraform

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runLog gathers what a log of an apply says, line by line.
type runLog struct {
	started     int
	completed   int
	interrupted bool
	finished    bool
	last        string
	order       []string       // addresses in order of appearance
	running     map[string]int // operations that started and did not complete
	done        map[string]bool
	ends        map[string]int // operations that completed: a replacement has two
	failed      map[string]bool
	inError     bool
	errText     strings.Builder
	errAddress  string
	errors      []logError
	errorCount  int
	interrupts  int
	panicked    bool
	saveFailed  bool
	lostLock    bool
	waiting     map[string]time.Duration // longest progress line of what goes on
	stalled     int                      // progress lines since anything began or ended
	plan        []string                 // addresses that the plan in the log acts on
	inPlan      map[string]bool
	planWhole   bool // the plan came to its end
}

func newRunLog() *runLog {
	return &runLog{running: map[string]int{}, waiting: map[string]time.Duration{}, inPlan: map[string]bool{}, done: map[string]bool{}, ends: map[string]int{}, failed: map[string]bool{}}
}

// The forms of human output. Addresses may hold spaces inside quoted keys, so
// the verb is what anchors them.
var (
	ansiCodes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")
	starts    = regexp.MustCompile(`^(\S.*?): (Creating|Modifying|Destroying|Importing|Opening|Closing)\.\.\.`)
	completes = regexp.MustCompile(`^(\S.*?): (Creation|Modifications|Destruction|Import) complete`)
	errWith   = regexp.MustCompile(`^\s*with (\S.*),$`)
	endings   = regexp.MustCompile(`^(Apply|Destroy) complete! `)
	cutShort  = regexp.MustCompile(`^(Interrupt received\.|Two interrupts received\.|Stopping operation\.\.\.|Error: (execution halted|operation canceled|Execution halted|Operation cancell?ed))`)
	deposedAt = regexp.MustCompile(` \(deposed object [0-9a-f]+\)$`)
)

func (r *runLog) line(raw []byte) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '{' && r.event(trimmed) {
		return
	}
	text := string(ansiCodes.ReplaceAll(raw, nil))
	if stamp := ciStamp.FindString(text); stamp != "" {
		text = text[len(stamp):]
		if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && r.event([]byte(trimmed)) {
			return
		}
	}
	if i := strings.LastIndexByte(strings.TrimRight(text, "\r"), '\r'); i >= 0 {
		text = text[i+1:]
	}
	text = strings.TrimRight(text, " \t\r")
	if strings.TrimSpace(text) == "" {
		return
	}
	r.last = clip(text, 500)
	bare := text
	for _, mark := range []string{"│", "╷", "╵"} {
		bare = strings.TrimPrefix(bare, mark)
	}
	if bare != text {
		bare = strings.TrimPrefix(bare, " ")
	}
	r.human(bare)
}

func (r *runLog) human(text string) {
	switch {
	case cutShort.MatchString(text):
		r.interrupt(text)
		if strings.HasPrefix(text, "Error: ") {
			r.begin(text)
		}
	case endings.MatchString(text):
		r.finished = true
	case strings.HasPrefix(text, "Error: "):
		r.begin(text)
	case strings.HasPrefix(text, "Warning: "):
		r.closeError()
	case crashed.MatchString(text):
		r.panicked = true
	case planLine.MatchString(text):
		r.planWhole = true
	case text == "╵":
		r.closeError()
	default:
		r.more(text)
	}
	r.saveFailed = r.saveFailed || reSave.MatchString(text)
	if m := errWith.FindStringSubmatch(text); m != nil && r.inError {
		r.errAddress = deposedAt.ReplaceAllString(m[1], "")
		r.fail(m[1])
	} else if m := completes.FindStringSubmatch(text); m != nil {
		r.complete(m[1])
	} else if m := progress.FindStringSubmatch(text); m != nil {
		r.still(m[1], elapsedOf(m[3]))
	} else if m := starts.FindStringSubmatch(text); m != nil && m[2] != "Opening" && m[2] != "Closing" {
		r.start(m[1])
	} else if m := planned.FindStringSubmatch(text); m != nil {
		r.plans(m[1])
	}
}

// interrupt counts how often a run was asked to stop: the second time it drops
// what is in flight.
func (r *runLog) interrupt(text string) {
	r.interrupted = true
	r.interrupts = max(r.interrupts, 1)
	if strings.HasPrefix(text, "Two interrupts") {
		r.interrupts = 2
	}
}

// event reads one line of -json output; false when it is none.
func (r *runLog) event(raw []byte) bool {
	var e struct {
		Message string `json:"@message"`
		Type    string `json:"type"`
		Hook    struct {
			Resource struct {
				Addr string `json:"addr"`
			} `json:"resource"`
			Elapsed float64 `json:"elapsed_seconds"`
		} `json:"hook"`
		Change struct {
			Resource struct {
				Addr string `json:"addr"`
			} `json:"resource"`
			Action string `json:"action"`
		} `json:"change"`
		Changes struct {
			Operation string `json:"operation"`
		} `json:"changes"`
		Diagnostic struct {
			Severity string `json:"severity"`
			Summary  string `json:"summary"`
			Detail   string `json:"detail"`
			Address  string `json:"address"`
			Range    struct {
				Filename string `json:"filename"`
				Start    struct {
					Line int `json:"line"`
				} `json:"start"`
			} `json:"range"`
		} `json:"diagnostic"`
	}
	if json.Unmarshal(raw, &e) != nil || (e.Type == "" && e.Message == "") {
		return false
	}
	r.closeError()
	if e.Message != "" {
		r.last = clip(e.Message, 500)
	}
	switch addr := e.Hook.Resource.Addr; e.Type {
	case "apply_start":
		r.start(addr)
	case "apply_complete":
		r.complete(addr)
	case "apply_errored":
		r.fail(addr)
	case "apply_progress":
		r.still(addr, elapsedSeconds(e.Hook.Elapsed))
	case "planned_change":
		switch e.Change.Action {
		case "create", "update", "replace", "delete", "import":
			r.plans(e.Change.Resource.Addr)
		}
	case "change_summary":
		r.finished = r.finished || e.Changes.Operation == "apply" || e.Changes.Operation == "destroy"
		r.planWhole = r.planWhole || e.Changes.Operation == "plan"
	}
	for line := range strings.Lines(e.Message) {
		if line = strings.TrimSpace(line); cutShort.MatchString(line) {
			r.interrupt(line)
		}
		r.panicked = r.panicked || crashed.MatchString(line)
	}
	if d := e.Diagnostic; d.Severity == "error" || d.Severity == "" && d.Summary != "" {
		if cutShort.MatchString("Error: " + d.Summary) {
			r.interrupt(d.Summary)
		}
		place := ""
		if d.Range.Filename != "" {
			place = d.Range.Filename + ":" + strconv.Itoa(d.Range.Start.Line)
		}
		r.fault(strings.Join(strings.Fields(clip(d.Summary+" "+d.Detail, maxErrorText)), " "), d.Address, place)
		r.fail(d.Address)
	}
	return true
}

func (r *runLog) see(addr string) string {
	addr = deposedAt.ReplaceAllString(addr, "")
	if _, known := r.running[addr]; !known {
		r.running[addr] = 0
		r.order = append(r.order, addr)
	}
	return addr
}

func (r *runLog) start(addr string) {
	r.stalled = 0
	r.started++
	r.running[r.see(addr)]++
}

func (r *runLog) complete(addr string) {
	addr = r.see(addr)
	r.completed++
	r.stalled = 0
	delete(r.waiting, addr)
	r.running[addr] = max(0, r.running[addr]-1)
	r.done[addr] = true
	r.ends[addr]++
}

// fail counts only what had begun: an error may name any resource.
func (r *runLog) fail(addr string) {
	addr = deposedAt.ReplaceAllString(addr, "")
	if r.running[addr] > 0 {
		r.failed[addr] = true
	}
}

// end settles what only the whole log can say: a run with a fatal error does
// not count as finished.
func (r *runLog) end() {
	r.closeError()
	if r.interrupted && len(r.failed) > 0 {
		r.finished = false
	}
}

// addresses returns those with a completed operation, and those with one that
// never completed.
func (r *runLog) addresses() (done, open []string) {
	for _, a := range r.order {
		if r.done[a] {
			done = append(done, a)
		}
		if r.running[a] > 0 {
			open = append(open, a)
		}
	}
	slices.Sort(done)
	slices.Sort(open)
	return done, open
}
