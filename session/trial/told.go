package trial

import (
	"maps"

	"handrail/steps"
)

// Told is what a read of a step tells in a case; false where the case records nothing for it,
// so that it cannot be read.
func (c *Case) Told(step string) (map[string]steps.Value, bool) {
	v, ok := c.values[step]
	return maps.Clone(v), ok && c.Fails[step] == ""
}
