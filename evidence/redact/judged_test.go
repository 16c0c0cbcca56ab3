package redact

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"handrail/evidence/jsontree"
)

var updateJudged = flag.Bool("update", false, "write testdata/judged.txt again; read every line that changes")

const judgedFile = "testdata/judged.txt"

// judgedCase is a text, what it is taken for, and what must come out. {A20} and the like are filled in as in kinds.
type judgedCase struct{ as, in, out string }

// Values that the redactor of judged cases knows.
const (
	judgedKnown  = `kn0wn/"va lue"+&x`
	judgedDoubt  = "gravel-mitten-spruce"
	judgedSchema = "acme_db"
)

var judgedTeam = []TeamRule{{"acme", "acme_", `(?i)acme_[a-z]{10,}`}, {"badge", "badge no ", `badge no ([0-9]{4,})`}}

var judgedMedia = map[string]string{"kubernetes": MediaKubernetes, "state": MediaTFState, "plan": MediaTFPlan, "kubeconfig": MediaKubeconfig, "json": MediaJSON, "env": MediaEnv, "text": "text/plain"}

// judged is what the rules make of a case, and what they count.
func judged(rules *ruleset, as, template string) string {
	in, _ := plantForm(rand.New(rand.NewPCG(1, 2)), template)
	r := &Redactor{rules: rules, raw: map[string]bool{}, heard: map[string]bool{}, known: &knownSet{}}
	r.Rekey(bytes.Repeat([]byte{7}, KeySize))
	r.Tell(map[string][]string{judgedSchema: {"connection", "users.login", "pools.login"}})
	streamed := func(media string, chunks ...[]byte) string {
		out, list := stream(r, media, chunks...)
		return out + "\n" + strings.Join(list, " ")
	}
	as, rest, _ := strings.Cut(as, " ")
	switch as {
	case "known":
		r.Secret(judgedKnown)
		r.Secret("plover egg, twice\nand the second line of it")
		r.Secret("gr\u00fcner/ochre \"s\u00e4ttel\"\t4\u20ac2")
		n := Counts{}
		return string(r.Bytes([]byte(in), n)) + "\n" + strings.Join(n.List(), " ")
	case "doubt":
		token := func(v string) string { return string(r.token(nil, "known", []byte(v))) }
		r.Hear([]byte("an entry with " + token(judgedDoubt)))
		other := token("heron-egg-once")
		r.Doubt(other[len(other)-1-tokenHex : len(other)-1])
		n := Counts{}
		return streamed("text/plain", []byte(in)) + "\n" + string(r.Bytes([]byte(in), n)) + "\n" + r.KnownOnly(in, n) + "\n" + strings.Join(n.List(), " ")
	case "heard": // tokens of an earlier key, one of which stands in an entry
		key := r.Key()
		r.Rekey(bytes.Repeat([]byte{8}, KeySize))
		heard, not := r.token(nil, "field", []byte("one")), r.token(nil, "field", []byte("two"))
		r.Rekey(key)
		r.Hear(heard)
		return r.Text(strings.NewReplacer("HEARD", string(heard), "NOT", string(not)).Replace(in))
	case "digest":
		return rules.digest
	case "foreign":
		r.PassForeign()
		return r.Text(in)
	case "after": // what one artifact marks is known in the next
		first, second, _ := strings.Cut(in, "\x1e")
		out := streamed(judgedMedia[rest], []byte(first)) + "\n" + streamed("text/plain", []byte(second))
		values := r.Values()
		slices.Sort(values)
		return fmt.Sprintf("%s\n%d %q", out, r.Learned(), values)
	case "note":
		paths := map[string][]string{}
		for line := range strings.Lines(in) {
			typ, path, _ := strings.Cut(strings.TrimSpace(line), " ")
			paths[typ] = append(paths[typ], path)
		}
		r.Note(paths)
		news := fmt.Sprint(r.TakeNews())
		r.Tell(paths)
		return fmt.Sprint(news, r.TakeNews(), r.Told())
	case "long": // {=N:x} is x, N times; so is what comes out
		return folded(streamed(judgedMedia[rest], []byte(unfolded(in))))
	case "chunks":
		return streamed(judgedMedia[rest], slices.Collect(slices.Chunk([]byte(in), 5))...)
	case "line":
		return fmt.Sprint(HiddenLine(judgedMedia[rest], []byte(in), nil))
	case "window":
		var out strings.Builder
		size := 96
		if n, err := strconv.Atoi(rest); err == nil {
			size = n
		}
		s := &textStream{r: r, out: &out, n: Counts{}, size: size, ahead: size / 3}
		_, _ = io.WriteString(s, in)
		_ = s.finish()
		return out.String() + "\n" + strings.Join(s.n.List(), " ")
	case "units":
		tree := terraformTree
		if rest == "kubernetes" {
			tree = kubernetesTree
		}
		var out bytes.Buffer
		s := &jsonStream{r: r, out: &out, n: Counts{}, shape: tree, unit: 64}
		for part := range slices.Chunk([]byte(in), 50) {
			_, _ = s.Write(part)
		}
		_ = s.finish()
		return out.String() + strings.Join(s.n.List(), " ")
	case "data":
		n, err := jsontree.Parse([]byte(in), jsontree.LooseKeys)
		if err != nil {
			return "no JSON"
		}
		again, _ := jsontree.Parse([]byte(in), jsontree.LooseKeys)
		r.Secret(judgedKnown)
		c := Counts{}
		r.inEntryData(n, c)
		r.EventData(again)
		return string(n.AppendTo(nil, -1, 0)) + "\n" + strings.Join(c.List(), " ") + "\n" + string(again.AppendTo(nil, -1, 0))
	case "find":
		r.Secret(judgedKnown)
		found, err := (&Scrubber{r}).FindIn(iotest.OneByteReader(strings.NewReader(in)), judgedMedia[rest], true)
		return fmt.Sprint(found, err)
	case "gzip":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, in)
		_ = z.Close()
		return streamed(judgedMedia[rest], b.Bytes())
	case "wide":
		return streamed(judgedMedia[rest], utf16Of("\ufeff"+in, len(in)%2 == 0))
	case "name": // of a field, a variable or an option
		return fmt.Sprint([...]string{"silent", "hints", "tells"}[nameTells([]byte(in))], " identifies ", identifies([]byte(in)))
	case "rule":
		part := strings.SplitN(in, "\x00", 3)
		if len(part) < 3 {
			return "no rule"
		}
		return fmt.Sprint(TeamRule{part[0], part[1], part[2]}.Check())
	}
	return streamed(judgedMedia[as], []byte(in))
}

