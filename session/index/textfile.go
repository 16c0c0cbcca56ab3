package index

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/evidence"
)

// A text file of the cache says which word stands where, for a batch of
// bundles. Its documents are journals and artifacts: those of a bundle are
// numbered on from its first, the journal, in the order of its page.
//
//	magic | pages | blocks of words, each with its postings | table of trigrams | directory | its place, length and sum
//
// A block is a sorted run of words; the postings of a word are the numbers of
// its documents, each as the distance from the one before. Every part is read
// only after its sum was found right, so damage anywhere is noticed before it
// can change an answer.
const (
	textPrefix = "text-3-"
	textMagic  = "handrail text 3\n"
	trailerLen = 8 + 8 + sumLen
	// blockSize is about how long the words of a block are together.
	blockSize = 32 << 10
	// wordyBlob is how much of an artifact is taken apart into words; a larger
	// one is looked at whenever its bundle is.
	wordyBlob = 8 << 20
	// maxBlob is how much of an artifact is read at all.
	maxBlob = 256 << 20
	// maxPart bounds one part of a text file.
	maxPart = 1 << 30
)

// The first byte of a word that is none of the text: the value of a key (after
// it, a letter for the key), or a fingerprint.
const (
	keyWord   = 0x01
	printWord = 0x02
)

// part is where some bytes of a text file are, and what they must be.
type part struct {
	off, length uint64
	sum         string
}

func (e *encoder) part(p part) {
	e.num(p.off)
	e.num(p.length)
	e.raw([]byte(p.sum))
}

func (d *decoder) part() part { return part{d.num(), d.num(), d.raw(sumLen)} }

// textBundle is a bundle of a text file.
type textBundle struct {
	name  string
	stamp stamp
	first uint32 // its first document
	docs  uint32
	page  part
}

type block struct {
	first, last string // its first and last word
	words       part
	postings    part
}

// posting collects the documents of one word.
type posting struct {
	last uint32 // number of the newest document, plus one
	to   []byte
}

func (p *posting) add(doc uint32) {
	if p.last == doc+1 {
		return
	}
	p.to = binary.AppendUvarint(p.to, uint64(doc+1-p.last))
	p.last = doc + 1
}

// textWriter writes a text file.
type textWriter struct {
	out     *bufio.Writer
	off     uint64
	err     error
	words   map[string]*posting
	bundles []textBundle
	always  posting // documents that are candidates for everything
	docs    uint32
	buf     []byte
}

func (w *textWriter) part(b []byte) part {
	sum := sumOf(b)
	p := part{w.off, uint64(len(b)), string(sum[:])}
	w.raw(b)
	return p
}

func (w *textWriter) raw(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	w.off += uint64(len(b))
}

// note counts a word of a document.
func (w *textWriter) note(word []byte, doc uint32) {
	p, ok := w.words[string(word)]
	if !ok {
		p = &posting{}
		w.words[string(word)] = p
	}
	p.add(doc)
}

func (w *textWriter) say(s string, doc uint32) {
	w.buf = foldTo(w.buf[:0], s)
	words(w.buf, func(word []byte) { w.note(word, doc) })
}

func (w *textWriter) print(line string, doc uint32) {
	if fp := FingerprintOf(line); fp != "" {
		w.note(append([]byte{printWord}, fp...), doc)
	}
}

// bundle takes a bundle with its page and its artifacts.
func (w *textWriter) bundle(dir string, g bundleContents) {
	b := textBundle{name: g.name, stamp: g.stamp, first: w.docs, docs: uint32(1 + len(g.page.blobs)), page: w.part(g.page.encode())}
	for _, en := range g.page.entries {
		w.note(keyed(Actor, en.actor), w.docs)
		for _, l := range en.lines {
			w.say(l.text, w.docs)
			w.print(l.val(), w.docs)
			if l.key != NoKey {
				w.note(keyed(l.key, l.val()), w.docs)
			}
		}
	}
	blobs := openBlobs(filepath.Join(dir, g.name))
	defer blobs.close()
	seen := map[string]bool{}
	for i, ref := range g.page.blobs {
		if seen[ref.sha] { // a search reads each artifact once, at its first mention
			continue
		}
		seen[ref.sha] = true
		doc := w.docs + 1 + uint32(i)
		text, err := blobs.read(ref.sha, wordyBlob)
		if err != nil { // a search says what is wrong with it
			w.always.add(doc)
			continue
		}
		w.say(text, doc)
		for line := range strings.Lines(text) {
			w.print(strings.TrimRight(line, "\r\n"), doc)
		}
	}
	w.docs += b.docs
	w.bundles = append(w.bundles, b)
}

