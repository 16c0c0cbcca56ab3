package escrow

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
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
	if err != nil || fmt.Sprintf("%x", sha256.Sum256(stored)) != u.SHA256 || strings.Contains(string(stored), "hunter2") || u.Bytes != "33" {
		t.Fatalf("WriteUndo = %+v, stored %d bytes, %v", u, len(stored), err)
	}
	f, err := os.Open(u.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
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

// TestEncrypt gives back to a recipient what was written, and nothing that was not finished.
func TestEncrypt(t *testing.T) {
	t.Parallel()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, finished := range []bool{true, false} {
		var out bytes.Buffer
		w, err := Encrypt(&out, []string{id.Recipient().String()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, strings.Repeat("a secret line\n", 10_000)); err != nil {
			t.Fatal(err)
		}
		if finished {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		clear, err := age.Decrypt(bytes.NewReader(out.Bytes()), id)
		var got []byte
		if err == nil {
			got, err = io.ReadAll(clear)
		}
		if finished != (err == nil && len(got) == 140_000) || bytes.Contains(out.Bytes(), []byte("a secret")) {
			t.Errorf("finished %v: %d bytes back, %v", finished, len(got), err)
		}
	}
	if _, err := Encrypt(io.Discard, nil); !errors.Is(err, ErrNoRecipient) {
		t.Errorf("without a recipient: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("cut off") }
