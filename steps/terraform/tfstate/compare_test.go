package tfstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is a state as the property tests think of it: address to the value of
// its attributes.
type model map[int]string

func (m model) encode(serial int, lineage string, indent bool) []byte {
	var instances []any
	for k := range 40 {
		if v, ok := m[k]; ok {
			instances = append(instances, map[string]any{"index_key": k, "attributes": map[string]any{"id": v, "text": "<&> " + v}, "private": "x"})
		}
	}
	doc := map[string]any{"version": 4, "serial": serial, "lineage": lineage, "terraform_version": "1.12.6",
		"resources": []any{map[string]any{"mode": "managed", "type": "t", "name": "a", "instances": instances}}}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(!indent)
	if indent {
		enc.SetIndent("", "  ")
	}
	_ = enc.Encode(doc)
	return b.Bytes()
}

func drawModel(t *rapid.T, name string) model {
	m := model{}
	for i, k := range rapid.SliceOfNDistinct(rapid.IntRange(0, 39), 0, 20, rapid.ID[int]).Draw(t, name) {
		m[k] = fmt.Sprintf("%s-%d", name, i) // ids are unique
	}
	return m
}

func compare(t interface{ Fatalf(string, ...any) }, a, b []byte) *Diff {
	d, err := Compare(bytes.NewReader(a), bytes.NewReader(b))
	if err != nil {
		t.Fatalf("Compare(): %v", err)
	}
	return d
}

// TestCompareFindsWhatWasDone: whatever is dropped, added, moved and changed is
// found, no more and no less, in either layout.
func TestCompareFindsWhatWasDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawModel(t, "before")
		after := model{}
		var missing, added, changed, moved int
		var moves []Move
		free := []int{}
		for k := range 40 {
			if _, used := before[k]; !used {
				free = append(free, k)
			}
		}
		for k, v := range before {
			switch op := rapid.SampledFrom([]string{"keep", "drop", "change", "move"}).Draw(t, fmt.Sprint(k)); {
			case op == "drop":
				missing++
			case op == "change":
				after[k], changed = v+"!", changed+1
			case op == "move" && len(free) > 0:
				after[free[0]] = v
				moves = append(moves, Move{fmt.Sprintf("t.a[%d]", k), fmt.Sprintf("t.a[%d]", free[0])})
				free, moved = free[1:], moved+1
			default:
				after[k] = v
			}
		}
		if rapid.Bool().Draw(t, "add") && len(free) > 0 {
			after[free[0]], added = "new", 1
		}
		d := compare(t, before.encode(3, "l", true), after.encode(3, "l", false))
		if d.Missing != missing || d.Added != added || d.Changed != changed || d.Moved != moved || d.Bookkeeping != 0 {
			t.Fatalf("%d missing, %d added, %d changed, %d moved, want %d, %d, %d, %d", d.Missing, d.Added, d.Changed, d.Moved, missing, added, changed, moved)
		}
		less := func(a, b Move) int { return strings.Compare(a.From, b.From) }
		slices.SortFunc(moves, less)
		slices.SortFunc(d.MovedList, less)
		if diff := cmp.Diff(moves, d.MovedList); diff != "" && len(moves) > 0 {
			t.Fatalf("moves (-want +got):\n%s", diff)
		}
		if d.Collision != (missing+added+changed+moved > 0) {
			t.Fatalf("collision %v with the serial unmoved", d.Collision)
		}
	})
}

func TestCompareSerialsAndLineages(t *testing.T) {
	t.Parallel()
	one, two := model{1: "x"}, model{1: "y"}
	for _, tc := range []struct {
		name                           string
		a, b                           []byte
		collision, regressed, lineages bool
	}{
		{"next", one.encode(3, "l", true), two.encode(4, "l", true), false, false, false},
		{"collision", one.encode(3, "l", true), two.encode(3, "l", true), true, false, false},
		{"same twice", one.encode(3, "l", true), one.encode(3, "l", false), false, false, false},
		{"back", one.encode(3, "l", true), two.encode(2, "l", true), false, true, false},
		{"other lineage", one.encode(3, "l", true), two.encode(3, "m", true), false, false, true},
	} {
		d := compare(t, tc.a, tc.b)
		if d.Collision != tc.collision || d.Regressed != tc.regressed || d.LineageChanged != tc.lineages {
			t.Errorf("%s: collision %v, regressed %v, lineage %v", tc.name, d.Collision, d.Regressed, d.LineageChanged)
		}
	}
}

