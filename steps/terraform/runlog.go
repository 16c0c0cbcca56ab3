package terraform

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
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
	failed      map[string]bool
	inError     bool
}

func newRunLog() *runLog {
	return &runLog{running: map[string]int{}, done: map[string]bool{}, failed: map[string]bool{}}
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
		r.interrupted = true
	case endings.MatchString(text):
		r.finished = true
	case strings.HasPrefix(text, "Error: "):
		r.inError = true
	case strings.HasPrefix(text, "Warning: "):
		r.inError = false
	}
	if m := errWith.FindStringSubmatch(text); m != nil && r.inError {
		r.fail(m[1])
	} else if m := completes.FindStringSubmatch(text); m != nil {
		r.complete(m[1])
	} else if m := starts.FindStringSubmatch(text); m != nil && m[2] != "Opening" && m[2] != "Closing" {
		r.start(m[1])
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
		} `json:"hook"`
		Changes struct {
			Operation string `json:"operation"`
		} `json:"changes"`
		Diagnostic struct {
			Summary string `json:"summary"`
		} `json:"diagnostic"`
	}
	if json.Unmarshal(raw, &e) != nil || (e.Type == "" && e.Message == "") {
		return false
	}
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
	case "change_summary":
		r.finished = r.finished || e.Changes.Operation == "apply" || e.Changes.Operation == "destroy"
	}
	for line := range strings.Lines(e.Message) {
		r.interrupted = r.interrupted || cutShort.MatchString(strings.TrimSpace(line))
	}
	r.interrupted = r.interrupted || cutShort.MatchString("Error: "+e.Diagnostic.Summary)
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
	r.started++
	r.running[r.see(addr)]++
}

func (r *runLog) complete(addr string) {
	addr = r.see(addr)
	r.completed++
	r.running[addr] = max(0, r.running[addr]-1)
	r.done[addr] = true
}

// fail counts only what had begun: an error may name any resource.
func (r *runLog) fail(addr string) {
	if r.running[addr] > 0 {
		r.failed[addr] = true
	}
}

// end settles what only the whole log can say: a run with a fatal error does
// not count as finished.
func (r *runLog) end() {
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
