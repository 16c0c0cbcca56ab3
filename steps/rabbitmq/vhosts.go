package rabbitmq

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"

	"handrail/steps"
)

// mostNames is how many a list of a fact holds; the artifact has all.
const mostNames = 500

func vhostFacts() []steps.Field {
	return []steps.Field{
		{Name: "vhosts", Type: steps.Strings, Doc: "virtual hosts that the broker has; unknown where the account does not see all"},
		{Name: "wanted", Type: steps.String, Doc: "name of the virtual host that was asked for, decoded"},
		{Name: "present", Type: steps.Bool, Doc: "whether the broker has it"},
		{Name: "whole", Type: steps.Bool, Doc: "whether the account sees every virtual host"},
	}
}

// nameEntry is an entry of a list of which the name is read.
type nameEntry struct {
	Name *string `json:"name"`
}

// names are those of a list; an entry without one is an error.
func names(list []nameEntry) ([]string, error) {
	out := make([]string, len(list))
	for i, n := range list {
		if n.Name == nil {
			return nil, fmt.Errorf("an entry of the list has no name: it is no answer of RabbitMQ")
		}
		out[i] = *n.Name
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

type vhostProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p vhostProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	wanted, password, err := vhostOf(in.Text("wanted"))
	if password != "" {
		out.Secret(password)
	}
	if err != nil {
		return steps.Observation{}, err
	}
	c, err := connect(p.env, in.Text("url"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	whole, err := c.seesAll(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	list, err := readList[nameEntry](ctx, c, "/api/vhosts", url.Values{"columns": {"name"}})
	if err != nil {
		return steps.Observation{}, err
	}
	there, err := names(list)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s: %w", c.base, err)
	}
	obs := steps.Observation{Command: "curl -fsS -u " + steps.Quote(c.user) + " " + steps.Quote(c.base+"/api/vhosts?columns=name")}
	keep(&obs, out, "vhosts", there)
	f := steps.NewFacts(vhostFacts())
	f.Set("whole", steps.BoolOf(whole))
	unseen := fmt.Sprintf("the account %s sees only the virtual hosts that it may use; give it the tag monitoring", c.user)
	switch {
	case !whole:
		f.Unknown(unseen, "vhosts", "present")
		obs.Gaps = append(obs.Gaps, unseen)
	case len(there) > mostNames:
		f.Unknown(fmt.Sprintf("more than %d; the artifact has them all", mostNames), "vhosts")
	default:
		f.Set("vhosts", steps.StringsOf(there))
	}
	obs.Summary = fmt.Sprintf("The broker has %d virtual hosts.", len(there))
	if !whole {
		obs.Summary = fmt.Sprintf("The account %s sees %d virtual hosts of the broker.", c.user, len(there))
	}
	if in.Text("wanted") != "" {
		f.Set("wanted", steps.StringOf(wanted))
		has := slices.Contains(there, wanted)
		switch {
		case has:
			f.Set("present", steps.BoolOf(true))
			obs.Summary += fmt.Sprintf(" %q is one of them.", wanted)
			obs.Findings = append(obs.Findings, likeVhost(wanted, there)...)
		case whole:
			f.Set("present", steps.BoolOf(false))
			obs.Summary += fmt.Sprintf(" %q is not one of them.", wanted)
			obs.Findings = append(obs.Findings, lacks(wanted, there))
		default:
			obs.Summary += fmt.Sprintf(" Whether there is %q is not known.", wanted)
		}
	}
	obs.Facts = f.Rest("no virtual host was asked for")
	return obs, nil
}

// lacks says that a virtual host is not there, and which one could be meant.
func lacks(wanted string, there []string) steps.Finding {
	say := fmt.Sprintf("The broker has no virtual host %q. It refuses every client that asks for it, after it took the password: a new password does not help.", wanted)
	for _, name := range there {
		if plain(name) == plain(wanted) {
			say += fmt.Sprintf(" There is one called %q; the slash and the case are part of the name.", name)
		}
	}
	return steps.Finding{Level: steps.Critical, Say: say}
}

// keep stores a list as an artifact.
func keep(obs *steps.Observation, out steps.Sink, role string, list any) {
	gap := steps.Keep(out, role, steps.MediaJSON, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(list)
	})
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
}
