package compare

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
)

const (
	// mostWitnesses bounds the recorded objects that may prove the cluster right.
	mostWitnesses = 2000
	// mostPlaces bounds the kinds and namespaces that are listed for one alone.
	mostPlaces = 10
)

// Look looks in the operator's cluster for the objects that a state records under
// addresses, for the gate that forgets them. Objects of no cluster are unknown.
// That none is found means something only where another object of the same state
// is there with the UID that is recorded: else this may be another cluster.
func Look(ctx context.Context, env steps.Env, stored io.ReadSeeker, addresses []string, out steps.Sink) (map[string]state.Presence, error) {
	seen := map[string]state.Presence{}
	asked, witnesses, err := sort(stored, addresses, seen)
	if err != nil || len(asked) == 0 {
		return seen, err
	}
	look, err := cluster.OpenLooker(env, out)
	if err != nil {
		for _, r := range asked {
			seen[r.address] = state.Presence{Say: "no cluster could be asked: " + err.Error()}
		}
		return seen, nil
	}
	v := newInventory(look)
	for _, r := range asked {
		p := v.presence(ctx, r)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if old, twice := seen[r.address]; !twice || !old.There && (p.There || !p.Known) { // a deposed object beside the current one
			seen[r.address] = p
		}
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(seen)), func(p state.Presence) bool { return p.Known && p.There }) || v.proven(ctx, witnesses) {
		return seen, ctx.Err()
	}
	for _, r := range asked {
		if p := seen[r.address]; p.Known && !p.There {
			seen[r.address] = state.Presence{Say: p.Say + ", but no other object of this state is there either: it may be another cluster than the provider's"}
		}
	}
	return seen, ctx.Err()
}

// sort puts what can be asked of a cluster aside, and what could prove that it is
// the right one. What cannot be asked for is in seen.
func sort(stored io.ReadSeeker, addresses []string, seen map[string]state.Presence) (asked, witnesses []stateObject, err error) {
	if _, err := stored.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	wanted := map[string]bool{}
	for _, a := range addresses {
		wanted[a] = true
	}
	_, err = tfstate.Read(stored, tfstate.Options{Visit: func(i *tfstate.Instance) error {
		ours := strings.HasPrefix(i.Type, "kubernetes_") && i.Mode == "managed"
		if !wanted[i.Address] {
			if r, ok := recordedOf(i); ours && ok && r.uid != "" && len(witnesses) < mostWitnesses {
				witnesses = append(witnesses, r)
			}
			return nil
		}
		r, ok := recordedOf(i)
		switch {
		case i.Mode == "data" || i.Provider == "terraform.io/builtin/terraform":
			seen[i.Address] = state.Presence{Known: true, Say: "nothing outside the state"}
		case !ours:
			seen[i.Address] = state.Presence{Say: "handrail cannot look for objects of the type " + i.Type}
		case !ok:
			seen[i.Address] = state.Presence{Say: "the state does not name its object"}
		default:
			asked = append(asked, r)
		}
		return nil
	}})
	return asked, witnesses, err
}

// presence says whether one object is there.
func (v *inventory) presence(ctx context.Context, r stateObject) state.Presence {
	_, l := v.in(ctx, r.object)
	if l.why != "" {
		return state.Presence{Say: l.why}
	}
	name := objectName(r.object)
	s, there := l.byName[r.object.Name]
	switch {
	case !there:
		return state.Presence{Known: true, Say: "not on " + v.look.Server()}
	case r.uid != "" && s.UID != r.uid:
		return state.Presence{Known: true, There: true, Say: fmt.Sprintf("%s on %s is another object with its name (recorded UID %s, there %s)", name, v.look.Server(), r.uid, s.UID)}
	case s.Leaving:
		return state.Presence{Known: true, There: true, Say: fmt.Sprintf("%s on %s is being deleted and not gone yet", name, v.look.Server())}
	}
	return state.Presence{Known: true, There: true, Say: fmt.Sprintf("%s on %s", name, v.look.Server())}
}

func objectName(o tfplan.Object) string {
	if o.Namespace == "" {
		return sought(o).String() + " " + o.Name
	}
	return sought(o).String() + " " + o.Namespace + "/" + o.Name
}

// proven reports whether an object of the state is on the cluster. What was
// listed already is looked at first.
func (v *inventory) proven(ctx context.Context, witnesses []stateObject) bool {
	place := func(r stateObject) string { return sought(r.object).String() + "/" + r.object.Namespace }
	rank := func(r stateObject) int {
		if _, listed := v.listed[place(r)]; listed {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(witnesses, func(a, b stateObject) int { return rank(a) - rank(b) })
	more := map[string]bool{}
	for _, r := range witnesses {
		if _, listed := v.listed[place(r)]; !listed {
			if more[place(r)] = true; len(more) > mostPlaces {
				return false
			}
		}
		if _, l := v.in(ctx, r.object); l.why == "" && l.byName[r.object.Name].UID == r.uid {
			return true
		}
	}
	return false
}
