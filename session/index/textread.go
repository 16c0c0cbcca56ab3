package index

import (
	"encoding/binary"
	"errors"
	"io"
	mathbits "math/bits"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
)

var (
	errTooLong    = errors.New("artifact is too long to be searched")
	errOtherBytes = errors.New("artifact does not match its name")
)

// textFile is a text file of the cache, open for reading. It stays whole when
// another program replaces or removes it meanwhile.
type textFile struct {
	in      io.ReaderAt
	close   func() error
	name    string
	bundles []textBundle
	docs    uint32
	always  []uint32
	blocks  []block
	groups  []part // of the table of trigrams
}

// texts opens the text files of the cache. What is no good is removed.
func (s Store) texts() []*textFile {
	if s.cache == "" {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(s.cache, textPrefix+"*"))
	if err != nil {
		return nil
	}
	slices.Sort(names)
	var out []*textFile
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		t, err := openText(f)
		if err != nil {
			_ = f.Close()
			_ = os.Remove(name)
			continue
		}
		t.name, t.close = name, f.Close
		out = append(out, t)
	}
	return out
}

func openText(f *os.File) (*textFile, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errDamaged
	}
	return readText(f, info.Size())
}

// readText reads the directory of a text file.
func readText(in io.ReaderAt, size int64) (*textFile, error) {
	if size < int64(len(textMagic)+trailerLen) {
		return nil, errDamaged
	}
	head, end := make([]byte, len(textMagic)), make([]byte, trailerLen)
	if _, err := in.ReadAt(head, 0); err != nil || string(head) != textMagic {
		return nil, errDamaged
	}
	if _, err := in.ReadAt(end, size-trailerLen); err != nil {
		return nil, errDamaged
	}
	t := &textFile{in: in}
	dir := part{binary.BigEndian.Uint64(end), binary.BigEndian.Uint64(end[8:]), string(end[16:])}
	if dir.length > uint64(size) {
		return nil, errDamaged
	}
	raw, err := t.read(dir)
	if err != nil {
		return nil, err
	}
	return t, t.directory(raw)
}

func (t *textFile) directory(raw string) error {
	d := decoder{s: raw}
	for range d.count() {
		b := textBundle{name: d.text(), stamp: stamp{segments: d.count(), marks: d.text()}, first: t.docs}
		n := d.num()
		if b.page = d.part(); n < 1 || n > 1<<30 || uint64(t.docs)+n > 1<<31 {
			d.fail()
		}
		if d.err != nil {
			return d.err
		}
		b.docs = uint32(n)
		t.docs += b.docs
		t.bundles = append(t.bundles, b)
	}
	var err error
	if t.always, err = t.numbers(nil, d.text()); err != nil {
		return err
	}
	for range d.count() {
		b := block{first: d.text(), last: d.text(), words: d.part(), postings: d.part()}
		if d.err != nil {
			return d.err
		}
		t.blocks = append(t.blocks, b)
	}
	for range trigrams / rowGroup {
		t.groups = append(t.groups, d.part())
	}
	return d.done()
}

// read gives the bytes of a part once they were found right.
func (t *textFile) read(p part) (string, error) {
	if p.length > maxPart || p.off > 1<<62 {
		return "", errDamaged
	}
	b := make([]byte, p.length)
	if _, err := t.in.ReadAt(b, int64(p.off)); err != nil {
		return "", errDamaged
	}
	if sum := sumOf(b); string(sum[:]) != p.sum {
		return "", errDamaged
	}
	return string(b), nil
}

// numbers reads postings onto dst.
func (t *textFile) numbers(dst []uint32, raw string) ([]uint32, error) {
	d := decoder{s: raw}
	next := uint64(0) // one more than the document before
	for d.at < len(raw) {
		gap := d.num()
		if d.err != nil || gap < 1 || gap > uint64(t.docs) || next+gap > uint64(t.docs) {
			return nil, errDamaged
		}
		next += gap
		dst = append(dst, uint32(next-1))
	}
	return dst, nil
}

// docSet is a set of documents of one text file.
type docSet []uint64

func (t *textFile) none() docSet { return make(docSet, (int(t.docs)+63)/64) }

func (s docSet) add(docs []uint32) {
	for _, d := range docs {
		s[d/64] |= 1 << (d % 64)
	}
}

func (s docSet) has(d uint32) bool { return s[d/64]&(1<<(d%64)) != 0 }

func (s docSet) keep(o docSet) {
	for i := range s {
		s[i] &= o[i]
	}
}

// few reports whether so few documents are left that reading them is quicker
// than looking further.
func (s docSet) few() bool {
	n := 0
	for _, w := range s {
		n += mathbits.OnesCount64(w)
	}
	return n <= 32
}

