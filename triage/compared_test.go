package triage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"handrail/triage/record"
)

func said(t record.Type, s string) Value {
	v, err := record.ParseValue(t, s)
	if err != nil {
		panic(err)
	}
	return v
}

// field makes a comparison of the sources; "?" was not read.
func field(pairs ...string) Compared {
	c := Compared{Field: "f"}
	for i := 0; i < len(pairs); i += 2 {
		v := said("string", pairs[i+1])
		if pairs[i+1] == "?" {
			v = record.Unknown(record.String, "not read yet")
		}
		c.Sides = append(c.Sides, Side{Source: pairs[i], Value: v})
	}
	return c
}

// TestDirectionOfThree walks every way in which the usual three can agree, differ
// or be unread.
func TestDirectionOfThree(t *testing.T) {
	t.Parallel()
	want := map[string]Agreement{
		"aaa": {Agrees, NoDrift, "agree"},
		"aab": {Differs, ActualDrifted, "actual drifted"},
		"baa": {Differs, NotApplied, "not applied yet"},
		"aba": {Differs, RecordBehind, "the record is behind"},
		"abc": {Differs, AllDiffer, "all differ"},
	}
	values := []string{"a", "b", "c", "?"}
	for _, d := range values {
		for _, r := range values {
			for _, a := range values {
				expect, ok := want[pattern(d, r, a)]
				if strings.Contains(d+r+a, "?") {
					expect, ok = Agreement{Is: Unknown, Word: Unknown}, true
				}
				if !ok {
					t.Fatalf("%s%s%s has no expectation", d, r, a)
				}
				// The order in which the sources are written decides nothing.
				for _, c := range []Compared{
					field(Desired, d, Recorded, r, Actual, a), field(Actual, a, Desired, d, Recorded, r), field(Recorded, r, Actual, a, Desired, d),
				} {
					if got := c.Judge(); got != expect {
						t.Errorf("desired %s, recorded %s, actual %s: %+v, want %+v", d, r, a, got, expect)
					}
				}
			}
		}
	}
}

// pattern names which of three are equal: aab, baa, aba.
func pattern(d, r, a string) string {
	switch {
	case d == r && r == a:
		return "aaa"
	case d == r:
		return "aab"
	case r == a:
		return "baa"
	case d == a:
		return "aba"
	}
	return "abc"
}

func TestDirectionOfOthers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		c    Compared
		want Agreement
	}{
		{field(Desired, "a", Actual, "a"), Agreement{Agrees, NoDrift, "agree"}},
		{field(Actual, "b", Desired, "a"), Agreement{Differs, TwoDiffer, "actual is not as desired"}},
		{field(Recorded, "b", Desired, "a"), Agreement{Differs, TwoDiffer, "recorded is not as desired"}},
		{field(Actual, "b", Recorded, "a"), Agreement{Differs, TwoDiffer, "actual is not as recorded"}},
		{field("log", "b", Recorded, "a"), Agreement{Differs, TwoDiffer, "log is not as recorded"}},
		{field(Desired, "a", Actual, "?"), Agreement{Is: Unknown, Word: Unknown}},
		{field(Desired, "a"), Agreement{Is: Unknown, Word: Unknown}},
		{field(), Agreement{Is: Unknown, Word: Unknown}},
		{field(Desired, "a", Recorded, "a", Actual, "a", "argo", "b"), Agreement{Differs, OneDiffers, "argo differs"}},
		{field(Desired, "a", Recorded, "a", Actual, "b", "argo", "a"), Agreement{Differs, ActualDrifted, "actual drifted"}},
		{field(Desired, "b", Recorded, "a", Actual, "a", "argo", "a"), Agreement{Differs, NotApplied, "not applied yet"}},
		{field(Desired, "a", Recorded, "a", Actual, "b", "argo", "b"), Agreement{Differs, Split, "the sources disagree"}},
		{field(Desired, "a", Recorded, "a", Actual, "b", "argo", "c"), Agreement{Differs, Split, "the sources disagree"}},
		{field(Desired, "a", Recorded, "b", Actual, "c", "argo", "d"), Agreement{Differs, AllDiffer, "all differ"}},
		{field("argo", "a", "flux", "a", "helm", "b"), Agreement{Differs, OneDiffers, "helm differs"}},
		{field(Desired, "a", Recorded, "a", Actual, "b", "argo", "?"), Agreement{Is: Unknown, Word: Unknown}},
	}
	for _, tc := range cases {
		if got := tc.c.Judge(); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.c.Sides, got, tc.want)
		}
	}
}

func TestSidesOfEveryType(t *testing.T) {
	t.Parallel()
	list := func(of ...string) Value { return record.StringsOf(of) }
	cases := []struct {
		a, b Value
		want bool
	}{
		{said("string", "x"), said("ident", "x"), true},
		{said("enum", "x"), said("path", "x"), true},
		{said("string", "3"), said("int", "3"), false},
		{said("string", ""), said("string", ""), true},
		{list("b", "a"), list("a", "b"), true},
		{list("a", "a"), list("a"), false},
		{list(), list("a"), false},
		{list(), list(), true},
		{record.TableOf(map[string]string{"a": "1", "b": "2"}), record.TableOf(map[string]string{"b": "2", "a": "1"}), true},
		{record.TableOf(map[string]string{"a": "1"}), record.TableOf(map[string]string{"a": "2"}), false},
	}
	for _, tc := range cases {
		c := Compared{Sides: []Side{{Source: "a", Value: tc.a}, {Source: "b", Value: tc.b}}}
		if got := c.Judge().Is == Agrees; got != tc.want {
			t.Errorf("%+v and %+v agree: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestSourcesAndTally(t *testing.T) {
	t.Parallel()
	rows := []Compared{
		field("argo", "a", Actual, "b", Desired, "a"), field(Recorded, "a", Actual, "a"), field(Desired, "?", Actual, "a"),
	}
	if got := Sources(rows); !slices.Equal(got, []string{Desired, Recorded, Actual, "argo"}) {
		t.Errorf("Sources() = %v", got)
	}
	n, drift := Tally(rows)
	if n != (Comparison{Agree: 1, Differ: 1, Unknown: 1}) || drift != OneDiffers {
		t.Errorf("Tally() = %+v, %s", n, drift)
	}
	drifted, behind := field(Desired, "a", Recorded, "a", Actual, "b"), field(Desired, "a", Recorded, "b", Actual, "a")
	for want, rows := range map[Drift][]Compared{NoDrift: nil, ActualDrifted: {drifted, rows[1], drifted}, Mixed: {drifted, behind, drifted, behind}} {
		if _, got := Tally(rows); got != want {
			t.Errorf("Tally() = %s, want %s", got, want)
		}
	}
}

// TestComparisonIsBounded: a screen may rely on its size.
func TestComparisonIsBounded(t *testing.T) {
	t.Parallel()
	var many, wide, apart []Compared
	for i := range MaxFields + 1 {
		many = append(many, field(Desired, "a", Actual, "a"))
		apart = append(apart, field(fmt.Sprint("s", i), "a", fmt.Sprint("t", i), "a"))
	}
	row := Compared{}
	for i := range MaxSources + 1 {
		row.Sides = append(row.Sides, Side{Source: fmt.Sprint("s", i)})
	}
	wide = append(wide, row)
	for name, rows := range map[string][]Compared{"many": many, "wide": wide, "apart": apart[:8]} {
		if readable(rows) {
			t.Errorf("%s is readable", name)
		}
	}
	if !readable(many[:MaxFields]) {
		t.Errorf("%d fields are not readable", MaxFields)
	}
}
