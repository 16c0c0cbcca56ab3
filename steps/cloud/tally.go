package cloud

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

const (
	mostCalls     = 50
	mostResources = 100
)

// tally is what the records of one principal come to.
type tally struct {
	writes    []record
	refused   int
	throttled int
	unclear   []record // failed, and may have written
}

// count takes the calls of the principal since a time; each once, whichever pages have it.
func count(records []record, principal, session string, since time.Time) tally {
	since = since.UTC().Truncate(time.Second) // the log has whole seconds
	var t tally
	seen := map[string]bool{}
	last := map[string]record{} // of an operation with several records, the one that failed, else the first
	var ops []string
	for _, r := range records {
		if r.reads || r.at.Before(since) || !r.of(principal, session) {
			continue
		}
		if r.id != "" {
			if seen[r.id] {
				continue
			}
			seen[r.id] = true
		}
		key := r.op
		if key == "" {
			key = fmt.Sprintf("#%d", len(ops))
		}
		was, known := last[key]
		if !known {
			ops = append(ops, key)
		}
		if !known || was.failed == "" && r.failed != "" {
			last[key] = r
		}
	}
	for _, key := range ops {
		switch r := last[key]; {
		case r.failed == "":
			t.writes = append(t.writes, r)
		case r.unclear:
			t.unclear = append(t.unclear, r)
		default:
			t.refused++
			if r.throttled() {
				t.throttled++
			}
		}
	}
	slices.SortStableFunc(t.writes, func(a, b record) int { return a.at.Compare(b.at) })
	return t
}

// tell sets the facts. open says why what was read is not all, "" where it is; none says why an empty answer proves nothing
// although all was read, "" where it does.
func (t tally) tell(f steps.Facts, open, none string) {
	f.Set("at_least", steps.IntOf(int64(len(t.writes))))
	switch {
	case len(t.writes) > 0:
		f.Set("mutated", steps.EnumOf("seen"))
	case open != "":
		f.Unknown(open, "mutated")
	case len(t.unclear) > 0:
		f.Unknown(fmt.Sprintf("%s failed with %s, and may have written all the same", t.unclear[0].name(), steps.Clip(t.unclear[0].failed, 60)), "mutated")
	case none != "":
		f.Unknown(none, "mutated")
	default:
		f.Set("mutated", steps.EnumOf("none"))
	}
	if open != "" {
		f.Unknown(open, "writes", "refused", "throttled")
	} else {
		f.Set("writes", steps.IntOf(int64(len(t.writes))))
		f.Set("refused", steps.IntOf(int64(t.refused)))
		f.Set("throttled", steps.IntOf(int64(t.throttled)))
	}
	var calls, resources []string
	sessions := map[string]int{}
	for _, r := range t.writes {
		if len(calls) < mostCalls {
			calls = append(calls, r.name())
		}
		for _, o := range r.resources {
			if o = steps.OneLine(strings.ToValidUTF8(o, "?"), 300); len(resources) < mostResources && !slices.Contains(resources, o) {
				resources = append(resources, o)
			}
		}
		if r.session != "" {
			sessions[steps.OneLine(r.session, 100)]++
		}
	}
	by := map[string]string{}
	for name, n := range sessions {
		by[name] = fmt.Sprint(n)
	}
	f.Set("calls", steps.StringsOf(calls))
	f.Set("resources", steps.StringsOf(resources))
	f.Set("sessions", steps.TableOf(by))
	if n := len(t.writes); n > 0 {
		f.Set("first", steps.TimeOf(t.writes[0].at))
		f.Set("last", steps.TimeOf(t.writes[n-1].at))
	} else {
		f.Unknown("no write is recorded", "first", "last")
	}
}