// any reports whether one of n documents from first is in the set.
func (s docSet) any(first, n uint32) bool {
	for d := first; d < first+n; d++ {
		if s.has(d) {
			return true
		}
	}
	return false
}

// match adds the documents of all words that find finds, among the blocks with
// words that begin with prefix and, of these, those in which part can be.
func (t *textFile) match(into docSet, prefix, part string, find finder) error {
	among, err := t.blocksWith(part)
	if err != nil {
		return err
	}
	var todo []block
	for i := sort.Search(len(t.blocks), func(i int) bool { return t.blocks[i].last >= prefix }); i < len(t.blocks); i++ {
		if first := t.blocks[i].first; prefix != "" && first > prefix && !strings.HasPrefix(first, prefix) {
			break
		}
		if among.has(i) {
			todo = append(todo, t.blocks[i])
		}
	}
	var mu sync.Mutex
	var failed error
	workers(len(todo), func(next func() int) {
		var m matcher
		for i := next(); i < len(todo); i = next() {
			docs, err := m.block(t, todo[i], find)
			mu.Lock()
			into.add(docs)
			if err != nil {
				failed = err
			}
			mu.Unlock()
		}
	})
	return failed
}

// finder visits the places in a block of words where a wanted word is.
type finder func(text string, visit func(at int))

// matcher looks through blocks, one after the other, in the same memory.
type matcher struct {
	lens []uint64
	hits []int
	docs []uint32
}

// block returns the documents of the words of b that find finds.
func (m *matcher) block(t *textFile, b block, find finder) ([]uint32, error) {
	raw, err := t.read(b.words)
	if err != nil {
		return nil, err
	}
	d := decoder{s: raw}
	n := d.count()
	m.lens, m.hits, m.docs = m.lens[:0], m.hits[:0], m.docs[:0]
	from := d.num()
	if d.err != nil || from > uint64(len(raw)-d.at) {
		return nil, errDamaged
	}
	text := raw[d.at+int(from):]
	seen, upTo := 0, 0
	find(text, func(at int) {
		// The number of a word is that of the line ends before it, less the first.
		seen += strings.Count(text[upTo:at], "\n")
		upTo = at
		if w := seen - 1; w >= 0 && w < n && (len(m.hits) == 0 || m.hits[len(m.hits)-1] != w) {
			m.hits = append(m.hits, w)
		}
	})
	if len(m.hits) == 0 {
		return nil, nil
	}
	for range n {
		m.lens = append(m.lens, d.num())
	}
	posts, err := t.read(b.postings)
	if err != nil || d.err != nil {
		return nil, errDamaged
	}
	off, at := uint64(0), 0
	for _, h := range m.hits {
		for ; at < h; at++ {
			off += m.lens[at]
		}
		if off > uint64(len(posts)) || m.lens[h] > uint64(len(posts))-off {
			return nil, errDamaged
		}
		if m.docs, err = t.numbers(m.docs, posts[off:off+m.lens[h]]); err != nil {
			return nil, err
		}
	}
	return m.docs, nil
}

// find visits each place of sub, inside a word at in from its first byte.
func findAll(text, sub string, in int, visit func(int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], sub)
		if i < 0 {
			return
		}
		visit(from + i + in)
		from += i + 1
	}
}

// withPiece adds the documents that have a word which fits the piece.
func (t *textFile) withPiece(into docSet, p piece) error {
	sub, in := p.text, 0
	if p.begins {
		sub, in = "\n"+sub, 1
	}
	if p.end {
		sub += "\n"
	}
	prefix := ""
	if p.begins {
		prefix = p.text
	}
	return t.match(into, prefix, p.text, func(text string, visit func(int)) { findAll(text, sub, in, visit) })
}

// withWord adds the documents of one whole word that is none of the text.
func (t *textFile) withWord(into docSet, word string) error {
	return t.match(into, word, "", func(text string, visit func(int)) { findAll(text, "\n"+word+"\n", 1, visit) })
}

// withKey adds the documents in which the key has a value that fits.
func (t *textFile) withKey(into docSet, k Key, p pattern) error {
	head := string([]byte{keyWord, 'a' + byte(k)})
	if len(p) == 1 {
		return t.withWord(into, head+p[0])
	}
	low := head + p[0]
	return t.match(into, low, "", func(text string, visit func(int)) {
		findAll(text, "\n"+low, 1, func(at int) {
			word := text[at:]
			if end := strings.IndexByte(word, '\n'); end >= 0 && p.fits(word[len(head):end]) {
				visit(at)
			}
		})
	})
}
