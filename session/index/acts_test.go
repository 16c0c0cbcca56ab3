package index

import (
	"fmt"
	"strings"
	"testing"

	"handrail/triage"
)

// TestItemsAreActs: who did what to one object of a batch is found by that object,
// what was left is no act, and an end that is found later takes the place of the first.
func TestItemsAreActs(t *testing.T) {
	t.Parallel()
	l := newActLog()
	seq := int64(0)
	add := func(b triage.Body) { seq++; l.add(triage.Event{Seq: seq, Actor: "ada", Body: b}) }
	list := func() string {
		var out []string
		for _, a := range l.list {
			out = append(out, fmt.Sprint(a.Outcome, " ", a.Effect, " ", strings.Contains(a.searched(), "job/shop/b")))
		}
		return strings.Join(out, "; ")
	}
	item := func(object, outcome string) triage.Item {
		return triage.Item{Object: object, Effect: "remove x from " + object, Outcome: outcome}
	}
	add(triage.GateShown{Step: "r/strip", Class: triage.Repair, Effect: "remove a finalizer from each of 3 objects"})
	repairs := func(want int) {
		t.Helper()
		if got := Repairs([]Row{{Acts: l.list}}); len(got) != want {
			t.Errorf("%d repairs, want %d: %+v", len(got), want, got)
		}
	}
	add(triage.ActStart{Step: "r/strip"})
	add(triage.ActEnd{Step: "r/strip", Outcome: "unknown", Items: []triage.Item{item("job/shop/a", "done"), item("job/shop/b", "unknown"), item("job/shop/c", "left")}})
	if want := "unknown remove a finalizer from each of 3 objects false; done remove x from job/shop/a false; unknown remove x from job/shop/b true"; list() != want {
		t.Errorf("acts = %s, want %s", list(), want)
	}
	add(triage.ActEnd{Step: "r/strip", Outcome: "failed", Items: []triage.Item{item("job/shop/a", "done"), item("job/shop/b", "done"), item("job/shop/c", "failed")}})
	if want := "failed remove a finalizer from each of 3 objects false; done remove x from job/shop/a false; done remove x from job/shop/b true; failed remove x from job/shop/c false"; list() != want {
		t.Errorf("acts = %s, want %s", list(), want)
	}
	repairs(2) // of a batch that failed, what was done
	add(triage.ActStart{Step: "r/strip"})
	add(triage.ActEnd{Step: "r/strip", Outcome: "done", Items: []triage.Item{item("job/shop/c", "done")}})
	if len(l.list) != 6 {
		t.Errorf("the next act: %s", list())
	}
	repairs(3) // and the whole of one that was not
}