func TestCompareNamesAttributesAndBookkeeping(t *testing.T) {
	t.Parallel()
	state := func(instance string) []byte {
		return []byte(`{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t","name":"a","instances":[` + instance + `]}]}`)
	}
	d := compare(t, state(`{"attributes":{"id":"1","a":1,"gone":2,"same":[1, 2]}}`), state(`{"attributes":{"id":"1","a":2,"new":2,"same":[1,2]}}`))
	if diff := cmp.Diff(map[string][]string{"t.a": {"a", "gone", "new"}}, d.Attributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	d = compare(t, state(`{"attributes":{"id":"1"},"private":"a"}`), state(`{"attributes":{"id":"1"},"private":"b"}`))
	if d.Bookkeeping != 1 || d.Changed != 0 || !d.Collision {
		t.Errorf("private data alone: %+v", d)
	}
	d = compare(t, state(`{"attributes":{"id":"1"}}`), state(`{"status":"tainted","attributes":{"id":"1"}}`))
	if d.Changed != 1 {
		t.Errorf("tainted: %+v", d)
	}
	for _, bad := range [][]byte{nil, []byte("{"), []byte(`{"serial":1,"lineage":"l","encrypted_data":"x"}`)} {
		if d := compare(t, state(`{}`), bad); d.Missing != 0 || d.After.Usable() {
			t.Errorf("%q: %+v", bad, d)
		}
	}
}

func TestBurstsAndLastClean(t *testing.T) {
	t.Parallel()
	at := func(clock string) time.Time {
		v, err := time.Parse("15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	doc := func(serial int64) *Doc { return &Doc{Serial: serial, HasSerial: true, Lineage: "l", Tool: "1.12.6"} }
	version := func(id, clock string, serial int64) Version { return Version{ID: id, At: at(clock), Doc: doc(serial)} }
	// The incident of the catalogue: three writes in 84 seconds.
	race := []Version{version("d", "16:51:12", 11), version("clean", "16:42:15", 10), version("b", "16:49:48", 11), version("c", "16:50:31", 12)}
	bursts := Bursts(race)
	if len(bursts) != 1 || !bursts[0].Racing() || !bursts[0].Back || strings.Join(bursts[0].IDs, "") != "bcd" || bursts[0].To.Sub(bursts[0].From) != 84*time.Second {
		t.Errorf("Bursts() = %+v", bursts)
	}
	if v, ok := LastClean(race, "l"); !ok || v.ID != "clean" {
		t.Errorf("LastClean() = %v, %v", v, ok)
	}
	// One long apply writes each twenty seconds, and is no race.
	apply := []Version{version("a", "10:00:00", 5), version("b", "10:00:20", 6), version("c", "10:00:40", 7)}
	if b := Bursts(apply); len(b) != 1 || b[0].Racing() {
		t.Errorf("Bursts() of one run = %+v", b)
	}
	if v, ok := LastClean(apply, "l"); !ok || v.ID != "c" {
		t.Errorf("LastClean() of one run = %v, %v", v, ok)
	}
	apply[2].Doc.Faults = []Fault{{Truncated, "cut"}}
	if v, ok := LastClean(apply, "l"); !ok || v.ID != "b" {
		t.Errorf("LastClean() after a torn write = %v, %v", v, ok)
	}
	// What is cut off repeats a serial, and proves a torn write alone; a whole one proves two writers.
	for _, tc := range []struct {
		faults []Fault
		want   bool
	}{{[]Fault{{Truncated, "cut"}}, false}, {[]Fault{{NotJSON, "x"}}, false}, {[]Fault{{Duplicate, "x"}}, true}, {nil, true}} {
		again := []Version{version("a", "10:00:00", 5), version("b", "10:00:20", 5)}
		again[1].Doc.Faults = tc.faults
		if b := Bursts(again); len(b) != 1 || b[0].Racing() != tc.want {
			t.Errorf("Bursts() with one of %v = %+v, want racing %v", tc.faults, b, tc.want)
		}
	}
	if _, ok := LastClean(apply, "other"); ok {
		t.Error("LastClean() takes another lineage")
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(model{1: "x"}.encode(1, "l", true), model{1: "y", 2: "z"}.encode(2, "l", false))
	f.Add([]byte(sound), []byte(sound))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := compare(t, a, b)
		if !d.Before.Usable() || !d.After.Usable() {
			if d.Missing+d.Added+d.Changed+d.Moved != 0 {
				t.Fatalf("what cannot be read is compared: %+v", d)
			}
			return
		}
		back := compare(t, b, a)
		if d.Missing != back.Added || d.Changed != back.Changed || d.Moved != back.Moved || d.Same() != back.Same() {
			t.Fatalf("there %+v, back %+v", d, back)
		}
		if !compare(t, a, a).Same() {
			t.Fatal("a state differs from itself")
		}
	})
}
