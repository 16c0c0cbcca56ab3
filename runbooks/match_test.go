package runbooks

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"handrail/steps/catalog"
)

const boxed = `Acquiring state lock. This may take a few moments...
╷
│ Error: Error acquiring the state lock
│ 
│ Error message: the state is already locked by another client: lock is held
│ by another run
│ Lock Info:
│   ID:        b9c1d1f0-6a0e-4a55-9a3c-0c2c6f2c9f11
│   Path:      
│   Operation: OperationTypeApply
│   Who:       ci@runner-7
│   Version:   1.12.6
│   Created:   2026-01-02 03:04:05.123 +0000 UTC
│   Info:      
│ 
│ 
│ OpenTofu acquires a state lock to protect the state from being written
│ by multiple users at the same time.
╵
`

func TestMatch(t *testing.T) {
	t.Parallel()
	lib := []*Runbook{library1(t)}
	ansi := strings.NewReplacer("│", "\x1b[31m│\x1b[0m\x1b[0m", "Error:", "\x1b[1m\x1b[31mError:\x1b[0m").Replace(boxed)
	var ci strings.Builder
	for l := range strings.Lines(boxed) {
		ci.WriteString("2026-01-02T03:04:06.1234567Z " + l)
	}
	wrapped := strings.Replace(boxed, "Error acquiring the state lock", "Error acquiring the state\n│ lock", 1)
	cases := []struct {
		name, text, line string
		groups           bool
	}{
		{"boxed", boxed, "Error: Error acquiring the state lock", true},
		{"carriage returns", strings.ReplaceAll(boxed, "\n", "\r\n"), "Error: Error acquiring the state lock", true},
		{"colours", ansi, "Error: Error acquiring the state lock", true},
		{"CI stamps", ci.String(), "Error: Error acquiring the state lock", true},
		{"wrapped", wrapped, "Error: Error acquiring the state", true},
		{"JSON", `{"@level":"error","@message":"Error: Error acquiring the state lock","diagnostic":{"summary":"Error acquiring the state lock","detail":"Lock Info:\n  ID:        b9c1d1f0-6a0e-4a55-9a3c-0c2c6f2c9f11\n  Operation: OperationTypeApply\n  Who:       ci@runner-7\n"}}`,
			"", true},
		{"azure", "Error: state blob is already locked", "Error: state blob is already locked", false},
		{"in a long log", strings.Repeat("module.a: Refreshing state...\n", 300_000) + boxed, "Error: Error acquiring the state lock", true},
	}
	plain := strings.NewReplacer("╷\n", "\n", "╵\n", "\n", "│ ", "").Replace(boxed)
	for name, prefix := range map[string]string{
		"gh run view --log": "apply (prod)\tRun tofu apply\t2026-01-02T03:04:05.1234567Z ",
		"gitlab":            "2026-01-02T03:04:05.123456Z 01E ",
		"kubectl":           "[pod/apply-7c9f4d8b-x2x9z/tofu] ",
		"compose":           "tofu-1  | ",
		"syslog":            "Jan  2 03:04:05 runner-7 tofu[4242]: ",
		"terragrunt":        "03:04:05.123 STDERR [vpc] tofu: ",
		"stern":             "apply-7c9f4d8b-x2x9z tofu ",
	} {
		for form, text := range map[string]string{"in its box": boxed, "plain": plain} {
			var out strings.Builder
			for l := range strings.Lines(text) {
				out.WriteString(prefix + l)
			}
			cases = append(cases, struct {
				name, text, line string
				groups           bool
			}{name + " " + form, out.String(), "Error: Error acquiring the state lock", true})
		}
	}
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(ci.String())) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	cases = append(cases, struct {
		name, text, line string
		groups           bool
	}{"UTF-16", string(wide), "Error: Error acquiring the state lock", true})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hits := Match(lib, tc.text)
			if len(hits) != 1 {
				t.Fatalf("Match() = %+v, want one hit", hits)
			}
			h := hits[0]
			if tc.line != "" && h.Line != tc.line {
				t.Errorf("Line = %q, want %q", h.Line, tc.line)
			}
			if tc.groups && (h.Groups["lock_id"] != "b9c1d1f0-6a0e-4a55-9a3c-0c2c6f2c9f11" || h.Groups["who"] != "ci@runner-7" || h.Groups["operation"] != "OperationTypeApply") {
				t.Errorf("Groups = %v", h.Groups)
			}
		})
	}
	for _, text := range []string{"", "   \n", "Apply complete! Resources: 1 added", "\x1b[", strings.Repeat("│ ", 1000)} {
		if hits := Match(lib, text); len(hits) != 0 {
			t.Errorf("Match(%.20q) = %+v, want none", text, hits)
		}
	}
}

// TestCollapseLong: of a long text the beginning and the end are read as one line,
// and its words still know their lines.
func TestCollapseLong(t *testing.T) {
	t.Parallel()
	const lines = maxCollapsed / 8
	c := collapse("first\nwords\n" + strings.Repeat("aaaa bbbb cccc\n", lines) + "state\nlock\n")
	for text, line := range map[string]int{"first words": 0, "state lock": lines + 2} {
		if i := strings.Index(c.text, text); i < 0 || c.line(i) != line {
			t.Errorf("%q is found at %d, want it in line %d", text, i, line)
		}
	}
}

func TestMatchRanks(t *testing.T) {
	t.Parallel()
	other := mustParse(t, head+"recognise:\n  - {pattern: state lock, weight: 5}\n")
	hits := Match([]*Runbook{other, library1(t)}, boxed)
	if len(hits) != 2 || hits[0].Runbook != "state-lock" || hits[1].Runbook != "sample" {
		t.Errorf("Match() = %+v", hits)
	}
}

func FuzzMatch(f *testing.F) {
	lib, err := theLibrary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(boxed)
	f.Add("\x1b]0;title\x07Error acquiring the state\r\n│ lock")
	f.Add("\xff\xfe \"detail\": \\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range Match(lib, text) {
			if h.Score < Floor || h.Pattern == "" && h.Say == "" || strings.ContainsAny(h.Line, "\n\r\x1b") {
				t.Errorf("Match(%q) = %+v", text, h)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	lib, err := theLibrary()
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("module.a: Refreshing state... [id=x]\n", 20_000) + boxed
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Match(lib, text)
	}
}

// BenchmarkLibrary is what the first screen waits for; BenchmarkCheck is what
// the first use of a runbook costs besides.
func BenchmarkLibrary(b *testing.B) {
	for b.Loop() {
		if _, err := Library(catalog.New()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		lib, err := Library(catalog.New())
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range lib {
			if err := r.Check(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
