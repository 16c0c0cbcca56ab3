package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"handrail/triage"
	"handrail/triage/record"
)

// attacks are texts that some surface would act upon.
var attacks = []string{
	"\x1b]0;owned\x07\x1b[2J\x1b[?1049h", "\u009b31m\x9b31m", "a\rb\x08c\x00d\x7f", "\u202etxt.exe\u202c\u2066x\u2069", "zero\u200bwidth\ufeff\U000e0041",
	"<script>alert(1)</script><img src=x onerror=alert(1)>", `"><svg onload=alert(1)>`, "</pre></style></title><iframe src=//evil>", "{{.Incident}}{{template \"x\"}}",
	"=cmd|'/c calc'!A1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\u00a0=1", "x\n=1+1\n@x", "x;=1+1", "＝1+1", "a,b\"c",
	"| a | b |", "```\n# owned\n```", "~~~\n````\n`````", "[x](javascript:alert(1))", "![x](http://evil.example/p.png)", "https://evil.example www.evil.example mailto:a@b", "# heading", "- item", "1. item", "> quote", "    code", "\\", "&lt;script&gt;", "a_b*c~d$e$",
	"@channel @everyone <!channel> <@U1>", "../../etc/passwd", "x\u2028\u2029", strings.Repeat("long ", 400), "\xff\xfe\xc3\x28",
}

// checkDocument asserts that no surface carries a text so that it acts. plain is the same document with a harmless
// text, whose structure must come out the same.
func checkDocument(t *testing.T, attack string, hostile, plain Document) {
	t.Helper()
	forms := surfaces(attack + "\nsecond line\n")
	for name, write := range forms {
		var got, want bytes.Buffer
		if err := write(&got, hostile); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := write(&want, plain); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if bad := acting(got.String()); bad != "" {
			t.Errorf("%s carries %s raw, of %q", name, bad, attack)
		}
		switch {
		case name == "report.html":
			if g, w := tags(t, &got), tags(t, &want); !slices.Equal(g, w) {
				t.Errorf("%q changes the elements of the page", attack)
			}
		case name == "report.md":
			if g, w := bones(got.String()), bones(want.String()); !slices.Equal(g, w) {
				t.Errorf("%q changes the structure of the Markdown: %s", attack, firstDifference(g, w))
			}
		case name == "timeline.csv":
			checkCells(t, attack, got.Bytes())
		default:
			checkJSON(t, name, attack, got.Bytes())
		}
	}
}

// acting names the first thing in a text that a terminal acts upon or that shows otherwise than it is.
func acting(s string) string {
	if !utf8.ValidString(s) {
		return "broken UTF-8"
	}
	for _, r := range s {
		if r != '\n' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)) {
			return string([]byte(`U+`)) + strings.ToUpper(string("0123456789abcdef"[r>>4&15])) + string("0123456789abcdef"[r&15])
		}
	}
	return ""
}

// tags lists the elements and attributes of a page as a browser would see them.
func tags(t *testing.T, page io.Reader) []string {
	t.Helper()
	var out []string
	z := html.NewTokenizer(page)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			return out
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			say := tok.Data
			for _, a := range tok.Attr {
				say += " " + a.Key + "=" + a.Val
			}
			out = append(out, say)
		}
	}
}

var (
	escapes = regexp.MustCompile(`\\[[:punct:]]|&[a-z]+;`)
	harm    = regexp.MustCompile("[^|<>`*_\\[\\]#~$\\\\]")
	links   = regexp.MustCompile(`(?i)://|www\.|mailto:`)
	leads   = regexp.MustCompile(`^ *([-+*>=#]|[0-9]+[.)] |\t| {4})`)
)

// bones is what of each line of Markdown acts, fenced lines apart.
func bones(page string) []string {
	var out []string
	fence := ""
	for l := range strings.Lines(page) {
		l = strings.TrimSuffix(l, "\n")
		ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
		switch {
		case fence != "":
			if len(ticks) >= len(fence) && ticks == strings.TrimSpace(l) {
				fence = ""
				out = append(out, "fence")
			}
			continue
		case len(ticks) >= 3:
			fence = ticks
			continue
		}
		l = escapes.ReplaceAllString(l, "")
		out = append(out, leads.FindString(l)+harm.ReplaceAllString(l, "")+strings.Join(links.FindAllString(l, -1), " "))
	}
	return out
}

func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + " instead of " + b[i]
		}
	}
	return "another number of lines"
}

var calculates = regexp.MustCompile(`^[\s\x{a0}"]*[=+\-@＝＋－＠]`)

