package runbooks

import (
	"strings"
	"testing"

	"handrail/steps/catalog"
)

func TestSymptoms(t *testing.T) {
	t.Parallel()
	named := func(id, rest string) *Runbook {
		return mustParse(t, strings.Replace(head, "id: sample", "id: "+id, 1)+rest)
	}
	one := named("one", "symptoms:\n  - A run hangs\n  - The state is locked\n")
	two := named("two", "symptoms: [the state is locked, A, B, C]\n")
	bare := named("bare", "")
	lib := []*Runbook{two, one, bare}
	var got []string
	for _, s := range Symptoms(lib) {
		got = append(got, s.Text+"="+strings.Join(s.Runbooks, ","))
	}
	if want := "the state is locked=two,one|A=two|B=two|C=two|A run hangs=one|" + bare.Title + "=bare"; strings.Join(got, "|") != want {
		t.Errorf("symptoms %q, want %q", strings.Join(got, "|"), want)
	}
	for seen, want := range map[string]string{
		"":                                "",
		"the state is locked":             "one:1 two:1",
		"The state is locked|A|B":         "two:3 one:1",
		"a run hangs|the state is locked": "one:2 two:1",
		"something else":                  "",
		bare.Title:                        "bare:1",
	} {
		var ranked []string
		for _, h := range MatchSymptoms(lib, strings.Split(seen, "|")) {
			ranked = append(ranked, h.Runbook+":"+string(rune('0'+h.Score)))
			if h.Line == "" {
				t.Errorf("%s does not say why", h.Runbook)
			}
		}
		if strings.Join(ranked, " ") != want {
			t.Errorf("%q: %q, want %q", seen, ranked, want)
		}
	}
}

// TestBuiltinSymptoms: each runbook of ours says in plain words what a user sees.
func TestBuiltinSymptoms(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if len(b.Symptoms) < 2 {
			t.Errorf("%s has %d symptoms", b.ID, len(b.Symptoms))
		}
		for _, s := range b.Symptoms {
			if strings.ToUpper(s[:1]) != s[:1] || strings.HasSuffix(s, ".") {
				t.Errorf("%s: %q is no line of a list", b.ID, s)
			}
		}
	}
}

// TestStoriesHaveSymptoms: what colleagues tell without an error text is in the list
// to pick from, and leads to its runbook alone.
func TestStoriesHaveSymptoms(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for seen, want := range map[string]string{
		"A colleague says that their run is still at work and holds the lock": "state-lock",
		"A plan would create objects that already exist in production":        "creates-that-exist",
	} {
		if hits := MatchSymptoms(lib, []string{seen}); len(hits) != 1 || hits[0].Runbook != want {
			t.Errorf("%q leads to %+v, want %s", seen, hits, want)
		}
	}
}

// TestSymptomForm: a symptom is one short line, and stands there once.
func TestSymptomForm(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{"long": "symptoms: ['" + strings.Repeat("x", maxSymptom+1) + "']\n", "twice": "symptoms: [A run hangs, a run hangs]\n",
		"two lines": "symptoms:\n  - |\n    a\n    b\n", "a value in it": "symptoms: ['${params.dir} is gone']\n", "no list": "symptoms: a run hangs\n"} {
		if _, err := Parse("f", []byte(head+src), catalog.New()); err == nil || !strings.Contains(err.Error(), "f:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
