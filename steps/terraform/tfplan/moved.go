package tfplan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Move is a destroy and a create that look like one object under a new name.
type Move struct {
	From, To string // as a moved block takes them, of a whole resource or module where all of it moves
	Count    int    // instances
	Strong   bool   // known attributes tell the object from others of its type
}

// Block is the text to paste into the configuration.
func (m Move) Block() string {
	return fmt.Sprintf("moved {\n  from = %s\n  to   = %s\n}\n", m.From, m.To)
}

// movable are the reasons of a delete that a rename gives.
func movable(reason string) bool {
	switch reason {
	case "delete_because_no_resource_config", "delete_because_no_module", "delete_because_each_key", "delete_because_count_index", "delete_because_wrong_repetition", "delete_because_no_move_target":
		return true
	}
	return false
}

// maxPairs bounds the comparisons of a plan that renames very much.
const maxPairs = 2_000_000

type pair struct {
	from, to Address
	strong   bool
}

// judge finds moves and ghosts once all of the plan is there.
func (d *Doc) judge() {
	gone := map[string]bool{}
	for _, c := range d.Drift {
		if c.Act == Delete {
			gone[c.Address] = true
		}
	}
	var creates, deletes []*Change
	for i := range d.Changes {
		c := &d.Changes[i]
		switch {
		case c.Mode != "managed":
		case c.Act == Create && gone[c.Address]:
			d.Ghosts = append(d.Ghosts, c.Address)
		case c.Act == Create:
			creates = append(creates, c)
		case c.Act == Delete && c.Deposed == "" && movable(c.Reason):
			deletes = append(deletes, c)
		}
	}
	d.pairUp(creates, deletes)
	for i := range d.Changes {
		c := &d.Changes[i]
		c.before, c.after, c.unknown = nil, nil, nil
	}
}

func (d *Doc) pairUp(creates, deletes []*Change) {
	byType := map[string][]*Change{}
	for _, c := range creates {
		byType[c.Type+" "+c.Provider] = append(byType[c.Type+" "+c.Provider], c)
	}
	m := &matcher{byType: byType, taken: map[*Change]bool{}, budget: maxPairs}
	// What one create alone fits settles what is left for the others.
	for left := len(deletes) + 1; len(deletes) < left && m.budget > 0; {
		left = len(deletes)
		deletes = slices.DeleteFunc(deletes, m.settle)
	}
	for _, c := range deletes {
		if m.doubtful[c] {
			d.Doubtful = append(d.Doubtful, c.Address)
		}
	}
	d.Moves = collapse(m.pairs, d.Changes)
}

// matcher pairs deletes with creates.
type matcher struct {
	byType   map[string][]*Change
	taken    map[*Change]bool
	doubtful map[*Change]bool
	pairs    []pair
	budget   int
}

// settle pairs one delete with the create that fits it best; false where none or
// several do.
func (m *matcher) settle(c *Change) bool {
	var best []*Change
	most := 1 // what is known of neither takes at least an equal name or key
	for _, to := range m.byType[c.Type+" "+c.Provider] {
		if m.budget--; m.budget < 0 {
			return false
		}
		if m.taken[to] {
			continue
		}
		alike, fits := likeness(c, to)
		if !fits {
			continue
		}
		score := alike*8 + nearness(c.Address, to.Address)
		if score > most {
			best, most = best[:0], score
		}
		if score == most && score > 1 {
			best = append(best, to)
		}
	}
	if m.doubtful == nil {
		m.doubtful = map[*Change]bool{}
	}
	m.doubtful[c] = len(best) > 1
	if len(best) != 1 {
		return false
	}
	from, okFrom := ParseAddress(c.Address)
	to, okTo := ParseAddress(best[0].Address)
	if !okFrom || !okTo {
		return false
	}
	m.taken[best[0]] = true
	m.pairs = append(m.pairs, pair{from, to, most >= 8})
	return true
}

// likeness compares what is known of the object to be made with the one to be
// destroyed: how many attributes tell that they are one, and whether none tells
// that they are two.
func likeness(gone, made *Change) (alike int, fits bool) {
	if gone.before == nil || made.after == nil {
		return 0, false
	}
	for k, v := range made.after {
		if v == nil || anyTrue(made.unknown[k], 0) {
			continue
		}
		if !reflect.DeepEqual(v, gone.before[k]) {
			return 0, false
		}
		if telling(v) {
			alike++
		}
	}
	return alike, true
}

// telling says whether a value can tell one object from another.
func telling(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case float64:
		return true
	case []any:
		return slices.ContainsFunc(v, telling)
	case map[string]any:
		for _, e := range v {
			if telling(e) {
				return true
			}
		}
	}
	return false
}

// nearness prefers, among creates that fit alike, the one whose name changed
// least.
func nearness(a, b string) int {
	from, ok := ParseAddress(a)
	to, also := ParseAddress(b)
	n := 0
	if ok && also {
		if from.Name == to.Name {
			n += 2
		}
		if from.Key == to.Key || strings.Trim(from.Key, `[]"`) == strings.Trim(to.Key, `[]"`) {
			n += 2
		}
		if from.module() == to.module() {
			n++
		}
		if from.lastModule() == to.lastModule() {
			n++
		}
	}
	return n
}

// collapse writes one block for a resource, or a module, of which all moves.
func collapse(pairs []pair, changes []Change) []Move {
	moving := map[string]bool{}
	for _, p := range pairs {
		moving[p.from.String()] = true
	}
	var staying []Address
	for _, c := range changes {
		if a, ok := ParseAddress(c.Address); ok && !moving[c.Address] {
			staying = append(staying, a)
		}
	}
	var out []Move
	at := map[[2]string]int{}
	for _, p := range pairs {
		from, to := heads(p.from, p.to, staying)
		id := [2]string{from, to}
		n, seen := at[id]
		if !seen {
			n = len(out)
			at[id] = n
			out = append(out, Move{From: from, To: to, Strong: true})
		}
		out[n].Count++
		out[n].Strong = out[n].Strong && p.strong
	}
	return out
}

// heads cuts what is equal at the end of two addresses, as far as nothing below
// what is left stays behind.
func heads(from, to Address, staying []Address) (string, string) {
	f, t := from.String(), to.String()
	if from.Key != to.Key || from.bare() == to.bare() {
		return f, t
	}
	stays := func(below func(Address) bool) bool { return slices.ContainsFunc(staying, below) }
	if stays(func(a Address) bool { return a.bare() == from.bare() }) {
		return f, t
	}
	f, t = from.bare(), to.bare()
	if from.Data != to.Data || from.Type != to.Type || from.Name != to.Name {
		return f, t
	}
	fm, tm := from.Modules, to.Modules
	for len(fm) > 1 && len(tm) > 1 && fm[len(fm)-1] == tm[len(tm)-1] {
		fm, tm = fm[:len(fm)-1], tm[:len(tm)-1]
	}
	if len(fm) == 0 || len(tm) == 0 || stays(func(a Address) bool {
		return len(a.Modules) >= len(fm) && slices.Equal(a.Modules[:len(fm)], fm)
	}) {
		return f, t
	}
	return strings.Join(fm, "."), strings.Join(tm, ".")
}
