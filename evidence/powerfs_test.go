package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"handrail/evidence/disk"
)

// powerFS is a file system in memory that knows what of it would be left after a power cut: of a file what was synced,
// of a name what the sync of its directory made durable, and of everything else whatever the model says. A sync that
// fails drops the writes it was for and calls them clean, as Linux does.
type powerFS struct {
	names, durable map[string]*powerNode
	moves          []move // changes of names that no directory sync made durable yet
	calls          int
	kinds          []string
	failAt         int   // the call that fails, 0 for none
	err            error // with this
	short          bool  // or, for a write, by taking less and saying nothing
	before         func(call int)
	retried        string // a file that was synced again after its sync had failed
}

type powerNode struct {
	dir    bool
	data   []byte // as the processes see it
	synced []byte // as the disk has it
	writes []powerWrite
}

// powerWrite is a write, or a truncation where data is nil, that was not synced yet.
type powerWrite struct {
	off  int64
	data []byte
}

// move is a name that appears, goes (node is nil) or changes.
type move struct {
	name, from string
	node       *powerNode
}

func newPowerFS() *powerFS {
	root := &powerNode{dir: true}
	return &powerFS{names: map[string]*powerNode{"/d": root}, durable: map[string]*powerNode{"/d": root}}
}

// call counts a call of the writer and says whether it fails.
func (p *powerFS) call(kind string) error {
	p.calls++
	p.kinds = append(p.kinds, kind)
	if p.before != nil {
		p.before(p.calls)
	}
	if p.calls == p.failAt && !p.short {
		return p.err
	}
	return nil
}

func notThere(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT} }

func (p *powerFS) put(m move) {
	if m.from != "" {
		delete(p.names, m.from)
	}
	if m.node == nil {
		delete(p.names, m.name)
	} else {
		p.names[m.name] = m.node
	}
	p.moves = append(p.moves, m)
}

func (p *powerFS) Mkdir(name string, _ fs.FileMode) error {
	if err := p.call("mkdir"); err != nil {
		return err
	}
	switch {
	case p.names[name] != nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	case p.names[filepath.Dir(name)] == nil:
		return notThere("mkdir", name)
	}
	p.put(move{name: name, node: &powerNode{dir: true}})
	return nil
}

func (p *powerFS) OpenFile(name string, flag int, _ fs.FileMode) (disk.File, error) {
	if err := p.call("openfile"); err != nil {
		return nil, err
	}
	n := p.names[name]
	switch {
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EEXIST}
	case n == nil && (flag&os.O_CREATE == 0 || p.names[filepath.Dir(name)] == nil):
		return nil, notThere("open", name)
	case n == nil:
		n = &powerNode{}
		p.put(move{name: name, node: n})
	}
	f := &powerFile{fs: p, node: n, name: name, appends: flag&os.O_APPEND != 0}
	if flag&os.O_TRUNC != 0 {
		f.truncate(0)
	}
	return f, nil
}

func (p *powerFS) Rename(from, to string) error {
	if err := p.call("rename"); err != nil {
		return err
	}
	if p.names[from] == nil {
		return notThere("rename", from)
	}
	p.put(move{name: to, from: from, node: p.names[from]})
	return nil
}

func (p *powerFS) Remove(name string) error {
	if err := p.call("remove"); err != nil {
		return err
	}
	if p.names[name] == nil {
		return notThere("remove", name)
	}
	p.put(move{name: name})
	return nil
}

func (p *powerFS) Lstat(name string) (fs.FileInfo, error) {
	if err := p.call("lstat"); err != nil {
		return nil, err
	}
	n := p.names[name]
	if n == nil {
		return nil, notThere("lstat", name)
	}
	return powerInfo{filepath.Base(name), n}, nil
}

