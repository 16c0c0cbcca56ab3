package keycloak

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sides are the three that a realm has: what its API serves, what the next import brings, and what
// was exported before. git and before are nil where they were not named or could not be read.
type sides struct {
	live        document
	git, before *document
}

// difference is one thing in which the sides differ.
type difference struct {
	entry
	missing     bool // the live realm lacks it, and another side has it
	inGit       bool // the import has it
	inBefore    bool // the export from before has it
	uncommitted bool // the import lacks it, and live or before has it: the next import takes it away
	changed     bool // live has it, and differs from the import or the export
	gitOther    bool // it is live and in the import, and not the same
}

// compare holds the sides against each other, client by client: those of order first, in its order.
func (s sides) compare(order []string) []difference {
	live := s.live.entries()
	git, before := map[entry]string{}, map[entry]string{}
	keys := maps.Clone(live)
	if s.git != nil {
		git = s.git.entries()
		maps.Copy(keys, git)
	}
	if s.before != nil {
		before = s.before.entries()
		maps.Copy(keys, before)
	}
	var out []difference
	for e := range keys {
		l, inLive := live[e]
		g, inGit := git[e]
		b, inBefore := before[e]
		if e.kind == ofSetting && !inLive {
			continue // an import may set what an API leaves away
		}
		if e.kind == ofRole && s.live.rolesUnread[e.client] {
			continue // what was not read is not missing
		}
		d := difference{entry: e, inGit: inGit, inBefore: inBefore,
			missing:     !inLive,
			uncommitted: s.git != nil && !inGit && !s.git.silent(e),
			gitOther:    inLive && inGit && l != g,
		}
		d.changed = d.gitOther || inLive && inBefore && l != b
		if d.missing || d.uncommitted || d.changed {
			out = append(out, d)
		}
	}
	rank := func(d difference) int {
		if i := slices.Index(order, d.client); i >= 0 {
			return i
		}
		return len(order)
	}
	kinds := []string{ofMapper, ofScope, ofRole, ofSetting}
	slices.SortFunc(out, func(a, b difference) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.client, b.client),
			cmp.Compare(slices.Index(kinds, a.kind), slices.Index(kinds, b.kind)), strings.Compare(a.owner, b.owner), strings.Compare(a.name, b.name))
	})
	return out
}

// word is the kind of a difference as a person reads it.
func (d difference) word() string {
	switch {
	case d.missing:
		return "missing-" + d.kind + " " + d.title()
	case d.kind == ofSetting:
		return "other " + d.name
	}
	return "other " + d.kind + " " + d.title()
}
