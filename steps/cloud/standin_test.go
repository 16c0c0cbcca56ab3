package cloud

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// gitObjects writes a commit with one file, as git names and packs them, and lets main be it.
func gitObjects(t *testing.T, dir string) {
	t.Helper()
	put := func(kind, body string) [20]byte {
		raw := fmt.Appendf(nil, "%s %d\x00%s", kind, len(body), body)
		sum := sha1.Sum(raw)
		name := hex.EncodeToString(sum[:])
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, err := w.Write(raw)
		at := filepath.Join(dir, "objects", name[:2], name[2:])
		if err := errors.Join(err, w.Close(), os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	blob := put("blob", "nothing\n")
	tree := put("tree", "100644 a.txt\x00"+string(blob[:]))
	commit := put("commit", fmt.Sprintf("tree %x\nauthor a <a@example.com> %d +0000\ncommitter a <a@example.com> %d +0000\n\na\n", tree, began.Unix(), began.Unix()))
	if err := os.WriteFile(filepath.Join(dir, "refs", "heads", "main"), fmt.Appendf(nil, "%x\n", commit), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readBody is the body of a request, and the same again for who reads it next.
func readBody(r *http.Request) (string, io.ReadCloser) {
	raw, _ := io.ReadAll(r.Body)
	return string(raw), io.NopCloser(bytes.NewReader(raw))
}
