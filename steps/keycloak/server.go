package keycloak

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

// The variables by which the operator names the server, and who asks it. Those of the Terraform
// provider of Keycloak have the same names.
const (
	addressVariable  = "KEYCLOAK_URL"
	userVariable     = "KEYCLOAK_USER"
	passwordVariable = "KEYCLOAK_PASSWORD"
	clientVariable   = "KEYCLOAK_CLIENT_ID"
	secretVariable   = "KEYCLOAK_CLIENT_SECRET"
)

const (
	askWithin   = 10 * time.Second
	mostAnswer  = 16 << 20
	pageOf      = 100 // clients of one answer
	mostClients = 2000
)

// server is the Keycloak that the operator named, signed in to. Its token lives in memory alone.
type server struct {
	base  *url.URL
	user  string // as whom, for a person
	token string
	at    time.Time // by its clock, when it signed us in
	env   steps.Env
	roots *x509.CertPool
	http  *http.Client
	done  func()
}

// signIn asks for a token of the master realm. Where the server is and who asks it stands in the
// environment of the operator: no runbook leads a password to another address.
func signIn(ctx context.Context, env steps.Env, roots *x509.CertPool, out steps.Sink) (*server, error) {
	address := strings.TrimSuffix(env.Getenv(addressVariable), "/")
	if address == "" {
		return nil, fmt.Errorf("%s is not set: set it to the address of Keycloak, with %s and %s of an account of the master realm, then read again", addressVariable, userVariable, passwordVariable)
	}
	base, err := transport.AskAddress(address)
	if err == nil && base.RawQuery != "" {
		err = errors.New("an address has no query")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addressVariable, err)
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	s := &server{base: base, env: env, roots: roots}
	s.http, s.done = transport.RealmClient(env, base, roots, func(next http.RoundTripper, server string) http.RoundTripper {
		return transport.Realm(next, server, agent(env))
	})
	id, user, password, secret := cmp.Or(env.Getenv(clientVariable), "admin-cli"), env.Getenv(userVariable), env.Getenv(passwordVariable), env.Getenv(secretVariable)
	form := url.Values{"grant_type": {"password"}, "client_id": {id}, "username": {user}, "password": {password}}
	s.user = user
	switch {
	case user != "" && password != "":
		out.Secret(password)
	case secret != "":
		form, s.user = url.Values{"grant_type": {"client_credentials"}, "client_id": {id}}, "client "+id
	default:
		return nil, fmt.Errorf("%s and %s are not set, nor %s: name an account of the master realm that may read the realm", userVariable, passwordVariable, secretVariable)
	}
	if secret != "" {
		out.Secret(secret)
		form.Set("client_secret", secret)
	}
	if err := s.ask(ctx, form, out); err != nil {
		s.done()
		return nil, err
	}
	return s, nil
}

func agent(env steps.Env) transport.Option {
	if env.Version == "" {
		return transport.Agent("handrail")
	}
	return transport.Agent("handrail/" + env.Version)
}

// ask exchanges the credentials for a token.
func (s *server) ask(ctx context.Context, form url.Values, out steps.Sink) error {
	const path = "/realms/master/protocol/openid-connect/token"
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base.String()+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := do(s.http, req)
	if err != nil {
		return fmt.Errorf("signing in to %s: %w", s.base.Host, err)
	}
	var in struct {
		Token   string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		ID      string `json:"id_token"`
		Error   string `json:"error"`
		Says    string `json:"error_description"`
	}
	parsed := json.Unmarshal(got.body, &in)
	for _, t := range []string{in.Token, in.Refresh, in.ID} {
		steps.TellToken(t, out.Secret)
	}
	switch {
	case got.status == http.StatusUnauthorized || got.status == http.StatusBadRequest || got.status == http.StatusForbidden:
		return fmt.Errorf("%w: %s does not sign %q in to the master realm (%d: %s)", steps.ErrDenied, s.base.Host, s.user, got.status, steps.OneLine(cmp.Or(in.Says, in.Error), 200))
	case got.status != http.StatusOK || parsed != nil || in.Token == "":
		return fmt.Errorf("%s answers %s with %d and no token: is it a Keycloak, and does its address need a prefix such as /auth?", s.base.Host, path, got.status)
	}
	s.token = in.Token
	if at, err := http.ParseTime(got.header.Get("Date")); err == nil {
		s.at = at
	}
	return nil
}

// answer is what a server answered, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request and reads the answer to its end.
func do(client *http.Client, req *http.Request) (answer, error) {
	resp, err := client.Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err
		}
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	if err == nil && len(raw) > mostAnswer {
		err = fmt.Errorf("the answer has more than the %d MiB that are read", mostAnswer>>20)
	}
	return answer{resp.StatusCode, resp.Header, raw}, err
}

// errAbsent says that the server has no such thing.
var errAbsent = errors.New("it is not there")

// get reads one document below the realm's own path.
func (s *server) get(ctx context.Context, into any, query string, path ...string) error {
	address := s.base.JoinPath(path...)
	address.RawQuery = query
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	got, err := do(s.http, req)
	where := s.base.Host + address.Path
	switch {
	case err != nil:
		return fmt.Errorf("asking %s: %w", where, err)
	case got.status == http.StatusUnauthorized || got.status == http.StatusForbidden:
		return fmt.Errorf("%w: %s answered %d to %q: it needs view-clients and view-realm of the realm", steps.ErrDenied, where, got.status, s.user)
	case got.status == http.StatusNotFound:
		return fmt.Errorf("%s: %w", where, errAbsent)
	case got.status != http.StatusOK:
		return fmt.Errorf("%s answered %d: %s", where, got.status, steps.OneLine(strings.ToValidUTF8(string(got.body), "?"), 200))
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		return fmt.Errorf("%s answered with something else than was asked for: %w", where, errForm(err))
	}
	return nil
}

// errForm is what is wrong with JSON, without what stood in it.
func errForm(err error) error {
	if of := (*json.UnmarshalTypeError)(nil); errors.As(err, &of) {
		return fmt.Errorf("%q is of another type", of.Field)
	}
	return errors.New("it is no JSON of that form")
}

// send sends the one request that was shown, once.
func (s *server) send(ctx context.Context, o order) (said string, err error) {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	u := s.base.JoinPath(o.path)
	client, done := transport.RealmClient(s.env, s.base, s.roots, func(next http.RoundTripper, server string) http.RoundTripper {
		below := "/" + strings.TrimPrefix(o.path, "/")
		return transport.RealmGift(next, server, transport.Request{Method: o.method, Path: below, SHA256: transport.Sum(o.body)}, agent(s.env))
	})
	defer done()
	var sends io.Reader
	if o.body != nil {
		sends = bytes.NewReader(o.body)
	}
	req, err := http.NewRequestWithContext(ctx, o.method, u.String(), sends)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if o.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	got, err := transport.Send(client, req, words)
	if err != nil {
		return "", err
	}
	said = words(got.Body)
	if at := got.Header.Get("Location"); at != "" {
		said = "Location: " + steps.OneLine(at, 300) + " " + said
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", got.Status, said)), nil
}

func words(body []byte) string { return steps.OneLine(strings.ToValidUTF8(string(body), "?"), 300) }
