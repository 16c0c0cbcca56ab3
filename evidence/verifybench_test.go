package evidence

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkVerifyEntries verifies a sealed bundle of 10,000 entries; the bar is 100 ms.
func BenchmarkVerifyEntries(b *testing.B) {
	o := testOptions("")
	o.noSync = true
	bundle := create(b, o)
	for range 10_000 - 2 {
		note(b, bundle, "the runner answers again, and the lock is still held by the run that was killed")
	}
	sealIt(b, bundle)
	if err := bundle.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := mustVerify(b, bundle.Path()); !r.OK() || r.Entries != 10_000 {
			b.Fatalf("%+v", r.Lines)
		}
	}
}

// BenchmarkVerifyBlobs verifies 256 MiB of blobs, beside sha256sum over the same files; the bar is 0.8 of its speed.
func BenchmarkVerifyBlobs(b *testing.B) {
	bundle := create(b, testOptions(""))
	const n, size = 8, 32 << 20
	buf := make([]byte, size/2)
	for range n {
		rand.Read(buf)
		text := hex.EncodeToString(buf)
		blob := putRaw(b, bundle, []byte(text))
		if _, err := bundle.Append(context.Background(), Draft{Type: "note", Actor: "robin", Blobs: []Blob{blob}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := bundle.Close(); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(bundle.Path(), "blobs", "sha256", "*", "*"))
	if err != nil || len(files) != n {
		b.Fatalf("%d blobs, %v", len(files), err)
	}
	b.Run("handrail", func(b *testing.B) {
		b.SetBytes(n * size)
		for b.Loop() {
			if r := mustVerify(b, bundle.Path()); !r.OK() {
				b.Fatalf("%+v", r.Lines)
			}
		}
	})
	b.Run("sha256sum", func(b *testing.B) {
		b.SetBytes(n * size)
		for b.Loop() {
			if out, err := exec.CommandContext(b.Context(), "sha256sum", files...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}

// putRaw stores bytes as they are: redaction is measured elsewhere.
func putRaw(b *testing.B, bundle *Bundle, data []byte) Blob {
	sum := sumHex(data)
	name := bundle.BlobPath(sum)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o400); err != nil {
		b.Fatal(err)
	}
	return Blob{Role: "log", SHA256: sum, Size: int64(len(data)), Media: "text/plain"}
}
