package rabbitmq

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	// askWithin bounds the wait for the head of one answer, readWithin a whole
	// probe: a list of many thousand bindings takes a broker seconds.
	askWithin  = 10 * time.Second
	readWithin = 45 * time.Second
	// largestReason is how much of an error is read.
	largestReason = 16 << 10
)

// client reads from one broker and can do nothing else.
type client struct {
	broker
	http *http.Client
}

// connect finds the broker among those that the operator named. The password is
// told to out before the first request.
func connect(env steps.Env, address string, out steps.Sink) (*client, error) {
	b, err := brokerAt(env, address)
	if err != nil {
		return nil, err
	}
	password, err := b.password()
	if err != nil {
		return nil, err
	}
	out.Secret(password)
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(b.ca) > 0 {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(b.ca) {
			return nil, fmt.Errorf("ca_file of %s holds no PEM certificate", b.base)
		}
	}
	next := &http.Transport{
		DialContext: (&net.Dialer{Timeout: askWithin}).DialContext, TLSClientConfig: trust, TLSHandshakeTimeout: askWithin,
		ResponseHeaderTimeout: askWithin, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true, IdleConnTimeout: time.Second,
	}
	// Over http a proxy would read the password.
	if strings.HasPrefix(b.base, "https:") {
		proxies := httpproxy.Config{HTTPSProxy: cmp.Or(env.Getenv("HTTPS_PROXY"), env.Getenv("https_proxy")), NoProxy: cmp.Or(env.Getenv("NO_PROXY"), env.Getenv("no_proxy"))}
		proxy := proxies.ProxyFunc()
		next.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	}
	agent := "handrail"
	if env.Version != "" {
		agent += "/" + env.Version
	}
	told := transport.Tell(next, func(_ context.Context, v string) { out.Secret(v) })
	signed := signIn{transport.Broker(told, b.base, transport.Agent(agent)), b.user, password}
	return &client{b, &http.Client{Transport: signed, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// signIn says who asks.
type signIn struct {
	next           http.RoundTripper
	user, password string
}

// RoundTrip implements http.RoundTripper.
func (s signIn) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.SetBasicAuth(s.user, s.password)
	return s.next.RoundTrip(req)
}

// errAbsent says that the broker has no such thing.
var errAbsent = errors.New("the broker has no such thing")

// deniedError is a read that the broker refused.
type deniedError struct{ say string }

func (e *deniedError) Error() string { return e.say }

// Unwrap lets the session tell a refused read from a failed one.
func (e *deniedError) Unwrap() error { return steps.ErrDenied }

// get asks for one path below the base. The caller closes the body.
func (c *client) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	reason := reasonOf(resp.Body)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized && reason == "User not authorised to access virtual host":
		return nil, &deniedError{fmt.Sprintf("%s: the account %s may not look into this virtual host; give it an empty permission there (set_permissions -p VHOST %s '^$' '^$' '^$')", c.base, c.user, c.user)}
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, &deniedError{fmt.Sprintf("%s refuses the account %s (%d%s): its password is another one, or it lacks the tag monitoring", c.base, c.user, code, reason.after())}
	case code == http.StatusNotFound && reason == "Not Found":
		return nil, errAbsent
	case code == http.StatusNotFound:
		return nil, fmt.Errorf("%s has no %s: it is no management API of RabbitMQ, or one behind another path", c.base, path)
	case code >= 300 && code < 400:
		return nil, fmt.Errorf("%s answered %d and names another address, to which handrail does not go: %q", c.base, code, steps.Clip(resp.Header.Get("Location"), 200))
	default:
		return nil, fmt.Errorf("%s answered %d%s", c.base, code, reason.after())
	}
}

// reason is what a broker says of a refusal.
type reason string

func (r reason) after() string {
	if r == "" {
		return ""
	}
	return fmt.Sprintf(": %q", steps.Clip(string(r), 200))
}

func reasonOf(body io.Reader) reason {
	var said struct{ Reason string }
	raw, _ := io.ReadAll(io.LimitReader(body, largestReason))
	if json.Unmarshal(raw, &said) != nil {
		return ""
	}
	return reason(said.Reason)
}

func (c *client) unreachable(ctx context.Context, err error) error {
	var refused *transport.RefusedError
	var u *url.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &u) && u.Timeout():
		return fmt.Errorf("%s gave no answer within %s; where it cannot be reached from here, ask someone with access to the broker (rabbitmqctl list_vhosts)", c.base, askWithin)
	case errors.As(err, &u):
		err = u.Err
	}
	return fmt.Errorf("%s cannot be reached: %w; ask someone with access to the broker (rabbitmqctl list_vhosts)", c.base, err)
}

// seesAll reports whether the account sees every virtual host, by its tags: one
// with management alone sees those that it may use, and nothing says so.
func (c *client) seesAll(ctx context.Context) (bool, error) {
	resp, err := c.get(ctx, "/api/whoami", nil)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	var who struct {
		Name string
		Tags json.RawMessage
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, largestReason))
	if err != nil {
		return false, fmt.Errorf("%s: /api/whoami was cut off: %w", c.base, err)
	}
	if json.Unmarshal(raw, &who) != nil || who.Name == "" {
		return false, fmt.Errorf("%s answers /api/whoami with something else than who asks: it is no management API of RabbitMQ", c.base)
	}
	var tags []string
	var text string // of old brokers
	if json.Unmarshal(who.Tags, &tags) != nil && json.Unmarshal(who.Tags, &text) == nil {
		tags = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return slices.Contains(tags, "monitoring") || slices.Contains(tags, "administrator"), nil
}

func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, readWithin, fmt.Errorf("the broker was not read to the end within %s", readWithin))
}
