package steps

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func outcomes(items []Item) string {
	var out []string
	for _, it := range items {
		out = append(out, it.Object+" "+it.Outcome)
	}
	return strings.Join(out, ", ")
}

// TestBatchStopsAtTheFirstSurprise: what follows is left, and it is said.
func TestBatchStopsAtTheFirstSurprise(t *testing.T) {
	t.Parallel()
	items := []Item{{Object: "a"}, {Object: "b"}, {Object: "c"}}
	lost := errors.New("no answer")
	for _, tc := range []struct {
		name, results string
		err           error
		result, each  string
		says          string
	}{
		{"all", "done done done", nil, Done, "a done, b done, c done", "3 of 3 are done."},
		{"stopped in the middle", "done failed", nil, Failed, "a done, b failed, c left", "1 of 3 are done. It stopped at b: said b Not begun, and as they were: c."},
		{"refused at once", "refused", nil, Refused, "a refused, b left, c left", "0 of 3 are done. It stopped at a: said a Not begun, and as they were: b, c."},
		{"refused after one", "done refused", nil, Failed, "a done, b refused, c left", "1 of 3 are done."},
		{"lost", "done ?", lost, "", "a done, b unknown, c left", "1 of 3 are done; it stopped at b: no answer"},
	} {
		results := strings.Fields(tc.results)
		got, err := Batch(t.Context(), items, func(i int) (Outcome, error) {
			if results[i] == "?" {
				return Outcome{}, lost
			}
			return Outcome{Result: results[i], Response: "said " + items[i].Object}, nil
		})
		says := got.Response
		if err != nil {
			says = err.Error()
		}
		if got.Result != tc.result || outcomes(got.Items) != tc.each || !errors.Is(err, tc.err) || !strings.HasPrefix(says, tc.says) {
			t.Errorf("%s: %q, %s, %q, %v", tc.name, got.Result, outcomes(got.Items), says, err)
		}
	}
	if items[0].Outcome != "" {
		t.Error("the items that were given were changed")
	}
}

// TestBatchIsInterruptedBetweenItems: one that was begun comes to its end.
func TestBatchIsInterruptedBetweenItems(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := Batch(ctx, []Item{{Object: "a"}, {Object: "b"}}, func(int) (Outcome, error) {
		cancel()
		return Outcome{Result: Done}, nil
	})
	if err != nil || got.Result != Failed || outcomes(got.Items) != "a done, b left" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFindBatch: an end that was lost is found item by item, and one that cannot be
// told leaves all of it unknown.
func TestFindBatch(t *testing.T) {
	t.Parallel()
	items := []Item{{Object: "a"}, {Object: "b"}}
	for results, want := range map[string]string{
		"done done": "done", "done failed": "failed", "failed failed": "failed", "done ?": "", "done wait": "",
	} {
		each := strings.Fields(results)
		got, err := FindBatch(items, func(i int) (Outcome, error) {
			switch each[i] {
			case "?":
				return Outcome{}, errors.New("not read")
			case "wait":
				return Outcome{Response: "may still come"}, nil
			}
			return Outcome{Result: each[i]}, nil
		})
		if got.Result != want || (err != nil) != (want == "") {
			t.Errorf("%s: %+v, %v, want %q", results, got, err, want)
		}
	}
}

// TestBatchPhrase carries how many, and which.
func TestBatchPhrase(t *testing.T) {
	t.Parallel()
	one, two, other := BatchPhrase("import", []string{"a.b"}), BatchPhrase("import", []string{"a.b", "a.c"}), BatchPhrase("import", []string{"a.b", "a.d"})
	if one != "import a.b" || !strings.HasPrefix(two, "import 2 ") || len(two) != len("import 2 12345678") || two == other {
		t.Errorf("%q, %q, %q", one, two, other)
	}
}
