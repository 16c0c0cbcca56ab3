package runlog

import (
	"encoding/json"
	"strings"

	"handrail/steps/joblog"
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

// operates reports whether a line is of an operation on a resource.
func operates(text string) bool {
	return hinted(text, "ing...") && (starts.MatchString(text) || progress.MatchString(text)) || hinted(text, " complete") && completes.MatchString(text)
}

// hinted lets most lines pass by the expressions.
func hinted(text, hint string) bool {
	return strings.Contains(text, ": ") && strings.Contains(text, hint)
}

// uiEvent is one line of -json output.
type uiEvent struct {
	Message string `json:"@message"`
	Type    string `json:"type"`
	Hook    struct {
		Resource struct {
			Addr string `json:"addr"`
		} `json:"resource"`
		Action  string  `json:"action"`
		IDKey   string  `json:"id_key"`
		IDValue string  `json:"id_value"`
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
		Add       int    `json:"add"`
		Change    int    `json:"change"`
		Import    int    `json:"import"`
		Remove    int    `json:"remove"`
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

// readEvent reads a line of -json output, nil when it is none.
func readEvent(line string) *uiEvent {
	var e uiEvent
	if json.Unmarshal([]byte(line), &e) != nil || e.Type == "" && e.Message == "" {
		return nil
	}
	return &e
}

// begins reports whether an event stands before the operations of its run.
func (e *uiEvent) begins() bool {
	return e.Type == "version" || e.Type == "planned_change" || e.Type == "refresh_start" || e.Type == "change_summary" && e.Changes.Operation == "plan"
}

func (e *uiEvent) operates() bool {
	return e.Type == "apply_start" || e.Type == "apply_complete" || e.Type == "apply_errored" || e.Type == "apply_progress"
}

func (e *uiEvent) finishes() bool {
	return e.Type == "change_summary" && (e.Changes.Operation == "apply" || e.Changes.Operation == "destroy")
}
