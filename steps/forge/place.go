package forge

import (
	"fmt"
	"net/url"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// vendor is a kind of forge.
type vendor string

const (
	gitea  vendor = "gitea"
	github vendor = "github"
	gitlab vendor = "gitlab"
)

// chooser is the variable that chooses among forges of which the environment has a token.
const chooser = "HANDRAIL_FORGE"

// place is where a forge is, and as whom it is asked.
type place struct {
	vendor vendor
	base   *url.URL // of its API
	token  string
	by     string // the variable that holds the token
}

// ways are the variables of each forge, the first that is set counting.
var ways = []struct {
	vendor    vendor
	tokens    []string
	addresses []string
	usual     string
}{
	{gitea, []string{"GITEA_TOKEN"}, []string{"GITEA_SERVER_URL"}, ""},
	{github, []string{"GH_TOKEN", "GITHUB_TOKEN"}, []string{"GITHUB_API_URL", "GITHUB_SERVER_URL"}, "https://github.com"},
	{gitlab, []string{"GITLAB_TOKEN"}, []string{"GITLAB_URL", "CI_SERVER_URL"}, "https://gitlab.com"},
}

const nextMove = "set GITEA_TOKEN and GITEA_SERVER_URL, GITHUB_TOKEN, or GITLAB_TOKEN, then read again"

// placeOf reads the environment of the operator.
func placeOf(env steps.Env) (place, error) {
	wanted := vendor(env.Getenv(chooser))
	var found []place
	for _, w := range ways {
		by, token := firstSet(env, w.tokens)
		if token == "" || wanted != "" && wanted != w.vendor {
			continue
		}
		named, address := firstSet(env, w.addresses)
		if address == "" {
			named, address = w.addresses[len(w.addresses)-1], w.usual
		}
		if address == "" {
			return place{}, fmt.Errorf("%s is set and %s is not: set it to the address of the forge, then read again", by, named)
		}
		base, err := apiOf(w.vendor, named, address)
		if err != nil {
			return place{}, fmt.Errorf("%s: %w", named, err)
		}
		if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return place{}, fmt.Errorf("%s has a blank, a line break or a character in it that no token has: set it again", by)
		}
		found = append(found, place{w.vendor, base, token, by})
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var names []string
		for _, p := range found {
			names = append(names, p.by)
		}
		return place{}, fmt.Errorf("%s are set, so it is open which forge is meant: set %s to %s, %s or %s", strings.Join(names, " and "), chooser, gitea, github, gitlab)
	case wanted == "":
		return place{}, fmt.Errorf("no forge is named: %s", nextMove)
	case wanted != gitea && wanted != github && wanted != gitlab:
		return place{}, fmt.Errorf("%s is %q: set it to %s, %s or %s", chooser, steps.Clip(string(wanted), 40), gitea, github, gitlab)
	}
	return place{}, fmt.Errorf("%s is %s, and no token of it is set: %s", chooser, wanted, nextMove)
}

func firstSet(env steps.Env, names []string) (name, value string) {
	for _, n := range names {
		if v := env.Getenv(n); v != "" {
			return n, v
		}
	}
	return "", ""
}

// apiOf is the address of the API of the forge at an address.
func apiOf(v vendor, variable, address string) (*url.URL, error) {
	u, err := transport.AskAddress(strings.TrimSuffix(address, "/"))
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" {
		return nil, fmt.Errorf("%q has a query, which no address of a forge has", steps.Clip(address, 200))
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	switch {
	case v == gitea:
		u.Path += "/api/v1"
	case v == gitlab:
		u.Path += "/api/v4"
	case variable == "GITHUB_API_URL":
	case strings.EqualFold(u.Host, "github.com"):
		u.Host = "api.github.com"
	default:
		u.Path += "/api/v3"
	}
	return u, nil
}