var foldedRun = regexp.MustCompile(`\{=([0-9]{1,7}):([^}]+)\}`)

func unfolded(s string) string {
	return foldedRun.ReplaceAllStringFunc(s, func(m string) string {
		part := foldedRun.FindStringSubmatch(m)
		n, _ := strconv.Atoi(part[1])
		return strings.Repeat(part[2], n)
	})
}

// folded writes runs of up to eight bytes that are repeated short, and of what is long all the same its ends and its digest.
func folded(s string) string {
	if s = shortRuns(s); len(s) > 1200 {
		return fmt.Sprintf("%s … %d bytes, %x … %s", s[:300], len(s), sha256.Sum256([]byte(s)), s[len(s)-300:])
	}
	return s
}

func shortRuns(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		size, times := 1, 1
		for n := 1; n <= 8; n++ {
			at := i + n
			for at+n <= len(s) && s[at:at+n] == s[i:i+n] {
				at += n
			}
			if at-i > size*times {
				size, times = n, (at-i)/n
			}
		}
		if size*times < 64 {
			out.WriteByte(s[i])
			i++
			continue
		}
		fmt.Fprintf(&out, "{=%d:%s}", times, s[i:i+size])
		i += size * times
	}
	return out.String()
}

func readJudged(t testing.TB) []judgedCase {
	t.Helper()
	raw, err := os.ReadFile(judgedFile)
	if err != nil {
		t.Fatal(err)
	}
	var out []judgedCase
	for n, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		if n%2 == 0 {
			as, in, _ := strings.Cut(line, ": ")
			text, err := strconv.Unquote(in)
			if err != nil {
				t.Fatalf("%s, line %d: %v", judgedFile, n+1, err)
			}
			out = append(out, judgedCase{as: as, in: text})
			continue
		}
		text, err := strconv.Unquote(strings.TrimLeft(line, " "))
		if err != nil {
			t.Fatalf("%s, line %d: %v", judgedFile, n+1, err)
		}
		out[len(out)-1].out = text
	}
	return out
}

// TestJudged holds the rules to what they made of texts that each tell one judgement from its neighbour: a rule that is moved by one
// letter, one byte or one condition answers one of them otherwise.
func TestJudged(t *testing.T) {
	t.Parallel()
	cases := readJudged(t)
	rules := testRedactor(judgedTeam...).rules
	if *updateJudged {
		var out bytes.Buffer
		for _, c := range cases {
			fmt.Fprintf(&out, "%s: %s\n    %s\n", c.as, strconv.Quote(c.in), strconv.Quote(judged(rules, c.as, c.in)))
		}
		if err := os.WriteFile(judgedFile, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, c := range cases {
		if got := judged(rules, c.as, c.in); got != c.out {
			t.Errorf("%s: %q became\n%q, want\n%q", c.as, c.in, got, c.out)
		}
	}
}
