package plan

import (
	"fmt"
	"os"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/tool"
)

// newPlanSlot is a file in memory that only the program inherits: it is gone with
// the two processes, however they end.
func newPlanSlot(env steps.Env) (planSlot, error) {
	sweepSlots(os.TempDir(), time.Now().Add(-slotFor))
	f, err := tool.MemoryFile()
	if err != nil {
		return planSlot{}, fmt.Errorf("place for the plan: %w", err)
	}
	return planSlot{path: "/proc/self/fd/3", files: []*os.File{f}, end: func() { _ = f.Close() }}, nil
}
