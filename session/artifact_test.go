package session_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/session/journal"
	"handrail/session/replay"
	"handrail/session/view"
	"handrail/triage"
)

// TestOpenArtifact reads a stored artifact in windows, from the session and from its replay, and follows no name out of
// the bundle.
func TestOpenArtifact(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"}); err != nil {
		t.Fatal(err)
	}
	snap := quiet(t, s)
	var blob view.BlobRef
	for _, bs := range snap.Blobs {
		for _, b := range bs {
			if b.Size > 1 {
				blob = b
			}
		}
	}
	if blob.SHA == "" {
		t.Fatalf("nothing was stored: %+v", snap.Blobs)
	}
	tape, err := replay.Open(snap.Bundle, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(snap.Bundle, "blobs", "sha256", blob.SHA[:2], blob.SHA))
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string) (journal.Artifact, error){"session": s.OpenArtifact, "replay": tape.OpenArtifact} {
		a, err := open(blob.SHA)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(io.NewSectionReader(a, 1, a.Size()))
		if err != nil || string(got) != string(want[1:]) || a.Size() != blob.Size {
			t.Errorf("%s: %q of %d bytes, %v; want %q", name, got, a.Size(), err, want[1:])
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"", "../../bundle.json", strings.Repeat("0", 64)} {
			if _, err := open(bad); err == nil {
				t.Errorf("%s opens %q", name, bad)
			}
		}
	}
}
