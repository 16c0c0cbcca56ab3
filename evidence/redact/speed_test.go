package redact

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// speedCorpus is clean text with a secret of some kind about every forty lines.
func speedCorpus(size int) []byte {
	c := newCleanText(5)
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(c.line() + "\n")
		if i%40 == 0 {
			text, _ := plant(c.Rand, kinds[i/40%len(kinds)].text)
			b.WriteString(text + "\n")
		}
	}
	return []byte(b.String())
}

// knowing is a redactor with 300 known values.
func knowing() *Redactor {
	r := testRedactor()
	rnd := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		v, _ := plant(rnd, "{P40}")
		r.Secret(v)
	}
	return r
}

// hostile are inputs made to be slow.
func hostile() map[string][]byte {
	fill := func(unit string) []byte { return bytes.Repeat([]byte(unit), 4<<20/len(unit)+1) }
	lines := func(unit string) []byte { return fill(strings.Repeat(unit, 100/len(unit)+1) + "\n") }
	return map[string][]byte{
		"password": fill("password"), "password lines": lines("password"), "password=": fill("password= "), "eyJ": fill("eyJ"), "eyJ.": fill("eyJhbGciOiJI."),
		"begin": fill("-----BEGIN "), "key": fill("-----BEGIN PRIVATE KEY-----\n"), "data": fill("data:\n"), "data deep": fill("data:\n  a: b\n"), `"data":`: fill(`"data":{"a":"b"},`),
		`\"data\":`: fill(`\"data\":{\"a\":\"b\"},`), "://": fill("://a"), "@tcp(": fill("a:@tcp("), "base64": fill("QUtJQVFVRVI"), "base64 lines": lines("QUtJQVFVRVI"),
		"base64 of base64": fill("UVVzaVFVUkJRVkZWU1ZJ"), "percent": fill("%3d%22"), "percent runs": fill("a%3db%22c "), "tokens": fill("<redacted:"), "machine": fill("machine a login b "),
		"authorization": fill("authorization: a"), "curl": fill("curl -u a"), "cookie": fill("cookie=;"), "block": fill("password: |\n  a\n"), "quotes": fill(`\"token\":\"`), "Q~": fill("1Q~"), "NUL": fill("\x00"),
		"last applied": fill("last-applied-configuration: {\n"), "H4sIA": fill("H4sIA "), "escaped block": fill(`secret: |\n a`),
	}
}

// TestHostileInputIsBounded counts what rules look at instead of the time they take.
func TestHostileInputIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	r := knowing()
	names := []string{}
	all := hostile()
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		in := all[name][:512<<10]
		w := applier{Redactor: r, in: in}
		w.seen.lineEnd = -1
		w.run(len(in), true)
		if most := workFree + workEach*len(in) + 2*holdMost; w.seen.work > most {
			t.Errorf("%s: %d bytes looked at beside the one pass, want at most %d", name, w.seen.work, most)
		}
		if _, err := io.Copy(io.Discard, bytes.NewReader(w.dst)); err != nil || w.done != len(in) {
			t.Errorf("%s: %d of %d bytes done", name, w.done, len(in))
		}
	}
}
