package tfstate

import (
	"cmp"
	"slices"
	"time"
)

// BurstWindow is how close writes lie that one run after another would not make.
const BurstWindow = 90 * time.Second

// Version is one write of a state that a store still has.
type Version struct {
	ID   string // version id, generation, or name of the file
	At   time.Time
	Size int64
	Doc  *Doc // nil where it was not read
}

// Burst is a group of writes that lie close together. One long apply also writes
// every 20 seconds or more, with each serial one higher: only Repeats and Back
// prove two writers.
type Burst struct {
	From, To time.Time
	IDs      []string // oldest first
	Repeats  bool     // a serial stands twice, with other content where that is known
	Back     bool     // a serial is lower than the one before
	Lineages bool     // not all of one lineage
	Tools    bool     // not all by one version of the tool
}

// Racing says whether the burst proves two writers.
func (b Burst) Racing() bool { return b.Repeats || b.Back || b.Lineages || b.Tools }

// OldestFirst sorts a copy: by time, and by serial within a second.
func OldestFirst(vs []Version) []Version {
	vs = slices.Clone(vs)
	slices.SortStableFunc(vs, func(a, b Version) int {
		// Stores that tell seconds alone give two writes one time.
		if n := a.At.Truncate(time.Second).Compare(b.At.Truncate(time.Second)); n != 0 || a.Doc == nil || b.Doc == nil {
			return n
		}
		return cmp.Compare(a.Doc.Serial, b.Doc.Serial)
	})
	return vs
}

// Bursts finds groups of at least two writes, each within BurstWindow of the
// first of its group.
func Bursts(vs []Version) []Burst {
	var out []Burst
	vs = OldestFirst(slices.DeleteFunc(slices.Clone(vs), func(v Version) bool { return v.At.IsZero() }))
	for i := 0; i < len(vs); {
		n := i + 1
		for n < len(vs) && vs[n].At.Sub(vs[i].At) <= BurstWindow {
			n++
		}
		if n-i > 1 {
			out = append(out, burst(vs[i:n]))
		}
		i = n
	}
	return out
}

func burst(vs []Version) Burst {
	b := Burst{From: vs[0].At, To: vs[len(vs)-1].At}
	var last *Doc
	for _, v := range vs {
		b.IDs = append(b.IDs, v.ID)
		// One that broke off has the serial of the write that it was to be, or of the one before:
		// it proves a torn write, and no second writer.
		if v.Doc == nil || !v.Doc.HasSerial || v.Doc.Torn() {
			continue
		}
		if last != nil {
			b.Lineages = b.Lineages || v.Doc.Lineage != last.Lineage
			b.Tools = b.Tools || v.Doc.Tool != last.Tool
			if v.Doc.Lineage == last.Lineage {
				b.Repeats = b.Repeats || v.Doc.Serial == last.Serial && (v.Doc.Content != last.Content || v.Doc.Content == Sum{})
				b.Back = b.Back || v.Doc.Serial < last.Serial
			}
		}
		last = v.Doc
	}
	return b
}

// LastClean is the newest version that is sound and older than the first burst
// of two writers; where there is none, than everything. lineage "" takes any. ok
// is false where no version qualifies.
func LastClean(vs []Version, lineage string) (Version, bool) {
	var end time.Time
	for _, b := range Bursts(vs) {
		if b.Racing() {
			end = b.From
			break
		}
	}
	sorted := OldestFirst(vs)
	for i := len(sorted) - 1; i >= 0; i-- {
		v := sorted[i]
		if v.Doc == nil || v.Doc.Condition() != Sound || lineage != "" && v.Doc.Lineage != lineage {
			continue
		}
		if end.IsZero() || v.At.Before(end) {
			return v, true
		}
	}
	return Version{}, false
}
