package report

import (
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// TestDrawing: the lines of a graph stay lines, and are no row of the facts.
func TestDrawing(t *testing.T) {
	t.Parallel()
	m := map[string]triage.Value{"graph": steps.StringsOf([]string{"┌─ 1 quota", "└▶ 2 init"}), "first": steps.StringOf("quota")}
	if got := drawingOf(m); got != "┌─ 1 quota\n└▶ 2 init" {
		t.Errorf("drawing %q", got)
	}
	if got := factsOf(m); len(got) != 1 || got[0].Name != "first" {
		t.Errorf("facts %+v", got)
	}
	m["graph"] = steps.Unknown(steps.Strings, "not read")
	if got := drawingOf(m); got != "" || len(factsOf(m)) != 2 {
		t.Errorf("of an unknown one: %q", got)
	}
}
