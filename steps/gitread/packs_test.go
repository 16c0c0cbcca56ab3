package gitread

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// packedObject is an object of a pack that no git would write.
type packedObject struct {
	name [20]byte
	kind int
	size uint64 // that its header claims
	base []byte // the name of the base of a delta
	body io.Reader
}

func deflate(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (o packedObject) bytes(t *testing.T) []byte {
	t.Helper()
	out := []byte{byte(o.kind<<4) | byte(o.size&15)}
	for n := o.size >> 4; n > 0; n >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(n&0x7f))
	}
	return append(append(out, o.base...), deflate(t, o.body)...)
}

// cloneOf makes a clone with one pack that holds just these objects.
func cloneOf(t *testing.T, objects ...packedObject) Clone {
	t.Helper()
	top := t.TempDir()
	pack := bytes.NewBufferString("PACK\x00\x00\x00\x02")
	pack.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects))))
	rows := map[int][]byte{} // by the first byte of the name: name and offset
	for _, o := range objects {
		rows[int(o.name[0])] = append(rows[int(o.name[0])], binary.BigEndian.AppendUint32(bytes.Clone(o.name[:]), uint32(pack.Len()))...)
		pack.Write(o.bytes(t))
	}
	index, names, offsets := bytes.NewBufferString("\xfftOc\x00\x00\x00\x02"), []byte(nil), []byte(nil)
	for i := range 256 {
		if len(rows[i]) > 24 {
			t.Fatal("two names begin alike: name one of them otherwise")
		}
		if row := rows[i]; row != nil {
			names, offsets = append(names, row[:20]...), append(offsets, row[20:]...)
		}
		index.Write(binary.BigEndian.AppendUint32(nil, uint32(len(names)/20)))
	}
	index.Write(names)
	index.Write(make([]byte, 4*len(objects))) // checksums, which are not read
	index.Write(offsets)
	putFile(t, filepath.Join(top, ".git", "objects", "pack", "pack-1.idx"), index.String())
	putFile(t, filepath.Join(top, ".git", "objects", "pack", "pack-1.pack"), pack.String())
	c, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// What a stranger's clone may hold to fill the memory or to go on for ever.
func TestHostileObjects(t *testing.T) {
	t.Parallel()
	const blob, named = 3, packNamed
	a, b := sha1.Sum([]byte("a")), sha1.Sum([]byte("b"))
	more := int64(objectSize + 1)
	copies := bytes.Repeat([]byte{0xf0, 0xff, 0xff, 0xff}, 2) // 2 times 16 MB of the base
	for name, tc := range map[string]struct {
		objects []packedObject
		want    string
	}{
		"bomb":             {[]packedObject{{a, blob, uint64(more), nil, io.LimitReader(zeros{}, more)}}, "more than are read"},
		"bomb with a lie":  {[]packedObject{{a, blob, 10, nil, io.LimitReader(zeros{}, more)}}, "more than 16777216 bytes"},
		"size of a planet": {[]packedObject{{a, blob, 1 << 45, nil, strings.NewReader("x")}}, "more than are read"},
		"another size":     {[]packedObject{{a, blob, 2, nil, strings.NewReader("x")}}, "another size"},
		"delta of itself":  {[]packedObject{{a, named, 4, a[:], strings.NewReader("\x01\x01\x90\x01")}}, "more than 250 deltas"},
		"circle of deltas": {[]packedObject{
			{a, named, 4, b[:], strings.NewReader("\x01\x01\x90\x01")},
			{b, named, 4, a[:], strings.NewReader("\x01\x01\x90\x01")},
		}, "more than 250 deltas"},
		"bomb of a delta": {[]packedObject{
			{a, named, uint64(8 + len(copies)), b[:], strings.NewReader("\xff\xff\xff\x07\xfe\xff\xff\x0f" + string(copies))},
			{b, blob, 1<<24 - 1, nil, io.LimitReader(zeros{}, 1<<24-1)},
		}, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cloneOf(t, tc.objects...)
			if kind, body, err := c.object(t.Context(), hex.EncodeToString(a[:])); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("object() = %s of %d bytes, %v, want %q", kind, len(body), err, tc.want)
			}
		})
	}
	t.Run("loose", func(t *testing.T) {
		t.Parallel()
		c := cloneOf(t)
		for name, put := range map[string]func(file string) error{
			"more than": func(file string) error {
				return os.WriteFile(file, deflate(t, io.MultiReader(strings.NewReader("blob 16777217\x00"), io.LimitReader(zeros{}, more+64))), 0o600)
			},
			"not a regular file": func(file string) error { return syscall.Mkfifo(file, 0o600) }, // an open would wait
		} {
			sum := sha1.Sum([]byte(name))
			file := filepath.Join(c.common, "objects", hex.EncodeToString(sum[:1]), hex.EncodeToString(sum[1:]))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := put(file); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.object(t.Context(), hex.EncodeToString(sum[:])); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("object() = %v, want %q", err, name)
			}
		}
	})
}
