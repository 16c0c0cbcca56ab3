package joblog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func learned(t testing.TB, text string) *Frame {
	t.Helper()
	l := NewLearner()
	if err := Each(strings.NewReader(text), l.Line); err != nil {
		t.Fatal(err)
	}
	return l.Frame()
}

func TestFrames(t *testing.T) {
	t.Parallel()
	const box = "╷\n│ Error: x\n╵\n"
	prefixed := func(prefix, text string) string {
		var out strings.Builder
		for l := range strings.Lines(text) {
			out.WriteString(prefix + l)
		}
		return out.String()
	}
	for _, tc := range []struct {
		name, log, line, text, from string
		framed, beside, unclear     bool
	}{
		{name: "none", log: "t.a: Creating...\n", line: "[x] t.a: Creating...", text: "[x] t.a: Creating...", framed: true},
		{name: "nothing known", log: "lorem\nipsum\n", line: "  lorem", text: "  lorem", framed: true},
		{name: "indent is kept", log: "c-1  | t.a: Creating...\n", line: "c-1  |   with t.a,", text: "  with t.a,", framed: true},
		{name: "an empty line", log: "c-1  | t.a: Creating...\n", line: "c-1  |", text: "", framed: true},
		{name: "not of the program", log: "c-1  | t.a: Creating...\n", line: "Attaching to c-1", text: "Attaching to c-1"},
		{name: "another day", log: "Jan  9 03:04:05 h p[7]: t.a: Creating...\n", line: "Feb 10 13:14:15 h p[8]: x", text: "x", framed: true},
		{name: "no fraction", log: "2026-01-02T03:04:05.1Z t.a: Creating...\n", line: "2026-01-02T03:04:06Z x", text: "x", framed: true},
		{name: "a key like a prefix", log: "t.a[\"[x] t.b: Creating...\"]: Creating...\n", line: "t.c", text: "t.c", framed: true},
		{name: "a provisioner is no frame", log: "t.a: Creating...\nt.a (local-exec): t.b: Creating...\n", line: "t.a (local-exec): x", text: "t.a (local-exec): x", framed: true},
		{name: "a provisioner alone", log: "t.a (local-exec): t.b: Creating...\n", line: "t.a (local-exec): x", text: "t.a (local-exec): x", framed: true},
		{name: "a box quotes", log: "╷\n│ Error: x\n│ t.b: Creating...\n╵\n", line: "│ x", text: "│ x", framed: true},
		{name: "indented quotations", log: "t.a: Creating...\n    t.b: Creating...\n", line: "x", text: "x", framed: true},
		{name: "a quoted log", log: "t.a: Creating...\n2026-01-02T03:04:05Z t.b: Creating...\n", line: "x", text: "x", framed: true, unclear: true},
		{name: "two sources", log: "[a] t.a: Creating...\n[b] t.a: Creating...\n[a] t.a: Creation complete after 0s\n", line: "[b] x", text: "x", from: "b", framed: true, beside: true},
		{name: "one after the other", log: "j\tinit\t2026-01-02T03:04:05Z Initializing the backend...\nj\tapply\t2026-01-02T03:04:05Z t.a: Creating...\n", line: "j\tapply\t2026-01-02T03:05:05Z x", text: "x", framed: true},
		{name: "two streams", log: prefixed("03:04:05 STDOUT ", "t.a: Creating...\n") + prefixed("03:04:06 STDERR ", box) + prefixed("03:04:07 STDOUT ", "t.a: Creating...\n"), line: "03:04:05 STDERR x", text: "x", framed: true},
		{name: "marked lines", log: "03:04:05 t.a: Creating...\n03:04:06 ##[error]│ Error: x\n", line: "03:04:06 ##[error]│ Error: x", text: "│ Error: x", framed: true},
		{name: "a headline", log: "[pod/a] Error: Saved plan is stale\n[pod/a] \n", line: "[pod/a] x", text: "x", framed: true},
		{name: "a word before a headline", log: "t.a: Creating...\nmy Error: x\n", line: "my x", text: "my x", framed: true},
	} {
		f := learned(t, tc.log)
		text, from, framed := f.Strip(tc.line)
		if text != tc.text || from != tc.from || framed != tc.framed || f.Beside() != tc.beside || (f.Unclear() != "") != tc.unclear {
			t.Errorf("%s: %q of %q, framed %v, beside %v, unclear %q", tc.name, text, from, framed, f.Beside(), f.Unclear())
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[0m\x1b[1mt.a\x1b[0m":              "t.a",
		"\x1b]8;;http://x\x07t.a\x1b]8;;\x1b\\": "t.a",
		"\x1b_bk;t=1\x07t.a":                    "t.a",
		"\x1b(Bt.a\x1b=":                        "t.a",
		"\x1b]8;t.a: Creating...":               "8;t.a: Creating...", // no end: nothing is hidden
		"t.a\x1b":                               "t.a",
		"\x1b[31":                               "31",
		"t.a\r\n":                               "t.a",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// repeatReader is a part of a log, many times over.
type repeatReader struct {
	part []byte
	left int
	at   int
}

func (r *repeatReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.left > 0 {
		m := copy(p[n:], r.part[r.at:])
		n, r.at = n+m, r.at+m
		if r.at == len(r.part) {
			r.at, r.left = 0, r.left-1
		}
	}
	return n, nil
}

// TestHostileLogsAreBounded reads what is made to cost time or memory.
func TestHostileLogsAreBounded(t *testing.T) {
	t.Parallel()
	longest, long := 0, 0
	err := Each(&repeatReader{part: bytes.Repeat([]byte("\x1b]8;\x1b[3t.a: Crea"), 512), left: 100 << 20 / (15 * 512)}, func(line string, how End) {
		longest = max(longest, len(line))
		if how == Long {
			long++
		}
	})
	if err != nil || longest > MaxLine || long != 1 {
		t.Errorf("a long line: %d bytes, %d long, %v", longest, long, err)
	}
	l := NewLearner()
	for i := range 50_000 {
		name := fmt.Sprintf("%c%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17576%26)
		l.Line(name+" t.a: Creating...", Broken)
		l.Line("{\"log\":\""+name, Broken)
		l.Line(name+" Error: x", Broken)
	}
	if len(l.strong) > maxShapes || len(l.weak) > maxShapes || l.spans > maxStreams || l.Frame().Unclear() == "" {
		t.Errorf("%d and %d prefixes, %d streams, unclear %q", len(l.strong), len(l.weak), l.spans, l.Frame().Unclear())
	}
	var e envelopes
	for i := range 50_000 {
		e.open(fmt.Appendf(nil, `{"log":"part","stream":"s%d"}`, i), Broken, func(string, End) {})
	}
	if len(e.part) > maxShapes || e.held > MaxLine {
		t.Errorf("%d parts of lines are held, %d bytes", len(e.part), e.held)
	}
}

func FuzzUnframe(f *testing.F) {
	for _, s := range []string{
		"apply\tRun tofu apply\t2026-01-02T03:04:05.1234567Z ╷\napply\tRun tofu apply\t2026-01-02T03:04:05.1234567Z │ Error: x\n",
		"[pod/x/c] t.a: Creating...\n[pod/y/c] t.a: Creating...\n", `{"log":"t.a: Creating...\n","stream":"stdout","time":"x"}`,
		`{"MESSAGE":[116,46,97]}`, `time=1 msg="t.a[\"x\"]: Creating..."`, "\x1b_bk;t=1\x07x", "\xff\xfet\x00.\x00", "\x1f\x8b\x08",
		"section_start:1:x\r\x1b[0K$ tofu apply\n", "<!DOCTYPE html>", "PK\x03\x04", "\ufeffError: x", "2026-01-02T03:04:05Z stdout P part",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := Unframe(string(in))
		if text, err := Decode(bytes.NewReader(in)); err == nil {
			n := 0
			if err := Each(text, func(line string, _ End) { n += len(line) + 1 }); err != nil {
				t.Fatal(err)
			}
			if len(out) > n {
				t.Fatalf("%d bytes became %d", n, len(out))
			}
		} else if bad := (*UnreadableError)(nil); !errors.As(err, &bad) || out != string(in) {
			t.Fatalf("Decode() = %v, and the text changed", err)
		}
	})
}
