package runbooks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps/catalog"
)

// none is the folder of texts that no runbook may claim.
const none = "none"

type sample struct{ name, kind, text string }

// corpus reads testdata/errors: a folder for each runbook with texts that it must
// claim first, and one for texts that none may claim.
func corpus(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("testdata/errors/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sample{f, filepath.Base(filepath.Dir(f)), string(b)})
	}
	return out
}

func builtin(t testing.TB) []*Runbook {
	t.Helper()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// TestConfusion holds the built-in runbooks to real error texts of many tools and
// versions: 97 of 100 must find their runbook first, and nothing else may be
// claimed. Every fourth text of a folder is held back: look at it only after a
// pattern is done, so that the patterns are not made of the corpus.
func TestConfusion(t *testing.T) {
	t.Parallel()
	lib, texts := builtin(t), corpus(t)
	ids := []string{none}
	for _, b := range lib {
		ids = append(ids, b.ID)
	}
	claimed := map[string]map[string]int{}
	var all, back struct{ right, texts, false, others int }
	nth := map[string]int{}
	for _, s := range texts {
		if !slices.Contains(ids, s.kind) {
			t.Errorf("%s: there is no runbook %q", s.name, s.kind)
			continue
		}
		got := none
		if hits := Match(lib, s.text); len(hits) > 0 {
			got = hits[0].Runbook
		}
		if claimed[s.kind] == nil {
			claimed[s.kind] = map[string]int{}
		}
		claimed[s.kind][got]++
		held := nth[s.kind]%4 == 3
		nth[s.kind]++
		switch {
		case s.kind == none:
			all.others++
			if held {
				back.others++
			}
			if got != none {
				all.false++
				if held {
					back.false++
				}
				t.Errorf("%s is claimed by %s", s.name, got)
			}
		default:
			all.texts++
			if held {
				back.texts++
			}
			if got == s.kind {
				all.right++
				if held {
					back.right++
				}
			} else {
				t.Logf("%s is claimed by %s", s.name, got)
			}
		}
	}
	t.Logf("\n%s", table(ids, claimed))
	t.Logf("right first: %d of %d, of those held back %d of %d; claimed of the others: %d of %d, of those held back %d of %d",
		all.right, all.texts, back.right, back.texts, all.false, all.others, back.false, back.others)
	if all.right*100 < all.texts*97 || back.right*100 < back.texts*97 {
		t.Errorf("%d of %d find their runbook first, of those held back %d of %d; the bar is 97 of 100", all.right, all.texts, back.right, back.texts)
	}
	for _, id := range ids[1:] {
		if nth[id] < 12 {
			t.Errorf("%s has %d texts in testdata/errors, and needs 12", id, nth[id])
		}
	}
	if nth[none] < 12*len(lib) {
		t.Errorf("there are %d texts that none may claim, and %d are needed", nth[none], 12*len(lib))
	}
}

// table is the confusion table: a row for what a text is, a column for what
// claimed it.
func table(ids []string, claimed map[string]map[string]int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-24s", "")
	for i := range ids {
		fmt.Fprintf(&out, "%4d", i)
	}
	out.WriteString("\n")
	for i, kind := range ids {
		fmt.Fprintf(&out, "%2d %-21s", i, kind)
		for _, got := range ids {
			if n := claimed[kind][got]; n > 0 {
				fmt.Fprintf(&out, "%4d", n)
			} else {
				out.WriteString("   .")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// TestWeightIsEarned: a pattern that claims a text alone occurs in none that is of
// no runbook, and of the other texts in which it occurs at least two of three are of
// its own runbook. What occurs elsewhere too may only be a hint.
func TestWeightIsEarned(t *testing.T) {
	t.Parallel()
	texts := corpus(t)
	var ready []prepared
	for _, s := range texts {
		ready = append(ready, prepare(s.text))
	}
	for _, b := range builtin(t) {
		for _, p := range b.Recognise {
			mine, others := 0, 0
			for i, r := range ready {
				if p.find(r.plain, r.lower) == nil && (p.lines || p.find(r.one.text, r.oneLower) == nil) {
					continue
				}
				switch texts[i].kind {
				case b.ID:
					mine++
				case none:
					if p.Weight >= Floor && !outweighed(b, r) {
						t.Errorf("%s: %q has weight %d and occurs in %s", b.ID, p.Pattern, p.Weight, texts[i].name)
					}
				default:
					others++
				}
			}
			if p.Weight >= Floor && others > 2 && mine < 2*others {
				t.Errorf("%s: %q has weight %d, and occurs in %d texts of its own and in %d of other runbooks", b.ID, p.Pattern, p.Weight, mine, others)
			}
			if p.Weight > 7 && mine == 0 {
				t.Errorf("%s: %q has weight %d, and no text in testdata/errors shows that it discriminates", b.ID, p.Pattern, p.Weight)
			}
		}
	}
}

// outweighed reports whether something in a text speaks against the runbook more
// than everything else speaks for it.
func outweighed(b *Runbook, t prepared) bool {
	h, _ := b.match(t)
	return h.Score < Floor && slices.ContainsFunc(b.Recognise, func(p Pattern) bool { return p.Weight < 0 && p.find(t.plain, t.lower) != nil })
}

// TestTold: incidents that are told in words find their runbook by its symptoms,
// and small talk finds none.
func TestTold(t *testing.T) {
	t.Parallel()
	lib := builtin(t)
	files, err := filepath.Glob("testdata/told/*/*.txt")
	if err != nil || len(files) < 2*len(lib) {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, want := none, filepath.Base(filepath.Dir(f))
		hits := Match(lib, string(b))
		if len(hits) > 0 {
			got = hits[0].Runbook
		}
		if got != want {
			t.Errorf("%s finds %s; nearest %+v", f, got, Nearest(lib, string(b), 2))
		}
		for _, h := range hits {
			if h.Line == "" || h.Say == "" {
				t.Errorf("%s: %s does not say why", f, h.Runbook)
			}
		}
	}
}

// TestNearest: what is below the floor claims nothing, and is named as near.
func TestNearest(t *testing.T) {
	t.Parallel()
	lib := builtin(t)
	for text, want := range map[string]string{
		"FATAL: something already exists\n":                             "creates-that-exist",
		"error Command failed with exit code 137.\nmore of the build\n": "partial-apply",
		"web-0   0/1   Init:0/2   0   2s\n":                             "init-cascade",
	} {
		if hits := Match(lib, text); len(hits) != 0 {
			t.Errorf("%q is claimed: %+v", text, hits)
		}
		if near := Nearest(lib, text, 2); len(near) == 0 || len(near) > 2 || near[0].Runbook != want || near[0].Line == "" {
			t.Errorf("nearest to %q: %+v, want %s", text, near, want)
		}
	}
	if near := Nearest(lib, "", 2); len(near) != 0 {
		t.Errorf("nearest to nothing: %+v", near)
	}
}

// TestWeightAgainst: what speaks against a runbook is taken off its score.
func TestWeightAgainst(t *testing.T) {
	t.Parallel()
	b := mustParse(t, head+"recognise:\n  - {pattern: begun, weight: 6}\n  - {pattern: ended, weight: -3}\n")
	for text, want := range map[string]int{"begun": 6, "begun, ended": 0, "ended": 0} {
		score := 0
		if hits := Match([]*Runbook{b}, text); len(hits) > 0 {
			score = hits[0].Score
		}
		if score != want {
			t.Errorf("%q scores %d, want %d", text, score, want)
		}
	}
}

// TestWeightsThatNeverClaim: a runbook whose patterns stay below the floor is
// refused by the lint, and still read.
func TestWeightsThatNeverClaim(t *testing.T) {
	t.Parallel()
	for weights, ok := range map[string]bool{"weight: 4": false, "weight: 5": true, "weight: 0": false} {
		src := []byte(head + "matrix: 8\nrecognise:\n  - {pattern: begun, " + weights + "}\n")
		if _, err := Lint("f", src, catalog.New()); (err == nil) != ok {
			t.Errorf("%s: %v", weights, err)
		}
	}
	mustParse(t, head+"recognise:\n  - {pattern: begun, weight: 4}\n")
}

// TestLinesAlone: a pattern that speaks of line ends does not see two lines as one.
func TestLinesAlone(t *testing.T) {
	t.Parallel()
	b := mustParse(t, head+"recognise:\n  - {pattern: 'a[^\\n]*b', weight: 6}\n  - {pattern: 'c.*d', weight: 7}\n")
	for text, want := range map[string]int{"a\nb": 0, "a b": 6, "c\nd": 7} {
		score := 0
		if hits := Match([]*Runbook{b}, text); len(hits) > 0 {
			score = hits[0].Score
		}
		if score != want {
			t.Errorf("%q scores %d, want %d", text, score, want)
		}
	}
}
