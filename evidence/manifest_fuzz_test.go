package evidence

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"handrail/evidence/corpus"
)

// FuzzManifest feeds the small files that say what a bundle is, bundle.json and a checkpoint, and the anchor line that people
// paste. What is taken has exactly one form.
func FuzzManifest(f *testing.F) {
	corpus.Seed(f)
	const id = "20261121-021407-0b1c2d3e"
	meta := encodeMeta(Meta{Format: Format, ID: id, Created: "2026-11-21T02:14:07.000000000Z", Handrail: "v1"})
	point := Checkpoint{ID: id, Entries: 7, Root: encodeRoot(tlog.Hash{1, 2, 3})}
	f.Add(meta)
	f.Add(point.Text())
	f.Add([]byte(point.Line()))
	f.Add([]byte(strings.Replace(string(meta), `"v1"`, `"v1","v":2`, 1)))
	f.Add(bytes.ReplaceAll(point.Text(), []byte("7\n"), []byte("07\n")))
	f.Add([]byte(`{"format":"` + Format + `","format":"x"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if m, err := parseMeta(in); err == nil {
			if !bytes.Equal(encodeMeta(m), in) || !validID.MatchString(m.ID) {
				t.Fatalf("parseMeta(%q) = %+v", in, m)
			}
		}
		if c, err := parseCheckpoint(in); err == nil && !bytes.Equal(c.Text(), in) {
			t.Fatalf("parseCheckpoint(%q) = %+v, which is written as %q", in, c, c.Text())
		}
		if c, err := ParseAnchor(string(in)); err == nil && c.Line() != strings.Join(strings.Fields(strings.Trim(string(in), " \t\r\n`")), " ") {
			t.Fatalf("ParseAnchor(%q) = %+v, which is written as %q", in, c, c.Line())
		}
	})
}
