package own

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"handrail/steps"
)

func output(name string, t steps.Type, cel, re string, values ...string) steps.Output {
	return steps.Output{Field: steps.Field{Name: name, Type: t, Values: values}, CEL: cel, Regexp: re}
}

// TestFactsAreReadAsDeclared: each type by CEL and by a regular expression; what is of
// another type, missing or too long is unknown and says why.
func TestFactsAreReadAsDeclared(t *testing.T) {
	t.Parallel()
	const doc = `{"queue":{"depth":5,"whole":5.0,"half":5.5,"big":12345678901234567890,"open":true,"state":"open","at":"2026-01-05T11:00:00Z","age":"90s","none":null},"names":["a","b"],"mixed":["a",1],"labels":{"app":"x"},"n":[3,1,2]}`
	for _, tc := range []struct {
		out  steps.Output
		as   string
		raw  string
		want string // or why it is unknown
	}{
		{output("f", steps.Int, "doc.queue.depth", ""), asJSON, doc, "5"},
		{output("f", steps.Int, "doc.queue.whole", ""), asJSON, doc, "5"},
		{output("f", steps.Int, "doc.queue.half", ""), asJSON, doc, "is a double, and the fact is declared as int"},
		{output("f", steps.Int, "doc.queue.big", ""), asJSON, doc, "declared as int"},
		{output("f", steps.Int, "doc.queue.none", ""), asJSON, doc, "null"},
		{output("f", steps.Int, "doc.queue.missing", ""), asJSON, doc, "no such key: missing"},
		{output("f", steps.Int, "doc.n.filter(x, x > 1).size()", ""), asJSON, doc, "2"},
		{output("f", steps.Bool, "doc.queue.open && doc.queue.depth > 4", ""), asJSON, doc, "true"},
		{output("f", steps.Bool, "has(doc.queue.missing)", ""), asJSON, doc, "false"},
		{output("f", steps.String, "doc.queue.state", ""), asJSON, doc, "open"},
		{output("f", steps.Enum, "doc.queue.state", "", "open", "closed"), asJSON, doc, "open"},
		{output("f", steps.Enum, "doc.queue.state", "", "closed"), asJSON, doc, `"open" is none of its values`},
		{output("f", steps.Time, "doc.queue.at", ""), asJSON, doc, "2026-01-05T11:00:00Z"},
		{output("f", steps.Time, "timestamp(doc.queue.at)", ""), asJSON, doc, "2026-01-05T11:00:00Z"},
		{output("f", steps.Time, "doc.queue.state", ""), asJSON, doc, "is not a time"},
		{output("f", steps.Duration, "doc.queue.age", ""), asJSON, doc, "1m30s"},
		{output("f", steps.Strings, "doc.names", ""), asJSON, doc, `["a" "b"]`},
		{output("f", steps.Strings, "doc.mixed", ""), asJSON, doc, "declared as strings"},
		{output("f", steps.Table, "doc.labels", ""), asJSON, doc, "app=x"},
		{output("f", steps.Int, "doc.queue.depth", ""), asYAML, "queue:\n  depth: 5\n", "5"},
		{output("f", steps.String, "doc.on", ""), asYAML, "on: yes\n", "yes"}, // of the core schema: a word
		{output("f", steps.Int, "doc.b", ""), asYAML, "a: &x 1\nb: *x\n", "which is not followed"},
		{output("f", steps.Int, "doc.a", ""), asYAML, "a: 1\na: 2\n", "repeated key"},
		{output("f", steps.Int, "doc.a", ""), asYAML, "", "it is empty"},
		{output("f", steps.Bool, "doc.contains('ready')", ""), asText, "all ready", "true"},
		{output("f", steps.Int, "doc.a", ""), asJSON, "no json", "it is no JSON"},
		{output("f", steps.Int, "doc.a", ""), asJSON, `{"a":1}{"a":2}`, "more than one JSON value"},
		{output("f", steps.Int, "doc.a", ""), asJSON, " ", "it is empty"},
		{output("f", steps.String, "doc.a", ""), asJSON, `{"a":"` + strings.Repeat("x", mostText+1) + `"}`, "more than the"},
		{output("f", steps.Int, "doc.a.size()", ""), asJSON, `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "nested more than"},
		{output("f", steps.Int, "doc.map(x, doc.map(y, doc.map(z, x+y+z))).size()", ""), asJSON, "[" + strings.Repeat("1,", 2000) + "1]", "cost"},
		{output("f", steps.Int, "", `depth: ([0-9]+)`), asJSON, "x\ndepth: 7\ndepth: 8", "7"},
		{output("f", steps.Int, "", `(depth|size): (?P<f>[0-9]+)`), asJSON, "size: 9", "9"},
		{output("f", steps.Int, "", `depth: (.*)`), asJSON, "depth: many", "is not a whole number"},
		{output("f", steps.Int, "", `depth: ([0-9]+)`), asJSON, "nothing", "nothing matches"},
		{output("f", steps.Bool, "", `error`), asJSON, "an error", "true"},
		{output("f", steps.Bool, "", `error`), asJSON, "fine", "false"},
		{output("f", steps.Strings, "", `(?m)^name (\S+)$`), asJSON, "name a\nname b\n", `["a" "b"]`},
		{output("f", steps.Strings, "", `(x)`), asJSON, strings.Repeat("x", mostItems+1), "more than the"},
	} {
		f := steps.NewFacts([]steps.Field{tc.out.Field})
		gaps := readOutputs(t.Context(), []steps.Output{tc.out}, tc.as, []byte(tc.raw), f)
		v := f.Got("f")
		if v.Known() && v.Text() != tc.want || !v.Known() && (!strings.Contains(v.Why(), tc.want) || len(gaps) != 1) || v.Type() != tc.out.Type {
			t.Errorf("%s%s of %.60q: %s %s (%q), gaps %q, want %s", tc.out.CEL, tc.out.Regexp, tc.raw, v.Type(), v.Text(), v.Why(), gaps, tc.want)
		}
	}
}

// TestOutputsAreChecked: what cannot be read as declared is said when the runbook is read.
func TestOutputsAreChecked(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		out  steps.Output
		want string
	}{
		{output("f", steps.Int, "doc.a.b", ""), ""},
		{output("f", steps.Bool, "doc.a == 1", ""), ""},
		{output("f", steps.Int, "doc.a == 1", ""), "it gives a bool, and the fact is declared as int"},
		{output("f", steps.Int, "facts.a.b", ""), "is read from doc alone"},
		{output("f", steps.Int, "doc.a +", ""), "Syntax error"},
		{output("f", steps.Ident, "doc.a", ""), "cannot be of type ident"},
		{output("f", steps.Path, "doc.a", ""), "cannot be of type path"},
		{output("f", steps.String, "doc."+strings.Repeat("a", mostCEL), ""), "more than"},
		{output("f", steps.Int, "", `a(b`), "not a regular expression"},
		{output("f", steps.Int, "", `(a)(b)`), "has 2 groups"},
		{output("f", steps.Int, "", `ab`), "has 0 groups"},
		{output("f", steps.Bool, "", `a*`), "matches an empty text"},
		{output("f", steps.Table, "", `(a)`), "read with cel"},
	} {
		if err := checkOutput(tc.out); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s%s: %v, want %q", tc.out.CEL, tc.out.Regexp, err, tc.want)
		}
	}
}

// TestArgumentsAreVetted: what an author may hand to what program.
func TestArgumentsAreVetted(t *testing.T) {
	t.Parallel()
	fixed := func(list ...string) []steps.Written {
		var out []steps.Written
		for _, s := range list {
			out = append(out, steps.Written{Text: s, Head: s, Fixed: !strings.Contains(s, "${params")})
		}
		return out
	}
	for _, tc := range []struct {
		argv []string
		want string
	}{
		{[]string{"queuectl", "status", "${params.queue}"}, ""},
		{[]string{"sh", "-c", "echo $$HOME | wc"}, ""},
		{[]string{"sh", "-c", "echo ${params.queue}"}, "it takes no ${…}"},
		{[]string{"/usr/bin/python3.11", "-c", "${params.x}"}, "it takes no ${…}"},
		{[]string{"env", "A=${params.x}", "b"}, "it takes no ${…}"},
		{[]string{"${params.program}"}, "takes no ${…}"},
		{[]string{"sudo", "ls"}, "hands the program to another one"},
		{[]string{"systemd-run", "--user", "ls"}, "hands the program to another one"},
		{[]string{"queuectl status"}, "is one word here"},
		{[]string{""}, "is no program"},
		{[]string{"--help"}, "is no program"},
		{nil, "begins with the program"},
	} {
		if err := vetArgv(fixed(tc.argv...)); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q", tc.argv, err, tc.want)
		}
	}
}

// TestTrustSheetTellsTheExactArguments: two argument lists are never told alike.
func TestTrustSheetTellsTheExactArguments(t *testing.T) {
	t.Parallel()
	tell := func(argv ...string) string {
		w := steps.With{"timeout": {{Text: "30s", Fixed: true}}}
		for _, a := range argv {
			w["argv"] = append(w["argv"], steps.Written{Text: a, Head: a, Fixed: true})
		}
		return tellExec(w)
	}
	seen := map[string][]string{}
	for _, argv := range [][]string{{"a", "b c"}, {"a", "b", "c"}, {"a", "b, c"}, {"a", "'b", "c'"}, {"a", "b c "}, {"a", "", "b c"}, {"a b c"}} {
		text := tell(argv...)
		if other, ok := seen[text]; ok {
			t.Errorf("%q and %q are both told as %s", argv, other, text)
		}
		seen[text] = argv
	}
	w := steps.With{"argv": {{Text: "q", Fixed: true}}, "timeout": {{Text: "5s"}}, "env": {{Text: "HOME"}, {Text: "Q_TOKEN"}}, "network": {{Text: "none"}}, "dir": {{Text: "${params.dir}"}}}
	for _, want := range []string{"runs q in ${params.dir}, which must be trusted", "at most 5s", "HOME, Q_TOKEN", "read your home", "off the network"} {
		if text := tellExec(w); !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

// FuzzDocument: hostile documents are bounded, in time and in what becomes of them.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":null}]}`, "a: &x [*x]\n", "[[[[[[", `{"a":1e999}`, "a: !!binary aGk=\n", "\xff\xfe", "? [a]\n: b\n", `{"a":"\ud800"}`, "<<: {a: 1}\n", "a: 0x7fffffffffffffffff\nb: .nan\n"} {
		for _, as := range []string{asJSON, asYAML, asText} {
			f.Add([]byte(seed), as, "doc.a")
		}
	}
	f.Add([]byte(`["aaaaaaaaaaaaaaaa"]`), asJSON, "doc.map(x, doc.map(y, x + y + x + y)).size()")
	f.Add([]byte("aaaa"), asText, "doc + doc + doc")
	f.Fuzz(func(t *testing.T, raw []byte, as, cel string) {
		outs := []steps.Output{output("s", steps.String, cel, ""), output("l", steps.Strings, cel, ""), output("n", steps.Int, "", "([0-9]+)"), output("t", steps.Table, cel, "")}
		facts := steps.NewFacts([]steps.Field{outs[0].Field, outs[1].Field, outs[2].Field, outs[3].Field})
		readOutputs(t.Context(), outs, as, raw, facts)
		for _, o := range outs {
			v := facts.Got(o.Name)
			if v.Type() != o.Type {
				t.Fatalf("%s is a %q", o.Name, v.Type())
			}
			if len(v.Text()) > 4*mostItems*(2*mostText+8) || !utf8.ValidString(v.Why()) && utf8.ValidString(cel) {
				t.Fatalf("%s has %d bytes", o.Name, len(v.Text()))
			}
		}
	})
}

// TestSpansAreBounded: a deadline that is none is refused when the runbook is read.
func TestSpansAreBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"30s": true, "10m": true, "10m1s": false, "0s": false, "-1s": false} {
		if err := spanUpTo(mostRun)([]steps.Written{{Text: text, Fixed: true}}); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if mostRun+time.Minute > 15*time.Minute {
		t.Error("a session gives a heavy probe a quarter of an hour")
	}
}
