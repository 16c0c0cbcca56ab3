package redact

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// missedMost is how many of what was missed are named.
const missedMost = 60

var everyForm = flag.Bool("every-form", false, "redact every secret in every syntax and every encoding, not a sample")

// form is a text with secrets in it.
type form struct {
	source, name, text string
	secrets            []string
}

// plantForm plants values for {A20} and the like; {Z…} is what SMTP calls PLAIN.
func plantForm(rnd *rand.Rand, text string) (string, []string) {
	var more []string
	for {
		i := strings.Index(text, "{Z")
		if i < 0 {
			break
		}
		end := i + strings.IndexByte(text[i:], '}')
		v, _ := plant(rnd, "{A"+text[i+2:end]+"}")
		v = base64.StdEncoding.EncodeToString([]byte("\x00robin\x00" + v))
		more = append(more, v)
		text = text[:i] + v + text[end+1:]
	}
	out, secrets := plant(rnd, text)
	return out, append(secrets, more...)
}

// plantValue makes a value and what of it must not survive: its parts that are random, or all of it where it is words.
func plantValue(rnd *rand.Rand, shape string) (string, []string) {
	v, secrets := plantForm(rnd, shape)
	if len(secrets) == 0 {
		secrets = []string{v}
	}
	return v, secrets
}

// write puts a name and a value into a syntax; ok is false where the value cannot stand there.
func (w writing) write(words, v string) (string, bool) {
	name := words
	if style := styles[w.style]; style != nil {
		name = style(words)
	}
	blank := strings.Contains(v, " ")
	switch {
	case w.word && blank:
		return "", false
	case strings.HasPrefix(w.name, "XML") && strings.ContainsAny(v, "&<"):
		return "", false
	case strings.Contains(w.name, "YAML") && strings.ContainsAny(v[:1], "!*%") && !strings.Contains(w.text, "'VALUE'"):
		return "", false // it would have to be quoted
	case w.style != "" && strings.Contains(w.text, "$") && strings.Contains(v, "$"):
		return "", false
	}
	quoted, _ := json.Marshal(v)
	text := strings.NewReplacer("NAME", name, "VALUE", v, "JSON", string(quoted)).Replace(w.text)
	return text, true
}

// encodings are what a text with a secret in it may have gone through as a whole.
var encodings = []struct {
	name string
	wrap func(rnd *rand.Rand, s string) []byte
}{
	{"plain", func(_ *rand.Rand, s string) []byte { return []byte("02:14:07 start\n" + s + "\n02:14:08 end\n") }},
	{"base64", func(rnd *rand.Rand, s string) []byte {
		return []byte("value: " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("#", rnd.IntN(3))+"\n"+s+"\n")) + "\nend: 1\n")
	}},
	{"URL, upper case", func(_ *rand.Rand, s string) []byte {
		return []byte("GET /cb?q=" + url.QueryEscape(s) + "&z=1 HTTP/1.1\n")
	}},
	{"URL, lower case", func(_ *rand.Rand, s string) []byte {
		return []byte("GET /cb?q=" + lowerPercent(url.QueryEscape(s)) + "&z=1 HTTP/1.1\n")
	}},
	{"hex", func(_ *rand.Rand, s string) []byte { return []byte("dump " + hex.EncodeToString([]byte(s)) + " end\n") }},
	{"hex, upper case", func(_ *rand.Rand, s string) []byte {
		return []byte("0x" + strings.ToUpper(hex.EncodeToString([]byte(s))) + "\n")
	}},
	{"UTF-16LE", func(_ *rand.Rand, s string) []byte { return utf16Of("\ufeffstart\r\n"+s+"\r\nend\r\n", false) }},
	{"UTF-16BE", func(_ *rand.Rand, s string) []byte { return utf16Of("\ufeffstart\r\n"+s+"\r\nend\r\n", true) }},
	{"UTF-16LE without a mark", func(_ *rand.Rand, s string) []byte { return utf16Of("start\r\n"+s+"\r\nend\r\n", false) }},
	{"base64 of UTF-16LE", func(_ *rand.Rand, s string) []byte {
		return []byte("powershell -EncodedCommand " + base64.StdEncoding.EncodeToString(utf16Of(s, false)) + "\n")
	}},
	{"JSON", func(_ *rand.Rand, s string) []byte {
		b, _ := json.Marshal(map[string]string{"log": s, "z": "end"})
		return append(b, '\n')
	}},
	{"JSON with \\/", func(_ *rand.Rand, s string) []byte {
		b, _ := json.Marshal(map[string]string{"log": s, "z": "end"})
		return append(bytes.ReplaceAll(b, []byte("/"), []byte(`\/`)), '\n')
	}},
	{"JSON in \\u", func(_ *rand.Rand, s string) []byte {
		return []byte(`{"log":"` + unicodeEscaped(s) + `","z":"end"}` + "\n")
	}},
	{"gzip", func(_ *rand.Rand, s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte("start\n" + s + "\nend\n"))
		_ = z.Close()
		return b.Bytes()
	}},
	{"gzip in base64", func(_ *rand.Rand, s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte("start\n" + s + "\nend\n"))
		_ = z.Close()
		return []byte("user_data: " + base64.StdEncoding.EncodeToString(b.Bytes()) + "\n")
	}},
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