func (p *powerFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := p.call("readdir"); err != nil {
		return nil, err
	}
	if p.names[name] == nil {
		return nil, notThere("readdir", name)
	}
	var out []fs.DirEntry
	for _, child := range slices.Sorted(maps.Keys(p.names)) {
		if filepath.Dir(child) == name {
			out = append(out, fs.FileInfoToDirEntry(powerInfo{filepath.Base(child), p.names[child]}))
		}
	}
	return out, nil
}

func (p *powerFS) SyncDir(name string) error {
	if err := p.call("syncdir"); err != nil {
		return err
	}
	p.moves = slices.DeleteFunc(p.moves, func(m move) bool {
		mine := filepath.Dir(m.name) == name || m.from != "" && filepath.Dir(m.from) == name
		if mine {
			m.apply(p.durable)
		}
		return mine
	})
	return nil
}

func (m move) apply(names map[string]*powerNode) {
	if m.from != "" {
		delete(names, m.from)
	}
	if m.node == nil {
		delete(names, m.name)
		return
	}
	names[m.name] = m.node
}

type powerInfo struct {
	name string
	node *powerNode
}

func (i powerInfo) Name() string       { return i.name }
func (i powerInfo) Size() int64        { return int64(len(i.node.data)) }
func (i powerInfo) ModTime() time.Time { return time.Time{} }
func (i powerInfo) IsDir() bool        { return i.node.dir }
func (i powerInfo) Sys() any           { return nil }
func (i powerInfo) Mode() fs.FileMode {
	if i.node.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

type powerFile struct {
	fs      *powerFS
	node    *powerNode
	name    string
	pos     int64
	appends bool
	failed  bool // a sync of this descriptor failed
}

func (f *powerFile) Read(b []byte) (int, error) {
	if f.pos >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[f.pos:])
	f.pos += int64(n)
	return n, nil
}

func (f *powerFile) Seek(off int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("only from the start")
	}
	f.pos = off
	return off, f.fs.call("seek")
}

func (f *powerFile) Write(b []byte) (int, error) {
	err := f.fs.call("write")
	if f.fs.calls == f.fs.failAt { // a write that fails may have gone part of the way
		b = b[:len(b)/3]
	}
	if f.appends {
		f.pos = int64(len(f.node.data))
	}
	w := powerWrite{f.pos, bytes.Clone(b)}
	f.node.data = w.on(f.node.data)
	f.node.writes = append(f.node.writes, w)
	f.pos += int64(len(b))
	return len(b), err
}

// on gives what old is after the write. It never changes old, which others may hold.
func (w powerWrite) on(old []byte) []byte {
	if w.data == nil {
		return old[:w.off:w.off]
	}
	end := int(w.off) + len(w.data)
	if int(w.off) == len(old) {
		return append(old, w.data...) // after gives others a slice without room to append
	}
	out := make([]byte, max(end, len(old)))
	copy(out, old)
	copy(out[w.off:], w.data)
	return out
}

func (f *powerFile) truncate(size int64) {
	w := powerWrite{off: size}
	f.node.data = bytes.Clone(w.on(f.node.data))
	f.node.writes = append(f.node.writes, w)
}

func (f *powerFile) Truncate(size int64) error {
	if err := f.fs.call("truncate"); err != nil {
		return err
	}
	f.truncate(size)
	return nil
}

func (f *powerFile) Sync() error {
	if f.failed {
		f.fs.retried = f.name
	}
	if err := f.fs.call("sync"); err != nil {
		f.failed = true
		f.node.writes = slices.DeleteFunc(f.node.writes, func(w powerWrite) bool { return w.data != nil })
		return err
	}
	for _, w := range f.node.writes {
		if w.data != nil {
			f.node.synced = w.on(f.node.synced)
		} else {
			f.node.synced = bytes.Clone(w.onDisk(f.node.synced, nil))
		}
	}
	f.node.writes = nil
	return nil
}

func (f *powerFile) Chmod(fs.FileMode) error { return f.fs.call("chmod") }
func (f *powerFile) Close() error            { return f.fs.call("close") }

