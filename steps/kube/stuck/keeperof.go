package stuck

import (
	"context"

	"handrail/steps/cluster"
)

// KeeperOf says who must remove a finalizer of o and whether that controller
// lives. controller names its workload where the table does not know it; for a
// finalizer of the table it adds a place to look at and takes none away.
func KeeperOf(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, finalizer, controller string) (Keeper, error) {
	row, is := knownFinalizer(finalizer)
	k := Keeper{Name: row.keeper, Leak: row.leak, Builtin: row.builtin, Nothing: row.nothing}
	switch {
	case row.builtin:
		return k.saw(Sight{Alive: Alive, Why: row.keeper + " is part of the control plane, which answers"}), nil
	case !is:
		k.Name = "unknown"
		k.Leak = "not known, since what this finalizer guards cannot be seen from the cluster"
	case row.nothing:
		k.Leak = "nothing"
	}
	if is {
		s, err := searched(ctx, c, t, row.forKind(t.Group), controller)
		k.Unseen = err == nil && row.outside && s.absent && s.Alive == Unknown
		return k.saw(s), err
	}
	if p, err := ParsePlace(controller, t.Namespace); err == nil {
		k.Name = p.String()
	}
	s, err := proven(ctx, c, t, o, finalizer, controller, &k)
	return k.saw(s), err
}

// searched looks for a controller of the table, and at the place that a person
// added.
func searched(ctx context.Context, c *cluster.Client, t cluster.Target, row known, controller string) (Sight, error) {
	var seen []Sight
	if controller != "" {
		p, err := ParsePlace(controller, t.Namespace)
		if err != nil {
			return Sight{}, err
		}
		s, err := Look(ctx, c, p)
		if err != nil {
			return Sight{}, err
		}
		if !s.absent { // the search says more of what is not there
			seen = append(seen, s)
		}
	}
	s, err := search(ctx, c, row)
	if err != nil {
		return Sight{}, err
	}
	if len(seen) == 0 {
		return s, nil
	}
	return weigh(append(seen, s)), nil
}

func (k Keeper) saw(s Sight) Keeper {
	k.Alive, k.Why = s.Alive, s.Why
	k.State = string(s.Alive)
	if s.Why != "" {
		k.State += ": " + s.Why
	}
	return k
}