func utf16Of(s string, big bool) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func unicodeEscaped(s string) string {
	var out strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&out, `\u%04x`, u)
	}
	return out.String()
}

// gunzipped is what a gzip stream that was stored as it came would show to anyone.
func gunzipped(out string) string {
	if !strings.HasPrefix(out, "\x1f\x8b") {
		return out
	}
	z, err := gzip.NewReader(strings.NewReader(out))
	if err != nil {
		return out
	}
	var b bytes.Buffer
	_, _ = b.ReadFrom(z)
	return b.String()
}

// survives returns what is left of a secret in what was stored: twelve bytes in a row, or all of a shorter one.
func survives(out string, secrets []string) string {
	out = gunzipped(out)
	for _, s := range secrets {
		forms := []string{s, string(utf16Of(s, false)), url.QueryEscape(s), url.PathEscape(s), lowerPercent(url.QueryEscape(s)), hex.EncodeToString([]byte(s)),
			strings.ToUpper(hex.EncodeToString([]byte(s))), unicodeEscaped(s), strings.ReplaceAll(s, "/", `\/`)}
		esc, _ := json.Marshal(s)
		forms = append(forms, string(esc[1:len(esc)-1]))
		for shift := range 3 {
			forms = append(forms, base64Core(base64.StdEncoding, s, shift), base64Core(base64.StdEncoding, string(utf16Of(s, false)), shift), base64Core(base64.StdEncoding, "\x00"+string(utf16Of(s, false)), shift))
		}
		for n, f := range forms {
			least := 12
			if n > 0 {
				least = max(12, len(f)*12/max(12, len(s)))
			}
			least = min(least, len(f))
			for i := 0; i+least <= len(f); i++ {
				if least >= 8 && strings.Contains(out, f[i:i+least]) {
					return f[i : i+least]
				}
			}
		}
	}
	return ""
}

// tally counts what was found, by source.
type tally struct {
	all, found map[string]int
	missed     []string
}

func newTally() *tally { return &tally{all: map[string]int{}, found: map[string]int{}} }

func (y *tally) take(source string, ok bool, missed string, args ...any) {
	y.all[source]++
	if ok {
		y.found[source]++
		return
	}
	y.missed = append(y.missed, source+": "+fmt.Sprintf(missed, args...))
}

