package runbooks

import (
	"regexp"
	"testing"
)

// TestSameSecondIsNotOlder: some backends keep the time of a write in whole seconds. What was
// written in the second of a moment is not older than it.
func TestSameSecondIsNotOlder(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	older := regexp.MustCompile(`\.written <=? `)
	for _, rb := range lib {
		for _, m := range older.FindAllString(string(rb.Source), -1) {
			t.Errorf("%s says %q; a second belongs between", rb.ID, m)
		}
	}
}
