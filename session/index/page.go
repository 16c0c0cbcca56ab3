package index

import (
	"maps"
	"slices"
	"time"
)

// keyOf is built once: it is a table in another shape.
var keyOf = byName()

// page is the text of one bundle: its journal in lines, and where its
// artifacts are named.
type page struct {
	entries []entry
	blobs   []blobRef
	raw     string // what it was decoded from, which the places of its lines refer to
}

type entry struct {
	seq   int64
	at    time.Time
	kind  string
	step  string
	actor string
	lines []textLine
}

// textLine is a line of an entry as it is searched and shown: `name: value`.
type textLine struct {
	key   Key
	text  string
	value int // where the value begins in text
	at    int // where text begins in the raw page
}

// blobRef is one mention of an artifact.
type blobRef struct {
	sha, role string
	seq       int64
	at        time.Time
}

func (l textLine) val() string { return l.text[l.value:] }

func (p *page) encode() []byte {
	var e encoder
	e.num(uint64(len(p.entries)))
	for _, en := range p.entries {
		e.int(en.seq)
		e.time(en.at)
		e.text(en.kind)
		e.text(en.step)
		e.text(en.actor)
		e.num(uint64(len(en.lines)))
		for _, l := range en.lines {
			e.num(uint64(l.key))
			e.num(uint64(l.value))
			e.text(l.text)
		}
	}
	e.num(uint64(len(p.blobs)))
	for _, b := range p.blobs {
		e.text(b.sha)
		e.text(b.role)
		e.int(b.seq)
		e.time(b.at)
	}
	return e.b
}

func decodePage(s string) (*page, error) {
	d := decoder{s: s}
	p := &page{raw: s}
	n := d.count()
	p.entries = make([]entry, 0, min(n, len(s)/64))
	for range n {
		en := entry{seq: d.int(), at: d.time(), kind: d.text(), step: d.text(), actor: d.text()}
		lines := d.count()
		en.lines = make([]textLine, 0, min(lines, 64))
		for range lines {
			l := textLine{key: Key(d.num()), value: int(d.num()), text: d.text()}
			if l.value < 0 || l.value > len(l.text) {
				d.fail()
				break
			}
			l.at = d.at - len(l.text)
			en.lines = append(en.lines, l)
		}
		p.entries = append(p.entries, en)
		if d.err != nil {
			return nil, d.err
		}
	}
	for range d.count() {
		p.blobs = append(p.blobs, blobRef{sha: d.text(), role: d.text(), seq: d.int(), at: d.time()})
	}
	return p, d.done()
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
