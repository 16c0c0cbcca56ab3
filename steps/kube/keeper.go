package kube

import (
	"context"
	"strings"
)

// verdict is whether a controller lives. Only positive proof makes it one of
// the two; the rest is unknown.
type verdict string

const (
	alive   verdict = "alive"
	dead    verdict = "dead"
	unknown verdict = "unknown"
)

// keeper is the controller that must remove one finalizer.
type keeper struct {
	name    string
	state   string // what was seen of it, for a person
	alive   verdict
	why     string   // grounds of the verdict
	leak    string   // what stays behind when the finalizer is stripped
	builtin bool     // part of the control plane
	nothing bool     // known to leave nothing behind
	ties    []string // what in the cluster ties the named workload to it
	leads   string   // what it ties to it instead
}

// sight is what was seen at one place where a keeper could be.
type sight struct {
	alive  verdict
	why    string
	absent bool   // nothing is there, which by itself proves nothing
	seen   object // what is there
}

func (s sight) of(o object) sight {
	s.seen = o
	return s
}

// keeperOf says who must remove a finalizer of o and whether that controller
// lives. controller names its workload where the table does not know it; for a
// finalizer of the table it adds a place to look at and takes none away.
func keeperOf(ctx context.Context, c *client, t target, o object, finalizer, controller string) (keeper, error) {
	row, is := knownFinalizer(finalizer)
	k := keeper{name: row.keeper, leak: row.leak, builtin: row.builtin, nothing: row.nothing}
	switch {
	case row.builtin:
		return k.saw(sight{alive: alive, why: row.keeper + " is part of the control plane, which answers"}), nil
	case !is:
		k.name = "unknown"
		k.leak = "not known, since what this finalizer guards cannot be seen from the cluster"
	case row.nothing:
		k.leak = "nothing"
	}
	if is {
		s, err := searched(ctx, c, t, row.forKind(t.group), controller)
		return k.saw(s), err
	}
	if p, err := parsePlace(controller, t.namespace); err == nil {
		k.name = p.String()
	}
	s, err := proven(ctx, c, t, o, finalizer, controller, &k)
	return k.saw(s), err
}

// searched looks for a controller of the table, and at the place that a person
// added.
func searched(ctx context.Context, c *client, t target, row known, controller string) (sight, error) {
	var seen []sight
	if controller != "" {
		p, err := parsePlace(controller, t.namespace)
		if err != nil {
			return sight{}, err
		}
		s, err := lookAtWorkload(ctx, c, p)
		if err != nil {
			return sight{}, err
		}
		if !s.absent { // the search says more of what is not there
			seen = append(seen, s)
		}
	}
	s, err := search(ctx, c, row)
	if err != nil {
		return sight{}, err
	}
	return weigh(append(seen, s)), nil
}

func (k keeper) saw(s sight) keeper {
	k.alive, k.why = s.alive, s.why
	k.state = string(s.alive)
	if s.why != "" {
		k.state += ": " + s.why
	}
	return k
}

// weigh makes one verdict of what was seen at several places: alive when one
// lives, dead when each was looked at and is dead.
func weigh(seen []sight) sight {
	if len(seen) == 0 {
		return sight{alive: unknown, why: "nothing was looked at"}
	}
	by := map[verdict][]string{}
	for _, s := range seen {
		v := s.alive
		if v != alive && v != dead {
			v = unknown
		}
		by[v] = append(by[v], s.why)
	}
	for _, v := range []verdict{alive, unknown} {
		if len(by[v]) > 0 {
			return sight{alive: v, why: strings.Join(by[v], "; ")}
		}
	}
	return sight{alive: dead, why: strings.Join(by[dead], "; ")}
}
