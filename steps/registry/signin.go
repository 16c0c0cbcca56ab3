package registry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// signIn does what the registry asks for: a password, or a token of its realm for reading this repository.
func (c *client) signIn(ctx context.Context, headers []string) error {
	list, err := parseChallenges(headers)
	if err != nil {
		return shut("", "", "%s: %w", c.base.Host, err)
	}
	if c.account.token != "" {
		c.bearer(c.account.token)
		c.sent = true
		return nil
	}
	for _, ch := range list {
		if ch.scheme == "bearer" && ch.params["realm"] != "" {
			return c.fetchToken(ctx, ch)
		}
	}
	for _, ch := range list {
		if ch.scheme != "basic" {
			continue
		}
		if c.account.empty() {
			return shut(denied, unauthenticated, "%w: %s wants a password (401): %s", steps.ErrDenied, c.base.Host, c.orWhyNone(""))
		}
		c.sign = func(req *http.Request) { req.SetBasicAuth(c.account.user, c.account.password) }
		c.tellBasic()
		c.sent = true
		return nil
	}
	return shut(denied, unauthenticated, "%w: %s answered 401 and asks for no sign-in that handrail has", steps.ErrDenied, c.base.Host)
}

// tellBasic names the password as it stands in a header.
func (c *client) tellBasic() {
	req := http.Request{Header: http.Header{}}
	req.SetBasicAuth(c.account.user, c.account.password)
	_, packed, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	c.secret(packed)
}

func (c *client) bearer(token string) {
	c.secret(token)
	c.sign = func(req *http.Request) { req.Header.Set("Authorization", "Bearer "+token) }
}

// fetchToken asks the realm for a token by GET (distribution, spec/auth/token.md). The realm is asked where it is on the
// registry itself, or is that of docker.io: a registry sends no password of its readers elsewhere.
func (c *client) fetchToken(ctx context.Context, ch challenge) error {
	realm, err := transport.AskAddress(ch.params["realm"])
	if err != nil {
		return shut("", "", "the realm of %s: %w", c.base.Host, err)
	}
	at := c
	if hub := c.domain == hubName && strings.EqualFold(realm.Host, hubAuth) && realm.Scheme == "https"; hub {
		other := *c
		at = &other
		at.base = &url.URL{Scheme: realm.Scheme, Host: realm.Host, Path: "/"}
		next, done := c.another(at.base)
		defer done()
		at.http = next
	} else if realm.Scheme != c.base.Scheme || !strings.EqualFold(realm.Host, c.base.Host) {
		return shut("", "", "%s gives its tokens out on another server (%s), to which nothing is sent", c.base.Host, steps.Clip(realm.Host, 100))
	}
	query := url.Values{"scope": {"repository:" + c.name + ":pull"}}
	if service := steps.Clip(ch.params["service"], 256); service != "" {
		query.Set("service", service)
	}
	realm.RawQuery = query.Encode()
	var sign func(*http.Request)
	if !c.account.empty() {
		sign = func(req *http.Request) { req.SetBasicAuth(c.account.user, c.account.password) }
		c.tellBasic()
		c.sent = true
	}
	got, err := at.ask(ctx, *realm, "application/json", mostToken, sign)
	if err != nil {
		return err
	}
	if got.status == http.StatusNotFound {
		return shut("", "", "%s has no realm at %s (404)", c.base.Host, realm.Path)
	}
	if err := c.refused(got, realm.Host+realm.Path); err != nil {
		return err
	}
	token, err := parseToken(got.raw)
	if err != nil {
		return shut("", "", "the realm of %s: %w", c.base.Host, err)
	}
	c.bearer(token)
	return nil
}

// parseToken reads the answer of a realm.
func parseToken(raw []byte) (string, error) {
	var in struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return "", errors.New("its answer is no JSON of a token")
	}
	token := in.Token
	if token == "" {
		token = in.AccessToken
	}
	if token == "" || strings.ContainsFunc(token, outsideHeader) {
		return "", errors.New("its answer has no token")
	}
	return token, nil
}
