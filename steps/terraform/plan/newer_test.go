package plan

import (
	"slices"
	"testing"
)

// TestNewerIn: a sentence that begins like the refusal takes no address away from it.
func TestNewerIn(t *testing.T) {
	t.Parallel()
	says := "Error: Unreadable\n\nThe current state of a.b is unknown.\n\nError: Resource instance managed by newer provider version\n\n" +
		"The current state of m.x[\"two words\"] was created by\na newer provider version than is currently selected. Upgrade.\n"
	if got, want := newerIn([]byte(says)), []string{`m.x["two words"]`}; !slices.Equal(got, want) {
		t.Errorf("newerIn() = %q, want %q", got, want)
	}
}