// onDisk is the write with only those of its 512-byte sectors that keep names; where it made the file longer, a sector
// that did not arrive is zeros.
func (w powerWrite) onDisk(old []byte, keep func(sector int) bool) []byte {
	if w.data == nil {
		return old[:min(int(w.off), len(old)):min(int(w.off), len(old))]
	}
	out := make([]byte, max(int(w.off)+len(w.data), len(old)))
	copy(out, old)
	for i := 0; i < len(w.data); {
		at := int(w.off) + i
		next := min(i+512-at%512, len(w.data))
		if keep(at / 512) {
			copy(out[at:], w.data[i:next])
		}
		i = next
	}
	return out
}

// loss is what a power cut leaves of the things that were not synced.
type loss struct {
	name  string
	apply func(p *powerFS, r *rand.Rand) *powerFS
}

var losses = []loss{
	{"drop unsynced", func(p *powerFS, _ *rand.Rand) *powerFS {
		return p.after(func(move) bool { return false }, func(n *powerNode) []byte { return n.synced })
	}},
	{"tear at 512 B", func(p *powerFS, r *rand.Rand) *powerFS { return p.torn(512, r) }},
	{"tear at 4 KiB", func(p *powerFS, r *rand.Rand) *powerFS { return p.torn(4096, r) }},
	{"reorder", func(p *powerFS, r *rand.Rand) *powerFS {
		return p.after(func(move) bool { return r.IntN(2) == 0 }, func(n *powerNode) []byte {
			out := n.synced
			for _, w := range n.writes {
				if r.IntN(2) == 0 {
					out = w.onDisk(out, func(int) bool { return r.IntN(2) == 0 })
				}
			}
			return out
		})
	}},
}

// torn keeps all that was not synced but the last write to each file, of which it keeps the first whole units.
func (p *powerFS) torn(unit int, r *rand.Rand) *powerFS {
	return p.after(func(move) bool { return true }, func(n *powerNode) []byte {
		out := n.synced
		for i, w := range n.writes {
			if i+1 < len(n.writes) || w.data == nil {
				out = w.onDisk(out, func(int) bool { return true })
				continue
			}
			first := int(w.off) / unit
			last := (int(w.off) + len(w.data)) / unit
			cut := (first+r.IntN(last-first+1))*unit - int(w.off) // bytes that arrived
			if cut > 0 {
				out = powerWrite{w.off, w.data[:cut]}.onDisk(out, func(int) bool { return true })
			}
		}
		return out
	})
}

// after is the file system once the power is back.
func (p *powerFS) after(kept func(move) bool, content func(*powerNode) []byte) *powerFS {
	names := maps.Clone(p.durable)
	for _, m := range p.moves {
		if kept(m) {
			m.apply(names)
		}
	}
	out := &powerFS{names: map[string]*powerNode{}}
	for _, name := range slices.Sorted(maps.Keys(names)) { // a directory before what is in it
		if name != "/d" && out.names[filepath.Dir(name)] == nil {
			continue
		}
		n := names[name]
		c := &powerNode{dir: n.dir}
		if !n.dir {
			was := content(n)
			c.data = was[:len(was):len(was)]
			c.synced = c.data
		}
		out.names[name] = c
	}
	out.durable = maps.Clone(out.names)
	return out
}

// picture is every name with its bytes.
func (p *powerFS) picture() string {
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		fmt.Fprintf(&s, "%s %s\n", name, sumHex(p.names[name].data))
	}
	return s.String()
}

// dump writes a bundle to a real directory, so that it can be verified whole.
func (p *powerFS) dump(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		to := filepath.Join(dir, strings.TrimPrefix(name, "/d"))
		var err error
		switch n := p.names[name]; {
		case name == "/d":
		case n.dir:
			err = os.Mkdir(to, 0o700)
		default:
			err = os.WriteFile(to, n.data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