// hold fails where less than least of a hundred were found, and says for the documentation how many were.
func (y *tally) hold(t *testing.T, what string, least float64) {
	t.Helper()
	sources := []string{}
	all, found := 0, 0
	for s, n := range y.all {
		sources = append(sources, s)
		all, found = all+n, found+y.found[s]
	}
	slices.Sort(sources)
	for _, s := range sources {
		t.Logf("recall, %s, %s: %.2f %% of %d", what, s, 100*float64(y.found[s])/float64(y.all[s]), y.all[s])
	}
	t.Logf("recall, %s: %.2f %% of %d", what, 100*float64(found)/float64(all), all)
	if 100*float64(found) < least*float64(all) {
		t.Errorf("%s: %d of %d found, want %.1f %%", what, found, all, least)
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	rnd.Shuffle(len(y.missed), func(i, j int) { y.missed[i], y.missed[j] = y.missed[j], y.missed[i] })
	for i, m := range y.missed {
		if i < missedMost {
			t.Log("missed: " + m)
		}
	}
}

// TestTellingNames plants values under names that tell that they are secret, in every syntax that a capture has, and that again
// in every encoding. The corpus is deterministic; without -every-form a part of the product is looked at.
func TestTellingNames(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	if n := len(settings) + len(headers) + len(ownForms) + len(kinds); n < 250 {
		t.Fatalf("%d secrets, want 250 or more", n)
	}
	r := testRedactor()
	rnd := rand.New(rand.NewPCG(7, 7))
	plain, encoded := newTally(), newTally()
	try := func(f form) {
		for e, enc := range encodings {
			if e > 0 && !*everyForm && rnd.IntN(40) > 0 {
				continue
			}
			in := enc.wrap(rnd, f.text)
			out, _ := stream(r, "text/plain", in)
			left := survives(out, f.secrets)
			if e == 0 {
				plain.take(f.source, left == "", "%s: %q leaves %q in %q", f.name, f.text, left, out)
			} else {
				encoded.take(enc.name, left == "", "%s: %q leaves %q in %q", f.name, f.text, left, out)
			}
		}
	}
	// The race detector makes it slow, so that it looks at an eighth of each sort.
	passed := func(n int) bool { return raceEnabled && n%8 > 0 }
	for i, s := range settings {
		for j, w := range writings {
			if passed(i + j) {
				continue
			}
			v, secrets := plantValue(rnd, s.value)
			if text, ok := w.write(s.name, v); ok {
				try(form{map[string]string{"log": "logs", "module": "module files", "typed": "typed text"}[w.source], w.name + ", " + s.name, text, secrets})
			}
		}
	}
	for i, h := range headers {
		for j, w := range headerWritings {
			if passed(i + j) {
				continue
			}
			v, secrets := plantValue(rnd, h.value)
			try(form{"headers", w.name + ", " + h.name, strings.NewReplacer("NAME", h.name, "LOWER", strings.ToLower(h.name), "VALUE", v).Replace(w.text), secrets})
		}
	}
	for i, k := range ownForms {
		if passed(i) {
			continue
		}
		text, secrets := plantForm(rnd, k.text)
		try(form{"forms of their own", k.name, text, secrets})
	}
	for i, k := range kinds {
		if passed(i) {
			continue
		}
		text, secrets := plant(rnd, k.text)
		try(form{"forms of their own", k.name, text, secrets})
	}
	plain.hold(t, "plainly secret", 99.5)
	encoded.hold(t, "encoded", 99.5)
}

var headerWritings = []struct{ name, text string }{
	{"HTTP", "GET /v1 HTTP/1.1\r\nHost: x\r\nNAME: VALUE\r\nAccept: */*\r\n"}, {"HTTP, lower case", "> LOWER: VALUE\n> accept: */*"}, {"curl", `curl -sS -H "NAME: VALUE" https://x.example/v1`},
	{"curl, single quotes", `curl --header 'NAME: VALUE' https://x.example/v1`}, {"JSON", `{"headers":{"NAME":"VALUE","Accept":"*/*"}}`}, {"JSON list", `{"headers":{"NAME":["VALUE"]}}`}, {"HAR", `{"headers":[{"name":"NAME","value":"VALUE"}]}`},
	{"Go map", "map[Accept:[*/*] NAME:[VALUE] Host:[x]]"}, {"Python", "headers={'NAME': 'VALUE', 'Accept': '*/*'}"}, {"YAML", "headers:\n  NAME: VALUE\n  Accept: x"}, {"HCL", "  request_headers = {\n    \"NAME\" = \"VALUE\"\n  }"},
	{"nginx", "proxy_set_header NAME \"VALUE\";"}, {"escaped JSON", `{"log":"{\"NAME\":\"VALUE\"}"}`}, {"wget", "wget --header=\"NAME: VALUE\" https://x"}, {"log", `02:14:07 DEBUG request header NAME: VALUE`},
}

// TestValuesAlone plants random values where nothing tells what they are.
func TestValuesAlone(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	rnd := rand.New(rand.NewPCG(8, 8))
	y := newTally()
	rounds := 10
	if *everyForm {
		rounds = 200
	}
	for range rounds {
		for _, shape := range hardValues {
			for _, p := range alone {
				v, secrets := plantValue(rnd, shape)
				in := "02:14:07 start\n" + strings.ReplaceAll(p.text, "VALUE", v) + "\n02:14:08 end\n"
				out, _ := stream(r, "text/plain", []byte(in))
				left := survives(out, secrets)
				y.take(shape[:2]+"}", left == "", "%s, %s: %q leaves %q", p.name, shape, in, left)
			}
		}
	}
	y.hold(t, "neither name nor prefix", 90)
}