// keyed is the word of a key's value.
func keyed(k Key, value string) []byte {
	return append([]byte{keyWord, 'a' + byte(k)}, strings.ReplaceAll(fold(value), "\n", " ")...)
}

// finish writes words and directory.
func (w *textWriter) finish() error {
	var (
		blocks []block
		text   = []byte{'\n'}
		lens   encoder
		posts  []byte
		cur    block
		n      uint64
		threes = make(bits, (trigrams+7)/8)
		tables []bits
	)
	flush := func() {
		if n == 0 {
			return
		}
		var e encoder
		e.num(n)
		e.text(string(lens.b))
		e.raw(text)
		cur.words, cur.postings = w.part(e.b), w.part(posts)
		blocks, tables = append(blocks, cur), append(tables, threes)
		threes = make(bits, (trigrams+7)/8)
		cur, n, text, posts, lens = block{}, 0, []byte{'\n'}, nil, encoder{}
	}
	for _, word := range slices.Sorted(maps.Keys(w.words)) {
		if n == 0 {
			cur.first = word
		}
		cur.last = word
		if word[0] > printWord {
			trigramsOf(word, threes.set)
		}
		p := w.words[word]
		text = append(append(text, word...), '\n')
		lens.num(uint64(len(p.to)))
		posts = append(posts, p.to...)
		n++
		if len(text) >= blockSize {
			flush()
		}
	}
	flush()
	var e encoder
	e.num(uint64(len(w.bundles)))
	for _, b := range w.bundles {
		e.text(b.name)
		e.num(uint64(b.stamp.segments))
		e.text(b.stamp.marks)
		e.num(uint64(b.docs))
		e.part(b.page)
	}
	e.text(string(w.always.to))
	e.num(uint64(len(blocks)))
	for _, b := range blocks {
		e.text(b.first)
		e.text(b.last)
		e.part(b.words)
		e.part(b.postings)
	}
	for _, g := range table(tables) {
		e.part(w.part(g))
	}
	dir := w.part(e.b)
	end := binary.BigEndian.AppendUint64(nil, dir.off)
	end = binary.BigEndian.AppendUint64(end, dir.length)
	w.raw(append(end, dir.sum...))
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

// writeText puts a text file of these bundles into the cache.
func (s Store) writeText(names []string) error {
	if err := os.MkdirAll(s.cache, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.cache, ".tmp-")
	if err != nil {
		return err
	}
	w := &textWriter{out: bufio.NewWriterSize(f, 1<<20), words: map[string]*posting{}}
	w.raw([]byte(textMagic))
	for _, name := range names {
		if g := gather(s.dir, name, true); g.row.Err == "" && g.stamp.segments > 0 {
			w.bundle(s.dir, g)
		}
	}
	err = w.finish()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.cache, textPrefix+strings.TrimPrefix(filepath.Base(f.Name()), ".tmp-")))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// blobReader reads artifacts of one bundle.
type blobReader struct {
	r   *evidence.Reader
	err error
}

func openBlobs(bundle string) *blobReader {
	r, err := evidence.OpenReadOnly(bundle)
	return &blobReader{r: r, err: err}
}

func (b *blobReader) close() {
	if b.r != nil {
		_ = b.r.Close() // only read from
	}
}

// read gives the text of an artifact of at most limit bytes, once its bytes
// were found to be what its name says.
func (b *blobReader) read(sha string, limit int64) (string, error) {
	if b.err != nil {
		return "", b.err
	}
	f, err := b.r.OpenBlob(sha)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var raw bytes.Buffer
	if known, ok := f.(interface{ Stat() (os.FileInfo, error) }); ok { // one growth instead of many
		if info, err := known.Stat(); err == nil {
			raw.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
		}
	}
	_, err = raw.ReadFrom(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return "", err
	case int64(raw.Len()) > limit:
		return "", errTooLong
	case hexSum(raw.Bytes()) != sha:
		return "", errOtherBytes
	}
	return raw.String(), nil
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
