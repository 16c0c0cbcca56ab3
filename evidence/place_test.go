package evidence

import (
	"strings"
	"testing"
)

// TestRemoteIsWrittenDown: a bundle on a network file system works, and says so to the operator and in the journal.
func TestRemoteIsWrittenDown(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	if b.Warning() != "" && b.remote == "" {
		t.Errorf("a local disk warns: %s", b.Warning())
	}
	b.remote = "nfs"
	b.owe("filesystem", "nfs")
	if !strings.Contains(b.Warning(), "network or shared file system (nfs)") {
		t.Errorf("Warning = %q", b.Warning())
	}
	if e := note(t, b, "after"); e.Seq != 2 {
		t.Errorf("the note has number %d, want 2 behind the env entry", e.Seq)
	}
	got, err := entriesOf(t, b.Path())
	if err != nil || got[1].Type != "env" || string(got[1].Data) != `{"filesystem":"nfs"}` {
		t.Errorf("entries %+v, %v", got, err)
	}
}
