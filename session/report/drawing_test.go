package report

import (
	"encoding/json"
	"testing"

	"handrail/triage"
)

// TestDrawing: the lines of a graph stay lines, and are no row of the facts.
func TestDrawing(t *testing.T) {
	t.Parallel()
	m := map[string]triage.Value{"graph": {T: "strings", V: json.RawMessage(`["┌─ 1 quota","└▶ 2 init"]`)}, "first": {T: "string", V: json.RawMessage(`"quota"`)}}
	if got := drawingOf(m); got != "┌─ 1 quota\n└▶ 2 init" {
		t.Errorf("drawing %q", got)
	}
	if got := factsOf(m); len(got) != 1 || got[0].Name != "first" {
		t.Errorf("facts %+v", got)
	}
	m["graph"] = triage.Value{T: "strings", Unknown: "not read"}
	if got := drawingOf(m); got != "" || len(factsOf(m)) != 2 {
		t.Errorf("of an unknown one: %q", got)
	}
}
