package stuck

import (
	"strings"

	"handrail/steps/cluster"
)

// Verdict is whether a controller lives. Only positive proof makes it one of
// the two; the rest is unknown.
type Verdict string

const (
	Alive   Verdict = "alive"
	Dead    Verdict = "dead"
	Unknown Verdict = "unknown"
)

// Keeper is the controller that must remove one finalizer.
type Keeper struct {
	Name    string
	State   string // what was seen of it, for a person
	Alive   Verdict
	Why     string   // grounds of the verdict
	Leak    string   // what stays behind when the finalizer is stripped
	Builtin bool     // part of the control plane
	Nothing bool     // known to leave nothing behind
	Ties    []string // what in the cluster ties the named workload to it
	Leads   string   // what it ties to it instead
	// Unseen says that the whole cluster was looked through, and nothing in it keeps the
	// finalizer as far as can be seen: then only a person can say where its keeper is.
	Unseen bool
}

// The words of a person on a keeper that is Unseen.
const (
	KeeperSeen    = "seen" // none: it must be seen to be gone
	KeeperOutside = "outside"
	KeeperUnknown = "unknown"
)

// Says is how the word of a person on a keeper reads, "" for none.
func Says(word string) string {
	return map[string]string{KeeperOutside: "said to run outside this cluster", KeeperUnknown: "said not to be known to the people on the call"}[word]
}

// Sight is what was seen at one place where a keeper could be.
type Sight struct {
	Alive  Verdict
	Why    string
	absent bool           // nothing is there, which by itself proves nothing
	seen   cluster.Object // what is there
}

func (s Sight) of(o cluster.Object) Sight {
	s.seen = o
	return s
}

// weigh makes one verdict of what was seen at several places: alive when one
// lives, dead when each was looked at and is dead.
func weigh(seen []Sight) Sight {
	if len(seen) == 0 {
		return Sight{Alive: Unknown, Why: "nothing was looked at"}
	}
	by := map[Verdict][]string{}
	for _, s := range seen {
		v := s.Alive
		if v != Alive && v != Dead {
			v = Unknown
		}
		by[v] = append(by[v], s.Why)
	}
	for _, v := range []Verdict{Alive, Unknown} {
		if len(by[v]) > 0 {
			return Sight{Alive: v, Why: strings.Join(by[v], "; ")}
		}
	}
	return Sight{Alive: Dead, Why: strings.Join(by[Dead], "; ")}
}