// checkCells reads the file as two kinds of spreadsheet would: with commas, and with semicolons.
func checkCells(t *testing.T, attack string, file []byte) {
	t.Helper()
	for _, comma := range []rune{',', ';'} {
		r := csv.NewReader(bytes.NewReader(file))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, comma == ';', -1
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%q breaks the CSV: %v", attack, err)
		}
		for _, row := range rows {
			if comma == ',' && len(row) != 7 {
				t.Errorf("%q makes %d cells of 7", attack, len(row))
			}
			for _, c := range row {
				for l := range strings.Lines(c) {
					if calculates.MatchString(l) {
						t.Errorf("%q gives the cell %q, which calculates", attack, c)
					}
				}
			}
		}
	}
}

// checkJSON walks every string of a file of JSON values.
func checkJSON(t *testing.T, name, attack string, file []byte) {
	t.Helper()
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if bad := acting(strings.TrimSuffix(strings.ReplaceAll(v, "\r\n", "\n"), "\n")); bad != "" {
				t.Errorf("%s decodes to text with %s, of %q", name, bad, attack)
			}
		case []any:
			if strings.HasSuffix(name, ".cast") && v[1] != "o" && v[1] != "m" && v[1] != "x" {
				t.Errorf("%s has an event %q", name, v[1])
			}
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				walk(k)
				walk(x)
			}
		}
	}
	for dec := json.NewDecoder(bytes.NewReader(file)); ; {
		var v any
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s with %q: %v", name, attack, err)
		}
		walk(v)
	}
}

// checkLines asserts that the short update and the comparison stay lines.
func checkLines(t *testing.T, attack string, st, other triage.State) {
	t.Helper()
	update := Status(st)
	if bad := acting(update); bad != "" || strings.Count(update, "\n") > 8 {
		t.Errorf("the update carries %s raw or has over 8 lines, of %q:\n%s", bad, attack, update)
	}
	if regexp.MustCompile(`(^|[^\w.\-])@|[<>]`).MatchString(update) {
		t.Errorf("the update calls somebody, of %q:\n%s", attack, update)
	}
	var b bytes.Buffer
	if err := WriteComparison(&b, Compare(st, other)); err != nil {
		t.Fatal(err)
	}
	if bad := acting(b.String()); bad != "" {
		t.Errorf("the comparison carries %s raw, of %q", bad, attack)
	}
}

// planted is a state whose every text is s: also those that the fold would hold against a grammar, since a bundle
// need not come from handrail.
func planted(s string) triage.State {
	var st triage.State
	plant(reflect.ValueOf(&st).Elem(), s)
	return st
}

func plant(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if v.CanSet() && v.Type().Elem().PkgPath() != "handrail/triage" {
			v.Set(reflect.New(v.Type().Elem()))
			plant(v.Elem(), s)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			raw, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always has a JSON form
			}
			v.SetBytes(raw)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			plant(v.Index(i), s)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, tail := range []string{"", "b"} {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			plant(key, s+tail) // so that the order is the same for every text
			plant(value, s)
			if _, ok := value.Interface().(record.Value); ok && tail != "" {
				value.Set(reflect.ValueOf(record.Unknown(record.Type(s), s)))
			}
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[record.Value]() {
			v.Set(reflect.ValueOf(record.StringOf(s)))
			return
		}
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(t0))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				plant(v.Field(i), s)
			}
		}
	}
}

func everywhere(attack string) Document {
	a := line(attack)
	return New(planted(attack), With([]Artifact{{SHA256: a, Role: a, Media: "text/plain", Redacted: a, Step: a, Entry: 1, Truncated: true}}),
		Verified(Verification{Head: a, Root: a, Checks: []Check{{Property: a, Verdict: a, Detail: a}}}))
}

func TestNothingActs(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	for _, attack := range attacks {
		for _, plant := range []func(string) func(string) string{
			func(what string) func(string) string { return func(string) string { return what } },
			func(what string) func(string) string { return func(s string) string { return s + what } },
		} {
			st := fold(t, story(plant(attack)), -1)
			checkDocument(t, attack, whole(t, plant(attack), -1), whole(t, plant("harmless"), -1))
			checkLines(t, attack, st, planted(attack))
		}
		checkDocument(t, attack, everywhere(attack), everywhere("harmless"))
		checkLines(t, attack, planted(attack), planted("harmless"))
	}
}

func FuzzNothingActs(f *testing.F) {
	if testing.Short() {
		f.Skip("too long for -short")
	}
	for _, attack := range attacks {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, attack string) {
		if strings.TrimSpace(attack) == "" || len(attack) > 1<<12 {
			return
		}
		// Words that mean something to the report are no attack.
		for _, word := range []string{"no", "yes", "info", "warning", "critical", "open", "recovered", "done", "ok", "settled", "true"} {
			if strings.TrimSpace(attack) == word {
				return
			}
		}
		checkDocument(t, attack, everywhere("x"+attack), everywhere("harmless"))
		checkDocument(t, attack, everywhere(attack+"x"), everywhere("harmless"))
		checkLines(t, attack, planted(attack), planted("harmless"))
	})
}
