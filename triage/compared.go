package triage

import (
	"slices"
	"strings"

	"handrail/triage/record"
)

// Compared is one field of a comparison: what each source says of it.
type Compared struct {
	Field string `json:"field"`
	Sides []Side `json:"sides"`
}

// Side is what one source says of a field.
type Side struct {
	Source string  `json:"source"`
	Expr   string  `json:"expr,omitempty"`
	Value  Value   `json:"value"`          // an unknown one has its reason
	From   []int64 `json:"from,omitempty"` // the entries that it stands on
}

// Limits of a comparison: more is no longer read at a glance.
const (
	MaxFields  = 64
	MaxSources = 6
)

// The sources that a direction can be told from, in the order they are shown.
const (
	Desired  = "desired"  // Git, rendered
	Recorded = "recorded" // the state of a tool
	Actual   = "actual"   // the live API
)

// Drift says in which direction the sources of a field went apart.
type Drift string

// The drifts of a field; Mixed is one of a comparison whose fields went apart in
// several ways.
const (
	NoDrift       Drift = "none"
	ActualDrifted Drift = "actual_drifted" // desired and recorded agree
	NotApplied    Drift = "not_applied"    // recorded and actual agree
	RecordBehind  Drift = "record_behind"  // desired and actual agree
	TwoDiffer     Drift = "two_differ"     // there are only two sources
	OneDiffers    Drift = "one_differs"    // one other source against all the rest
	AllDiffer     Drift = "all_differ"
	Split         Drift = "split" // some agree with each other and not with the rest
	Mixed         Drift = "mixed"
)

// Drifts lists every drift of a comparison.
func Drifts() []Drift {
	return []Drift{NoDrift, ActualDrifted, NotApplied, RecordBehind, TwoDiffer, OneDiffers, AllDiffer, Split, Mixed}
}

// The agreements of a field.
const (
	Agrees  = "agree"
	Differs = "differ"
)

// Agreement is the verdict on one field.
type Agreement struct {
	Is    string // Agrees, Differs or Unknown
	Drift Drift  // "" where the field is unknown
	Word  string // the verdict for a person: agree, unknown, or the direction
}

// Judge compares the sources of a field. One that was not read makes the field
// unknown, whatever the others say, and then there is no direction.
func (c Compared) Judge() Agreement {
	if len(c.Sides) < 2 || slices.ContainsFunc(c.Sides, func(s Side) bool { return !s.Value.Known() }) {
		return Agreement{Is: Unknown, Word: Unknown}
	}
	groups := c.groups()
	if len(groups) == 1 {
		return Agreement{Is: Agrees, Drift: NoDrift, Word: "agree"}
	}
	drift, word := c.direction(groups)
	return Agreement{Is: Differs, Drift: drift, Word: word}
}

// groups puts the sources together that say the same.
func (c Compared) groups() [][]string {
	var out [][]string
	var first []Value
	for _, s := range c.Sides {
		i := slices.IndexFunc(first, func(v Value) bool { return sameSide(v, s.Value) })
		if i < 0 {
			first, out = append(first, s.Value), append(out, []string{s.Source})
			continue
		}
		out[i] = append(out[i], s.Source)
	}
	return out
}

func (c Compared) direction(groups [][]string) (Drift, string) {
	n := len(c.Sides)
	if n == 2 {
		a, b := c.Sides[0].Source, c.Sides[1].Source
		if rank(b) < rank(a) {
			a, b = b, a
		}
		return TwoDiffer, b + " is not as " + a
	}
	if len(groups) == n {
		return AllDiffer, "all differ"
	}
	i := slices.IndexFunc(groups, func(g []string) bool { return len(g) == 1 })
	if len(groups) != 2 || i < 0 {
		return Split, "the sources disagree"
	}
	odd := groups[i][0]
	if c.has(Desired) && c.has(Recorded) && c.has(Actual) {
		switch odd {
		case Actual:
			return ActualDrifted, "actual drifted"
		case Desired:
			return NotApplied, "not applied yet"
		case Recorded:
			return RecordBehind, "the record is behind"
		}
	}
	return OneDiffers, odd + " differs"
}

func (c Compared) has(source string) bool {
	return slices.ContainsFunc(c.Sides, func(s Side) bool { return s.Source == source })
}

// Side is what a source says of the field, and whether it is one of its sources.
func (c Compared) Side(source string) (Side, bool) {
	i := slices.IndexFunc(c.Sides, func(s Side) bool { return s.Source == source })
	if i < 0 {
		return Side{}, false
	}
	return c.Sides[i], true
}

// Sources lists the sources of a comparison as its columns: the usual three, then
// the others as they come.
func Sources(rows []Compared) []string {
	var out []string
	for _, r := range rows {
		for _, s := range r.Sides {
			if !slices.Contains(out, s.Source) {
				out = append(out, s.Source)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return rank(a) - rank(b) })
	return out
}

// readable refuses what no runbook can compare; who draws a comparison may rely
// on its size.
func readable(rows []Compared) bool {
	if len(rows) > MaxFields {
		return false
	}
	for _, r := range rows {
		if len(r.Sides) > MaxSources {
			return false
		}
	}
	return len(Sources(rows)) <= MaxSources
}

func rank(source string) int {
	usual := []string{Desired, Recorded, Actual}
	if i := slices.Index(usual, source); i >= 0 {
		return i
	}
	return len(usual)
}

// sameSide reports whether two known values say the same. Text of every kind is
// text, and a list is what is in it, in any order.
func sameSide(a, b Value) bool {
	switch {
	case plainText(a) && plainText(b):
		return a.Text() == b.Text()
	case a.Type() == record.Strings && b.Type() == record.Strings:
		return slices.Equal(slices.Sorted(slices.Values(a.Strings())), slices.Sorted(slices.Values(b.Strings())))
	}
	return a.Equal(b)
}

func plainText(v Value) bool {
	return slices.Contains([]record.Type{record.String, record.Enum, record.Ident, record.Path}, v.Type())
}

// Comparison counts how the fields of a comparison stand.
type Comparison struct{ Agree, Differ, Unknown int }

// Tally counts the verdicts of a comparison, and gives the one direction that all
// of its differing fields went, NoDrift where none differs.
func Tally(rows []Compared) (Comparison, Drift) {
	var n Comparison
	drift := NoDrift
	for _, r := range rows {
		switch got := r.Judge(); got.Is {
		case Agrees:
			n.Agree++
		case Unknown:
			n.Unknown++
		default:
			if n.Differ++; n.Differ > 1 && drift != got.Drift {
				drift = Mixed
			} else {
				drift = got.Drift
			}
		}
	}
	return n, drift
}

// Differing names the fields that differ, each with its direction.
func Differing(rows []Compared) []string {
	var out []string
	for _, r := range rows {
		if got := r.Judge(); got.Is == Differs {
			out = append(out, strings.Join([]string{r.Field, got.Word}, ": "))
		}
	}
	return out
}

// sameValue reports whether two values mean the same; two that are unknown do.
func sameValue(a, b Value) bool {
	if !a.Known() || !b.Known() {
		return a.Known() == b.Known()
	}
	return a.Equal(b)
}
