package promtext

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func all(string) bool  { return true }
func none(string) bool { return false }

// read returns each sample as a text that has one form.
func read(raw string, wanted func(string) bool) ([]string, Seen, error) {
	var out []string
	seen, err := Each([]byte(raw), wanted, func(s Sample) error {
		out = append(out, form(s))
		return nil
	})
	return out, seen, err
}

func form(s Sample) string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		labels = append(labels, name+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s.Labels[name])+`"`)
	}
	return s.Name + "{" + strings.Join(labels, ",") + "} " + strconv.FormatFloat(s.Value, 'g', -1, 64)
}

func TestEach(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"":                                      nil,
		"# HELP a b\n# TYPE a gauge\n\n":        nil,
		"up 1\n":                                {"up{} 1"},
		"up 1\r\nup2 2\r\n":                     {"up{} 1", "up2{} 2"},
		" a:b_9{ } 2 1700000000000\n":           {"a:b_9{} 2"},
		"a{b=\"c\",}\t-Inf\n":                   {`a{b="c"} -Inf`},
		`a{ b = "c" , d = "}{, #" } 1e3` + "\n": {`a{b="c",d="}{, #"} 1000`},
		`a{b="\\\"\n"} +Inf` + "\n":             {`a{b="\\\"\n"} +Inf`},
		`a{b="ü"} NaN` + "\n":                   {`a{b="ü"} NaN`},
	} {
		got, seen, err := read(raw, all)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || seen.Samples != len(want) || seen.Cut {
			t.Errorf("%q: %v, %+v\n%s", raw, err, seen, diff)
		}
	}
	for raw, want := range map[string]string{
		"<html>sign in</html>\n": "no name of a metric", "up\n": "no value", "up 1 2 3\n": "no value", "up one\n": `"one" is no number`, "up 0x1p4\n": "is no number", "up 1_0\n": "is no number", "up 1e400\n": "is no number", "up 1 then\n": `"then" is no time`,
		"up{a} 1\n": "has no value", "up{a=b} 1\n": "in no quotes", "up{a=\"b} 1\n": "does not end", "up{a=\"b\" 1\n": "neither a comma", "up{a=\"b\"c=\"d\"} 1\n": "neither a comma", "up{a=\"b\",a=\"c\"} 1\n": "twice", `up{a="\t"} 1` + "\n": "is no escape", "up{9=\"b\"} 1\n": "no name, or no end", "up{\n": "no name, or no end", "fine 1\n\x00\n": "line 2",
		"# " + strings.Repeat("x", mostLine) + "\n": "of one", strings.Repeat("\n", MostLines+1): "lines that are read",
	} {
		if got, _, err := read(raw, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v, want %q", raw, got, err, want)
		}
	}
	if _, _, err := read("{}\n", all); !errors.Is(err, ErrForm) {
		t.Errorf("what is no metrics: %v", err)
	}
	if got, seen, err := read("up 1\ndown 2\n", func(name string) bool { return name == "down" }); err != nil || !slices.Equal(got, []string{"down{} 2"}) || seen.Samples != 2 {
		t.Errorf("wanted alone: %q, %+v, %v", got, seen, err)
	}
	stop := errors.New("enough")
	if _, err := Each([]byte("a 1\nb 2\n"), all, func(Sample) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("take ends it: %v", err)
	}
}

// TestCut: wherever a text is cut, what is left is no error, no value is another one, and it is said to be a part unless the
// cut is between lines.
func TestCut(t *testing.T) {
	t.Parallel()
	const whole = "# TYPE a gauge\na{b=\"c\"} 10\nd 2.5e+06 17\n"
	lines, _, _ := read(whole, all)
	for n := range len(whole) {
		got, seen, err := read(whole[:n], all)
		if err != nil || seen.Cut != (n > 0 && whole[n-1] != '\n') || len(got) > len(lines) || !slices.Equal(got, lines[:len(got)]) {
			t.Errorf("%q: %q, %+v, %v", whole[:n], got, seen, err)
		}
	}
}

// FuzzEach: nothing panics, what is unwanted is held to the same form, and what is read reads the same when it is written.
func FuzzEach(f *testing.F) {
	f.Add([]byte("# HELP a b\na{b=\"c\\n\",} 1 17\nd NaN\n"))
	f.Add([]byte(`a{b="}`))
	f.Add([]byte("a{b=\"c\"} +Inf\r\nb{} .5"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, seen, err := read(string(raw), all)
		_, passed, err2 := read(string(raw), none)
		if twice := err != nil && strings.Contains(err.Error(), "twice"); !twice && (seen != passed || fmt.Sprint(err) != fmt.Sprint(err2)) {
			t.Fatalf("wanted: %+v, %v; unwanted: %+v, %v", seen, err, passed, err2)
		}
		if seen.Samples < len(got) || seen.Samples > bytes.Count(raw, []byte("\n"))+1 {
			t.Fatalf("%d samples, %d taken", seen.Samples, len(got))
		}
		if err != nil || len(got) == 0 {
			return
		}
		again, _, err := read(strings.Join(got, "\n")+"\n", all)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

func BenchmarkEach(b *testing.B) {
	var raw bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&raw, "gotk_reconcile_duration_seconds_bucket{kind=\"Kustomization\",name=\"shop-%d\",namespace=\"flux-system\",le=\"0.1\"} %d\n", i, i)
	}
	b.SetBytes(int64(raw.Len()))
	b.ReportAllocs()
	for b.Loop() {
		sum := math.Inf(-1)
		if _, err := Each(raw.Bytes(), all, func(s Sample) error { sum = max(sum, s.Value); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
