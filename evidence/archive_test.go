package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/corpus"
)

type packedFile struct {
	h    tar.Header
	data string
}

func packed(t testing.TB, zip bool, list ...packedFile) []byte {
	t.Helper()
	var buf bytes.Buffer
	var out io.Writer = &buf
	var gz *gzip.Writer
	if zip {
		gz = gzip.NewWriter(&buf)
		out = gz
	}
	w := tar.NewWriter(out)
	for _, m := range list {
		if m.h.Typeflag == 0 {
			m.h.Typeflag = tar.TypeReg
		}
		m.h.Size, m.h.Mode = int64(len(m.data)), 0o600
		if err := w.WriteHeader(&m.h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if gz != nil {
		if err := gz.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func plain(name, data string) packedFile { return packedFile{h: tar.Header{Name: name}, data: data} }

func (k *kit) members(prefix string) []packedFile {
	var out []packedFile
	for _, name := range slices.Sorted(maps.Keys(k.files)) {
		out = append(out, plain(prefix+name, string(k.files[name].data)))
	}
	return out
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	k := signedKit(t)
	for _, zip := range []bool{false, true} {
		for _, prefix := range []string{"", "i1.hrb/"} {
			dir := t.TempDir()
			list := append(k.members(prefix), plain(prefix+"lock", "7 boot\n"))
			path, err := Unpack(bytes.NewReader(packed(t, zip, list...)), dir)
			if err != nil {
				t.Fatalf("zip %v, prefix %q: %v", zip, prefix, err)
			}
			if r := mustVerify(t, path); !r.OK() || r.Entries != 5 {
				t.Errorf("zip %v, prefix %q: %+v", zip, prefix, r.Lines)
			}
			if _, err := os.Lstat(filepath.Join(path, "lock")); err == nil {
				t.Error("a stranger's lock was unpacked")
			}
			if _, err := Unpack(bytes.NewReader(packed(t, zip, list...)), dir); err == nil {
				t.Error("unpacked over what was there")
			} else if r := mustVerify(t, path); !r.OK() {
				t.Error("what was there is gone")
			}
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	k := opened(t)
	with := func(m ...packedFile) []packedFile { return append(k.members(""), m...) }
	dir := func(name string) packedFile { return packedFile{h: tar.Header{Name: name, Typeflag: tar.TypeDir}} }
	kind := func(flag byte, name, to string) packedFile {
		return packedFile{h: tar.Header{Name: name, Typeflag: flag, Linkname: to}}
	}
	zeros := strings.Repeat("\x00", 8<<20)
	blob := "blobs/sha256/" + sumHex([]byte(zeros))[:2] + "/" + sumHex([]byte(zeros))
	good := packed(t, false, with()...)
	for name, raw := range map[string][]byte{
		"nothing":           {},
		"no archive":        []byte("hello"),
		"empty archive":     packed(t, false),
		"gzip of nothing":   {0x1f, 0x8b},
		"climbing":          packed(t, false, with(plain("../evil", "x"))...),
		"climbing inside":   packed(t, false, with(plain("blobs/../../evil", "x"))...),
		"absolute":          packed(t, false, with(plain("/tmp/evil", "x"))...),
		"backslash":         packed(t, false, with(plain(`..\evil`, "x"))...),
		"dot":               packed(t, false, with(plain("./README", "x"))...),
		"foreign name":      packed(t, false, with(plain("run.sh", "x"))...),
		"foreign folder":    packed(t, false, with(dir("extra"))...),
		"unfinished file":   packed(t, false, with(plain("blobs/sha256/.tmp-1", "x"))...),
		"twice":             packed(t, false, with(plain("README", "x"))...),
		"symbolic link":     packed(t, false, with(kind(tar.TypeSymlink, "seals/000001.txt", "/etc/passwd"))...),
		"hard link":         packed(t, false, with(kind(tar.TypeLink, "seals/000001.txt", "/etc/passwd"))...),
		"device":            packed(t, false, with(kind(tar.TypeChar, "seals/000001.txt", ""))...),
		"pipe":              packed(t, false, with(kind(tar.TypeFifo, "seals/000001.txt", ""))...),
		"link as a folder":  packed(t, false, kind(tar.TypeSymlink, "journal", "/tmp"), plain("journal/000001.jsonl", "x")),
		"two bundles":       packed(t, false, append(k.members("i1.hrb/"), plain("i2.hrb/README", "x"))...),
		"attributes":        packed(t, false, packedFile{h: tar.Header{Name: "README", PAXRecords: map[string]string{"SCHILY.xattr.user.x": "y"}}, data: "x"}),
		"bomb":              packed(t, true, with(plain(blob, zeros))...),
		"cut":               good[:len(good)/2],
		"bytes behind":      append(slices.Clone(good), 'x'),
		"too much behind":   append(slices.Clone(good), make([]byte, maxPadding+1)...),
		"long name":         packed(t, false, with(plain(strings.Repeat("a/", 200)+"b", "x"))...),
		"garbage in gzip":   append(packed(t, true, with()...)[:200], 1, 2, 3),
		"bundle of a climb": packed(t, false, plain("...hrb/README", "x"), plain("...hrb/../x", "y")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer := t.TempDir()
			into := filepath.Join(outer, "into")
			if err := os.Mkdir(into, 0o700); err != nil {
				t.Fatal(err)
			}
			path, err := Unpack(bytes.NewReader(raw), into)
			if !errors.Is(err, ErrArchive) {
				t.Fatalf("Unpack = %q, %v", path, err)
			}
			for _, d := range []string{outer, into} {
				list, err := os.ReadDir(d)
				if err != nil || d == into && len(list) > 0 || d == outer && len(list) != 1 {
					t.Errorf("%q holds %v, %v", d, list, err)
				}
			}
		})
	}
}

func FuzzUnpack(f *testing.F) {
	corpus.Seed(f)
	k := opened(f)
	f.Add(packed(f, false, k.members("")...))
	f.Add(packed(f, true, k.members("i1.hrb/")...))
	f.Add(packed(f, false, plain("../x", "y")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		outer := t.TempDir()
		into := filepath.Join(outer, "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		path, err := Unpack(bytes.NewReader(raw), into)
		list, rerr := os.ReadDir(outer)
		if rerr != nil || len(list) != 1 {
			t.Fatalf("wrote outside: %v, %v", list, rerr)
		}
		if err != nil {
			if list, _ := os.ReadDir(into); len(list) > 0 {
				t.Fatalf("left %v behind", list)
			}
			return
		}
		if _, err := Verify(path); err != nil {
			t.Fatal(err)
		}
	})
}
