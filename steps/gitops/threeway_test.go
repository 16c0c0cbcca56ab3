package gitops

import (
	"encoding/json"
	"strings"
	"testing"

	"handrail/steps"
)

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// TestLines: which side moved follows from what was applied last, and what the server fills
// in is no difference.
func TestLines(t *testing.T) {
	t.Parallel()
	const base = `{"apiVersion":"v1","kind":"X","metadata":{"name":"a"},"spec":`
	for name, of := range map[string]struct {
		desired, recorded, actual string
		open, delivered           bool
		want                      []string
	}{
		"equal":               {`{"n":1}`, `{"n":1}`, `{"n":1}`, false, false, nil},
		"defaults are noise":  {`{"n":1,"ports":[{"port":80}]}`, `{"n":1,"ports":[{"port":80}]}`, `{"n":1,"more":true,"ports":[{"port":80,"protocol":"TCP"}]}`, false, false, nil},
		"live":                {`{"n":1}`, `{"n":1}`, `{"n":2}`, false, false, []string{"live spec.n: wanted 1, applied 1, live 2"}},
		"git":                 {`{"n":2}`, `{"n":1}`, `{"n":1}`, false, false, []string{"git spec.n: wanted 2, applied 1, live 1"}},
		"both":                {`{"n":3}`, `{"n":1}`, `{"n":2}`, false, false, []string{"both spec.n: wanted 3, applied 1, live 2"}},
		"both, the same way":  {`{"n":2}`, `{"n":1}`, `{"n":2}`, false, false, nil},
		"not recorded":        {`{"n":1}`, ``, `{"n":2}`, true, false, []string{"open spec.n: wanted 1, live 2"}},
		"gone from Git":       {`{}`, `{"n":1}`, `{"n":1}`, false, false, []string{"git spec.n: wanted none, applied 1, live 1"}},
		"gone everywhere":     {`{}`, `{"n":1}`, `{}`, false, false, nil},
		"taken away live":     {`{"n":1}`, `{"n":1}`, `{}`, false, false, []string{"live spec.n: wanted 1, applied 1, live none"}},
		"added in Git":        {`{"n":1}`, `{}`, `{}`, false, false, []string{"git spec.n: wanted 1, applied none, live none"}},
		"by name":             {`{"c":[{"name":"a","v":1},{"name":"b","v":1}]}`, `{"c":[{"name":"a","v":1},{"name":"b","v":1}]}`, `{"c":[{"name":"b","v":1},{"name":"a","v":2}]}`, false, false, []string{"live spec.c[name=a].v: wanted 1, applied 1, live 2"}},
		"names twice":         {`{"c":[{"name":"a","v":1},{"name":"a","v":2}]}`, `{"c":[{"name":"a","v":1},{"name":"a","v":2}]}`, `{"c":[{"name":"a","v":1},{"name":"a","v":3}]}`, false, false, []string{"live spec.c[1].v: wanted 2, applied 2, live 3"}},
		"a list of words":     {`{"c":["a"]}`, `{"c":["a"]}`, `{"c":["a","b"]}`, false, false, []string{`live spec.c: wanted ["a"], applied ["a"], live ["a","b"]`}},
		"empty is none":       {`{"c":{},"d":[],"e":null}`, `{"c":{},"d":[],"e":null}`, `{}`, false, false, nil},
		"quantities":          {`{"limits":{"cpu":"1000m"}}`, `{"limits":{"cpu":"1000m"}}`, `{"limits":{"cpu":"1"}}`, false, false, nil},
		"no quantity":         {`{"cpu":"1000m"}`, `{"cpu":"1000m"}`, `{"cpu":"1"}`, false, false, []string{`live spec.cpu: wanted "1000m", applied "1000m", live "1"`}},
		"deleted by hand":     {`{}`, `{}`, ``, false, true, []string{"live the object: wanted there, applied there, live none"}},
		"not made yet":        {`{}`, ``, ``, false, false, []string{"git the object: wanted there, applied none, live none"}},
		"no longer wanted":    {``, ``, `{}`, false, true, []string{"git the object: wanted none, applied there, live there"}},
		"gone with its owner": {``, ``, ``, false, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := func(spec string) map[string]any {
				if spec == "" {
					return nil
				}
				return objectOf(t, base+spec+"}")
			}
			s := side3{name: "x/a", desired: whole(of.desired), recorded: whole(of.recorded), actual: whole(of.actual), unrecorded: of.open, delivered: of.delivered}
			var got []string
			for _, l := range s.lines() {
				got = append(got, l.moved+" "+strings.TrimPrefix(l.String(), "x/a "))
			}
			if strings.Join(got, "\n") != strings.Join(of.want, "\n") {
				t.Errorf("%q, want %q", got, of.want)
			}
		})
	}
}

