package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"handrail/steps"
)

// What could be taken for a virtual host, or for what is bound in one.

const (
	// mostVhosts and mostNamed bound what is looked for beside: one small read for
	// each name in each virtual host.
	mostVhosts = 5
	mostNamed  = 4
)

// plain is a name as people say it.
func plain(s string) string { return strings.ToLower(strings.Trim(s, "/")) }

// likeVhost warns of virtual hosts whose names differ from the wanted one by what
// people leave out.
func likeVhost(wanted string, there []string) []steps.Finding {
	var out []steps.Finding
	for _, name := range there {
		if name != wanted && plain(name) == plain(wanted) {
			out = append(out, steps.Findingf(steps.Warning, "Not %q: another virtual host; the slash and the case are part of the name.", name))
		}
	}
	return out
}

// likeBound warns of other virtual hosts that have queues or exchanges of the
// declared names: the same names, and other messages. gaps say where it could not
// look.
func (c *client) likeBound(ctx context.Context, vhost string, want []binding) (like []steps.Finding, gaps []string) {
	list, err := readList[nameEntry](ctx, c, "/api/vhosts", url.Values{"columns": {"name"}})
	var others []string
	if err == nil {
		others, err = names(list)
	}
	if err != nil {
		return nil, []string{"the same names in other virtual hosts: " + err.Error()}
	}
	if whole, err := c.seesAll(ctx); err != nil || !whole {
		gaps = append(gaps, fmt.Sprintf("the same names in virtual hosts that the account %s does not see", c.user))
	}
	others = slices.DeleteFunc(others, func(name string) bool { return name == vhost })
	if len(others) > mostVhosts {
		gaps = append(gaps, fmt.Sprintf("the same names in %d more virtual hosts", len(others)-mostVhosts))
		others = others[:mostVhosts]
	}
	sought := destinations(want)
	if len(sought) > mostNamed {
		gaps = append(gaps, fmt.Sprintf("%d more of the declared names in other virtual hosts", len(sought)-mostNamed))
		sought = sought[:mostNamed]
	}
	var shut []string
	for _, other := range others {
		found, err := c.has(ctx, other, sought)
		if errors.Is(err, steps.ErrDenied) {
			shut = append(shut, fmt.Sprintf("%q", steps.Clip(other, longestName)))
		} else if err != nil {
			gaps = append(gaps, fmt.Sprintf("the same names in the virtual host %q: %v", steps.Clip(other, longestName), err))
		}
		if len(found) > 0 {
			like = append(like, steps.Findingf(steps.Warning, "Not the virtual host %q: it has the same names (%s).", steps.Clip(other, longestName), strings.Join(found, ", ")))
		}
	}
	if len(shut) > 0 {
		gaps = append(gaps, fmt.Sprintf("the same names in virtual hosts that the account %s may not look into: %s", c.user, strings.Join(shut, ", ")))
	}
	return like, gaps
}

// place is a queue or an exchange.
type place struct{ kind, name string }

// destinations are what bindings lead to, each once.
func destinations(want []binding) []place {
	var out []place
	for _, b := range want {
		if p := (place{b.Type, b.Destination}); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// has names what a virtual host has of the places.
func (c *client) has(ctx context.Context, vhost string, sought []place) ([]string, error) {
	at, ok := segment(vhost)
	if !ok {
		return nil, errors.New("it cannot be asked for by a path")
	}
	var found []string
	for _, p := range sought {
		name, ok := segment(p.name)
		if !ok {
			continue
		}
		resp, err := c.get(ctx, "/api/"+p.kind+"s/"+at+"/"+name, url.Values{"columns": {"name"}, "disable_stats": {"true"}})
		switch {
		case errors.Is(err, errAbsent):
			continue
		case err != nil:
			return found, err
		}
		_ = resp.Body.Close() // that it is there is all
		found = append(found, p.kind+" "+steps.Clip(p.name, longestName))
	}
	return found, nil
}
