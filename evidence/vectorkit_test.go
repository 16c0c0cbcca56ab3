package evidence

import (
	"context"
	_ "embed"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/redact"
	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

// file is one file of a bundle in memory.
type file struct {
	data []byte
	link string // a symbolic link to there
	fifo bool
	dir  bool
}

// kit is a bundle in memory that a test takes apart.
type kit struct {
	t     testing.TB
	id    string
	files map[string]file
}

// vectorOptions make the same bytes everywhere.
func vectorOptions(t testing.TB) Options {
	o := testOptions("")
	o.rules = strings.Repeat("5e", 32)
	o.about = func(f *firstEntry) { f.Go, f.OS, f.Arch = "go1.26", "linux", "amd64" }
	o.noSync = true
	o.key = make([]byte, redact.KeySize)
	return o
}

// bundled writes a bundle with build and reads it into memory.
func bundled(t testing.TB, id string, build func(b *Bundle)) *kit {
	t.Helper()
	dir := t.TempDir()
	b, err := Create(dir, id, vectorOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	build(b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, id: id, files: map[string]file{}}
	k.load(b.Path())
	return k
}

func (k *kit) load(path string) {
	k.t.Helper()
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(path, name)
		k.files[filepath.ToSlash(rel)] = file{data: data}
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) copy(t testing.TB) *kit {
	return &kit{t: t, id: k.id, files: maps.Clone(k.files)}
}

// write puts the bundle into a directory of its own under dir and returns its path.
func (k *kit) write(dir string) string {
	k.t.Helper()
	root := filepath.Join(dir, k.id+".hrb")
	for _, sub := range []string{"", "journal", "blobs/sha256", "quarantine", "seals"} {
		if err := os.MkdirAll(filepath.Join(root, sub), 0o700); err != nil {
			k.t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.files)) {
		f, to := k.files[name], filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			k.t.Fatal(err)
		}
		if err := f.put(to); err != nil {
			k.t.Fatal(err)
		}
	}
	return root
}

func (f file) put(to string) error {
	switch {
	case f.dir:
		return os.Mkdir(to, 0o700)
	case f.link != "":
		return os.Symlink(f.link, to)
	case f.fifo:
		return makeFIFO(to)
	}
	return os.WriteFile(to, f.data, 0o600)
}

func (k *kit) set(name, data string) { k.files[name] = file{data: []byte(data)} }
func (k *kit) text(name string) string {
	k.t.Helper()
	f, ok := k.files[name]
	if !ok {
		k.t.Fatalf("the bundle has no %q", name)
	}
	return string(f.data)
}
func (k *kit) drop(name string) { k.text(name); delete(k.files, name) }

// replace changes the first old in a file and insists that it is there.
func (k *kit) replace(name, old, with string) {
	k.t.Helper()
	s := k.text(name)
	if !strings.Contains(s, old) {
		k.t.Fatalf("%q holds no %q", name, old)
	}
	k.set(name, strings.Replace(s, old, with, 1))
}

const firstSegment = "journal/000001.jsonl"

func (k *kit) lines() []string {
	l := strings.SplitAfter(k.text(firstSegment), "\n")
	return l[:len(l)-1]
}

func (k *kit) setLines(l []string) { k.set(firstSegment, strings.Join(l, "")) }

func (k *kit) entries() []Entry {
	k.t.Helper()
	var out []Entry
	for _, l := range k.lines() {
		e, err := parseEntry([]byte(strings.TrimSuffix(l, "\n")))
		if err != nil {
			k.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// rechain writes entries with new numbers and hashes, as an attacker would who rewrites the whole journal.
func (k *kit) rechain(list []Entry) {
	prev, out := zeroHash, []byte(nil)
	for i := range list {
		e := &list[i]
		e.Seq, e.Prev = int64(i), prev
		var line []byte
		line, prev = appendEntry(nil, e)
		out = append(append(out, line...), '\n')
	}
	k.set(firstSegment, string(out))
}

// reseal makes every seal entry and checkpoint right again for the entries as they are; signatures stay.
func (k *kit) reseal() {
	k.t.Helper()
	list := k.entries()
	l, n, prev := newLedger(), 0, zeroHash
	for i := range list {
		e := &list[i]
		if e.Type == "seal" {
			var d sealData
			if err := json.Unmarshal(e.Data, &d); err != nil {
				k.t.Fatal(err)
			}
			data, err := l.sealing(d.Skipped)
			if err != nil {
				k.t.Fatal(err)
			}
			e.Data = data
		}
		e.Seq, e.Prev = int64(i), prev
		_, prev = appendEntry(nil, e)
		e.Hash = prev
		l.add(k.id, e)
		if e.Type == "seal" {
			n++
			k.set("seals/"+sealName(n), string(l.seals[n-1].Text()))
		}
	}
	k.rechain(list)
}

// sign signs a stored checkpoint in memory.
func (k *kit) sign(who, name string, seal int) {
	k.set("seals/"+name, string(sigtest.Sign(k.t, sigtest.Key(k.t, who), sig.SealNamespace, []byte(k.text("seals/"+sealName(seal))))))
}

// stamp puts a time stamp of a stored checkpoint beside it.
func (k *kit) stamp(seal int, a sigtest.Authority, r sigtest.Reply) {
	if r.Text == nil {
		r.Text = []byte(k.text("seals/" + sealName(seal)))
	}
	k.set(strings.TrimSuffix("seals/"+sealName(seal), ".txt")+".tsr", string(a.Reply(k.t, r)))
}

// now is the checkpoint over the first n entries, all for 0.
func (k *kit) at(n int) Checkpoint {
	l := newLedger()
	for i, e := range k.entries() {
		if n == 0 || i < n {
			l.add(k.id, &e)
		}
	}
	return l.checkpoint(k.id)
}

// allowed is an allowed_signers file.
func allowed(t testing.TB, lines ...string) string {
	var out strings.Builder
	for _, l := range lines {
		who, options, _ := strings.Cut(l, " ")
		key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sigtest.Key(t, who).PublicKey())))
		out.WriteString(who + "@example.com ")
		if options != "" {
			out.WriteString(options + " ")
		}
		out.WriteString(key + "\n")
	}
	return out.String()
}

// opened is a bundle of an incident that goes on.
func opened(t testing.TB) *kit {
	return bundled(t, "i1", fill(t))
}

func fill(t testing.TB) func(b *Bundle) {
	return func(b *Bundle) {
		t.Helper()
		note(t, b, "first")
		one, two := putBlob(t, b, "text/plain", "a log\n"), putBlob(t, b, "text/plain", "lock held by 7\n")
		if _, err := b.Append(context.Background(), Draft{Type: "probe.end", Actor: "robin", Step: "r/lock", Data: map[string]any{"outcome": "ok"}, Blobs: []Blob{one, two}}); err != nil {
			t.Fatal(err)
		}
		note(t, b, "last")
	}
}

func sealIt(t testing.TB, b *Bundle, skipped ...string) {
	t.Helper()
	if _, err := b.Seal(context.Background(), "robin", skipped); err != nil {
		t.Fatal(err)
	}
}

// sealedKit is sealed and not signed, signedKit signed by alice.
func sealedKit(t testing.TB) *kit {
	return bundled(t, "i1", func(b *Bundle) { fill(t)(b); sealIt(t, b, "r/ask") })
}

func signedKit(t testing.TB) *kit {
	k := sealedKit(t)
	k.sign("alice", "000001.txt.sig", 1)
	return k
}

// resealedKit went on after its first seal and was sealed again; alice signed both, bob and carol the second.
func resealedKit(t testing.TB) *kit {
	k := bundled(t, "i1", func(b *Bundle) { fill(t)(b); sealIt(t, b); note(t, b, "more"); sealIt(t, b) })
	k.sign("alice", "000001.txt.sig", 1)
	k.sign("alice", "000002.txt.sig", 2)
	for _, who := range []string{"bob", "carol"} {
		k.sign(who, "000002.txt."+keyMark(sigtest.Key(t, who).PublicKey())+".sig", 2)
	}
	return k
}

// anchoredKit has one line recorded as posted, over its first three entries.
func anchoredKit(t testing.TB) *kit {
	return bundled(t, "i1", func(b *Bundle) {
		note(t, b, "first")
		at := b.Checkpoint()
		note(t, b, "armed")
		if _, err := b.RecordAnchor(context.Background(), "robin", at, "#incident-1"); err != nil {
			t.Fatal(err)
		}
		note(t, b, "acted")
	})
}

// recoveredKit lost a torn line, which is kept.
func recoveredKit(t testing.TB) *kit {
	dir := t.TempDir()
	k := opened(t)
	k.set(firstSegment, k.text(firstSegment)+`{"v":1,"seq":4,"ty`)
	path := k.write(dir)
	b, err := Open(path, vectorOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	note(t, b, "after the crash")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	k.files = map[string]file{}
	k.load(path)
	return k
}
