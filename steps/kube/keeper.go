package kube

import (
	"context"
	"fmt"
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
	why     string // grounds of the verdict
	leak    string // what stays behind when the finalizer is stripped
	builtin bool   // part of the control plane
	nothing bool   // known to leave nothing behind
}

// sight is what was seen at one place where a keeper could be.
type sight struct {
	alive verdict
	why   string
}

// keeper says who must remove a finalizer of o and whether that controller
// lives. controller names its workload where the table does not know it; for a
// finalizer of the table it adds a place to look at and takes none away.
func (c *client) keeper(ctx context.Context, t target, o object, finalizer, controller string) (keeper, error) {
	row, is := knownFinalizer(finalizer)
	k := keeper{name: row.keeper, leak: row.leak, builtin: row.builtin, nothing: row.nothing}
	switch {
	case row.builtin:
		return k.saw(sight{alive, row.keeper + " is part of the control plane, which answers"}), nil
	case !is:
		k.name = "unknown"
		k.leak = "not known: what this finalizer guards cannot be seen from the cluster"
	case row.nothing:
		k.leak = "nothing"
	}
	var seen []sight
	if controller != "" {
		p, err := parsePlace(controller, t.namespace)
		if err != nil {
			return keeper{}, err
		}
		if !is {
			k.name = p.String()
		}
		s, err := c.look(ctx, p)
		if err != nil {
			return keeper{}, err
		}
		seen = append(seen, s)
	}
	switch {
	case is:
		s, err := c.search(ctx, row.forKind(t.group))
		if err != nil {
			return keeper{}, err
		}
		seen = append(seen, s)
	case controller == "":
		seen = append(seen, sight{unknown, fmt.Sprintf("handrail does not know who keeps %q: find its controller and name it", clip(finalizer, 200))})
	}
	if !is {
		s, err := c.suspects(ctx, t, o, finalizer, controller)
		if err != nil {
			return keeper{}, err
		}
		seen = append(seen, s...)
	}
	return k.saw(weigh(seen)), nil
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
		return sight{unknown, "nothing was looked at"}
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
			return sight{v, strings.Join(by[v], "; ")}
		}
	}
	return sight{dead, strings.Join(by[dead], "; ")}
}
