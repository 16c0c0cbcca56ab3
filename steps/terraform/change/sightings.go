package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/state"
)

// sightings are two looks at the same objects.
type sightings map[string]state.Presence

// look looks twice: one answer may come from a cache or a replica that lags.
func (g RemoveGate) look(ctx context.Context, t site, list []string, out steps.Sink) (sightings, error) {
	if g.Live == nil {
		return nil, errors.New("this build cannot look for objects")
	}
	first, err := g.Live(ctx, g.Env, bytes.NewReader(t.now.Raw), list, out)
	if err != nil {
		return nil, err
	}
	second, err := g.Live(ctx, g.Env, bytes.NewReader(t.now.Raw), list, out)
	if err != nil {
		return nil, err
	}
	seen := sightings{}
	for _, a := range list {
		one, two := first[a], second[a]
		switch {
		case one.Known && one.There, !one.Known && !two.There:
			seen[a] = one
		default:
			seen[a] = two
		}
	}
	return seen, nil
}

// shown says what is known of the objects; what is unknown comes first.
func (s sightings) shown(list []string, why error) []steps.KV {
	if why != nil {
		return []steps.KV{{Key: "objects", Value: "unknown: they could not be looked for: " + why.Error()}}
	}
	unknown, absent := map[string][]string{}, map[string][]string{}
	for _, a := range list {
		switch p := s[a]; {
		case !p.Known:
			unknown[prose.OrUnknown(p.Say)] = append(unknown[prose.OrUnknown(p.Say)], a)
		case !p.There:
			absent[p.Say] = append(absent[p.Say], a)
		}
	}
	var out []steps.KV
	for say, addresses := range unknown {
		out = append(out, steps.KV{Key: "unknown", Value: fmt.Sprintf("whether %s: %s; the proof must come from elsewhere", few(addresses, "still exists", "still exist"), say)})
	}
	for say, addresses := range absent {
		out = append(out, steps.KV{Key: "absent", Value: few(addresses, "is", "are") + " " + say + " (two reads)"})
	}
	slices.SortFunc(out, func(a, b steps.KV) int { return -strings.Compare(a.Key+a.Value, b.Key+b.Value) })
	return out
}

// few names a few of a list.
func few(list []string, one, many string) string {
	switch {
	case len(list) == 1:
		return list[0] + " " + one
	case len(list) <= 5:
		return strings.Join(list, ", ") + " " + many
	}
	return fmt.Sprintf("%s and %d more %s", strings.Join(list[:4], ", "), len(list)-4, many)
}

// absent refuses what is seen to be there.
func (f floors) absent(s sightings, list []string) {
	for _, a := range list {
		if p := s[a]; p.Known && p.There {
			f.unmet("leave it recorded: what exists must not be forgotten", "The object of %s exists: %s.", steps.Clip(a, 300), p.Say)
		}
		if len(*f.need) > 20 {
			return
		}
	}
}
