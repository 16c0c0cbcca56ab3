package keycloak

import (
	"context"
	"slices"
	"strings"

	"handrail/steps"
)

func claimsParams() []steps.Field {
	return []steps.Field{
		{Name: "file", Type: steps.Path, Required: true, Doc: "file that holds one access token; its payload alone is decoded, and of that the names of the claims are kept"},
		{Name: "client", Type: steps.String, Pattern: clientName, Doc: "client that it must have been issued to"},
		{Name: "required", Type: steps.Strings, Doc: "claims that it must have; an empty one is none"},
		{Name: "one_of", Type: steps.Strings, Doc: "claims of which it must have one, as those of a client scope: an account has seldom all of them"},
		{Name: "role", Type: steps.String, Doc: "role that it must have; an empty one is none"},
		{Name: "role_of", Type: steps.String, Pattern: clientName, Doc: "client whose role that is; without one it is a role of the realm"},
		{Name: "audience", Type: steps.String, Doc: "audience that it must be for"},
	}
}

func claimsFacts() []steps.Field {
	return []steps.Field{
		{Name: "claims", Type: steps.Strings, Doc: "names of its claims"},
		{Name: "missing", Type: steps.Strings, Doc: "claims, the role and the audience that it must have and has not"},
		{Name: "complete", Type: steps.Bool, Doc: "whether it has all that it must have, and was issued to the client"},
		{Name: "issued_to", Type: steps.String, Doc: "client that it was issued to"},
		{Name: "issued", Type: steps.Time, Doc: "when it was issued, by the clock of Keycloak"},
		{Name: "expires", Type: steps.Time, Doc: "when it ends"},
		{Name: "audiences", Type: steps.Strings, Doc: "whom it is for"},
	}
}

type claimsProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p claimsProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	raw, err := steps.ReadFile(steps.Below(p.env.Dir, name), mostAnswer)
	if err != nil {
		return steps.Observation{}, err
	}
	c, err := steps.ParseTokenClaims(string(raw), out.Secret)
	if err != nil {
		return steps.Observation{}, err
	}
	f := steps.NewFacts(claimsFacts())
	missing := []string{}
	for _, want := range in["required"].Strings() {
		if want != "" && !slices.Contains(c.Names, want) {
			missing = append(missing, want)
		}
	}
	if of := in["one_of"].Strings(); len(of) > 0 && !slices.ContainsFunc(of, func(want string) bool { return slices.Contains(c.Names, want) }) {
		missing = append(missing, oneOf(of))
	}
	if want := (entry{kind: ofRole, name: in.Text("role"), owner: in.Text("role_of")}); want.name != "" && !c.HasRole(want.owner, want.name) {
		missing = append(missing, "the role "+want.title())
	}
	if want := in.Text("audience"); want != "" && !slices.Contains(c.Aud, want) {
		missing = append(missing, "aud "+want)
	}
	f.Set("claims", steps.StringsOf(c.Names))
	f.Set("missing", steps.StringsOf(missing))
	f.Set("issued_to", steps.StringOf(c.Client))
	f.Set("audiences", steps.StringsOf(append([]string{}, c.Aud...)))
	if !c.Issued.IsZero() {
		f.Set("issued", steps.TimeOf(c.Issued))
	}
	if !c.Expires.IsZero() {
		f.Set("expires", steps.TimeOf(c.Expires))
	}
	obs := steps.Observation{Command: "cut -d. -f2 " + steps.Quote(name) + " | base64 -d | jq keys"}
	other := in.Text("client") != "" && c.Client != in.Text("client")
	if other {
		obs.Say(steps.Warning, "It was issued to %q, not to %q.", steps.Clip(c.Client, 100), in.Text("client"))
	}
	f.Set("complete", steps.BoolOf(len(missing) == 0 && !other))
	obs.Summary = "It has the claims " + steps.Clip(strings.Join(c.Names, ", "), 300) + "."
	if len(missing) > 0 {
		obs.Summary = "It lacks " + strings.Join(missing, ", ") + ". " + obs.Summary
	}
	obs.Facts = f.Rest("the token does not say")
	return obs, nil
}
