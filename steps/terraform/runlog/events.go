package runlog

import (
	"strconv"
	"strings"

	"handrail/steps"
)

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