// TestMarks: what a controller puts on what it applies is in no repository.
func TestMarks(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]bool{
		"metadata.annotations.argocd.argoproj.io/tracking-id": true, "metadata.labels.kustomize.toolkit.fluxcd.io/name": true,
		"metadata.labels.app.kubernetes.io/instance": true, "metadata.labels.app.kubernetes.io/instance-of": false, "metadata.labels.app": false,
		"status": true, "status.phase": true, "statuses": false, "metadata.creationTimestamp": true, "data.apiVersion": false,
	} {
		if left(at) != want {
			t.Errorf("left(%q) = %t", at, !want)
		}
	}
}

// TestDigests: they agree where the sides do, and are told apart by what a line cuts off.
func TestDigests(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	of := func(desired, recorded, actual string) [3]string {
		d := newDigests()
		text := func(v string) map[string]any { return objectOf(t, `{"kind":"X","data":{"k":"`+v+`"}}`) }
		s := &side3{name: "x/a", desired: text(desired), recorded: text(recorded), actual: text(actual)}
		d.add(s, s.lines())
		f := steps.NewFacts(desiredFacts())
		d.set(f, "wanted", "recorded", "actual")
		return [3]string{f.Got("wanted").Text(), f.Got("recorded").Text(), f.Got("actual").Text()}
	}
	if d := of("a", "a", "a"); d[0] != d[1] || d[1] != d[2] {
		t.Errorf("equal sides: %q", d)
	}
	if d := of("a", "a", "b"); d[0] != d[1] || d[1] == d[2] {
		t.Errorf("the live side moved: %q", d)
	}
	if d := of("a", long+"1", long+"2"); d[0] == d[1] || d[1] == d[2] {
		t.Errorf("all three differ: %q", d)
	}
}

// TestVaries: what a chart makes anew each time is as it was applied, where that is kept, and not
// known where it is not.
func TestVaries(t *testing.T) {
	t.Parallel()
	of := func(text string) map[string]any { return objectOf(t, `{"kind":"X","data":`+text+`}`) }
	first, second := of(`{"a":"same","p":"one","only":"x"}`), of(`{"a":"same","p":"two"}`)
	varies := apart(first, second)
	if len(varies) != 2 || !varies["data.p"] || !varies["data.only"] {
		t.Fatalf("%v", varies)
	}
	s := side3{name: "x/a", desired: first, recorded: of(`{"a":"same","p":"was"}`), actual: of(`{"a":"same","p":"was"}`), varies: varies, kept: true}
	if lines := s.lines(); len(lines) > 0 || len(s.open()) > 0 {
		t.Errorf("as it was applied: %v, open %q", lines, s.open())
	}
	s.actual = of(`{"a":"same","p":"by hand"}`)
	if lines := s.lines(); len(lines) != 1 || lines[0].moved != movedLive || lines[0].desired != `"was"` {
		t.Errorf("a hand edit: %v", lines)
	}
	s.kept, s.recorded = false, second
	if lines := s.lines(); len(lines) > 0 || strings.Join(s.open(), " ") != "data.only data.p" {
		t.Errorf("not kept: %v, open %q", lines, s.open())
	}
	s.actual = of(`{"a":"other"}`)
	if lines := s.lines(); len(lines) != 1 || lines[0].at != "data.a" {
		t.Errorf("beside it: %v", lines)
	}
}
