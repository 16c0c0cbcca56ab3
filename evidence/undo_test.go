package evidence

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

func TestWriteUndo(t *testing.T) {
	t.Parallel()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "undo")
	const raw = "data:\n  password: hunter2hunter2\n"
	u, err := WriteUndo(dir, []string{id.Recipient().String()}, strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(u.Path)
	if err != nil || sumHex(stored) != u.SHA256 || strings.Contains(string(stored), "hunter2") || u.Bytes != "33" {
		t.Fatalf("WriteUndo = %+v, stored %d bytes, %v", u, len(stored), err)
	}
	f, err := os.Open(u.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	clear, err := age.Decrypt(f, id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(clear); err != nil || string(got) != raw {
		t.Errorf("decrypted %q, %v", got, err)
	}
	if _, err := WriteUndo(dir, nil, strings.NewReader(raw)); !errors.Is(err, ErrNoRecipient) {
		t.Errorf("without a recipient: %v", err)
	}
	if _, err := WriteUndo(dir, []string{"age1nobody"}, strings.NewReader(raw)); err == nil {
		t.Error("a broken recipient is taken")
	}
	broken := io.MultiReader(strings.NewReader(raw), failing{})
	if _, err := WriteUndo(dir, []string{id.Recipient().String()}, broken); err == nil {
		t.Error("half of a source is kept")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v; want the good one", len(left), err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("cut off") }
