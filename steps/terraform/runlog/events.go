package runlog

import (
	"encoding/json"
	"strconv"
	"strings"

	"handrail/steps"
)

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

func (r *Log) event(e *uiEvent) {
	r.closeError()
	if e.Message != "" {
		r.last = steps.Clip(e.Message, 500)
	}
	r.begun = r.begun || e.begins()
	switch addr := e.Hook.Resource.Addr; e.Type {
	case "apply_start":
		r.start(addr)
	case "apply_complete":
		stood := ""
		if e.Hook.IDKey != "" && e.Hook.IDValue != "" {
			stood = e.Hook.IDKey + "=" + e.Hook.IDValue
		}
		r.complete(addr, e.Hook.Action == "delete", stood)
	case "apply_errored":
		r.fail(addr)
	case "apply_progress":
		r.still(addr, elapsedSeconds(e.Hook.Elapsed))
	case "planned_change":
		switch e.Change.Action {
		case "create", "update", "replace", "delete", "import":
			r.plans(e.Change.Resource.Addr, e.Change.Action == "replace")
		}
	case "change_summary":
		r.planWhole = r.planWhole || e.Changes.Operation == "plan"
		if e.finishes() {
			r.finish(e.Changes.Add + e.Changes.Change + e.Changes.Import + e.Changes.Remove)
		}
	}
	if !strings.HasPrefix(e.Type, "provision_") { // what a provisioner prints is a quotation
		for line := range strings.Lines(e.Message) {
			if line = strings.TrimSpace(line); cutShort.MatchString(line) {
				r.interrupt(line)
			}
			r.Panicked = r.Panicked || crashed.MatchString(line)
		}
	}
	if d := e.Diagnostic; d.Severity == "error" || d.Severity == "" && d.Summary != "" {
		if cutShort.MatchString("Error: " + d.Summary) {
			r.interrupt(d.Summary)
		}
		place := ""
		if d.Range.Filename != "" {
			place = d.Range.Filename + ":" + strconv.Itoa(d.Range.Start.Line)
		}
		r.fault(strings.Join(strings.Fields(steps.Clip(d.Summary+" "+d.Detail, maxErrorText)), " "), d.Address, place)
		r.fail(d.Address)
	}
}
