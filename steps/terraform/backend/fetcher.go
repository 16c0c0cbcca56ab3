package backend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/transport"
)

// askWithin bounds the wait for the head of an answer; a large state may take
// longer to come.
const askWithin = 10 * time.Second

// trust is how a server of a backend is spoken to over TLS.
type trust struct {
	ca       []byte // PEM, nil for the roots of the system
	cert     []byte // PEM of ours, with key
	key      []byte
	insecure bool
	named    bool // the directory names the server
}

// plainTransport returns a transport of Go's, without any guard. Proxies and
// roots are those of env, which a child would get too.
func (t trust) plainTransport(env steps.Env) (*http.Transport, error) {
	if name := env.Getenv("SSL_CERT_FILE"); name != "" && len(t.ca) == 0 {
		var err error
		if t.ca, err = readFile(name); err != nil {
			return nil, fmt.Errorf("reading SSL_CERT_FILE: %w", err)
		}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.insecure} // as the backend is told
	if len(t.ca) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.ca) {
			return nil, errors.New("the certificate authority of the backend is not a PEM certificate")
		}
	}
	if len(t.cert) > 0 || len(t.key) > 0 {
		pair, err := tls.X509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, fmt.Errorf("client certificate of the backend: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	route := transport.ProxyOf(env)
	dial := (&net.Dialer{Timeout: askWithin}).DialContext
	if t.named {
		route, dial = transport.OffMetadataRoute(route)
	}
	return &http.Transport{
		Proxy:                 route,
		DialContext:           dial,
		TLSClientConfig:       c,
		TLSHandshakeTimeout:   askWithin,
		ResponseHeaderTimeout: askWithin,
		ForceAttemptHTTP2:     true,
		IdleConnTimeout:       time.Second, // a reading is over soon, and its end is not announced
	}, nil
}

// readFile returns the contents of a file that a setting names, nil for "".
func readFile(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	return module.ReadSmall(name)
}

// guardOf makes one of the transports that cannot write.
type guardOf func(next http.RoundTripper, server string, opts ...transport.Option) http.RoundTripper

// fetcher is a client of one server of a backend. It can read and nothing else,
// tells the sink what it signs in with, and remembers the server's clock.
type fetcher struct {
	client *http.Client
	name   string // of the server, for people; "" until the first answer where it is not known

	mu   sync.Mutex
	date time.Time
}

func newFetcher(env steps.Env, t trust, guard guardOf, server string, out steps.Sink) (*fetcher, error) {
	next, err := t.plainTransport(env)
	if err != nil {
		return nil, err
	}
	return newFetcherOver(env, next, guard, server, out), nil
}

func newFetcherOver(env steps.Env, next http.RoundTripper, guard guardOf, server string, out steps.Sink) *fetcher {
	agent := "handrail"
	if env.Version != "" {
		agent += "/" + env.Version
	}
	f := &fetcher{name: server}
	rt := transport.Tell(next, func(_ context.Context, v string) { out.Secret(v) })
	f.client = &http.Client{
		Transport: watchClock{guard(rt, server, transport.Agent(agent)), f},
		// The next hop would be another request than the one that was meant.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return f
}

// watchClock keeps what time the server says it is.
type watchClock struct {
	next http.RoundTripper
	f    *fetcher
}

func (c watchClock) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		c.f.date = at
	}
	if c.f.name == "" {
		c.f.name = req.URL.Scheme + "://" + req.URL.Host
	}
	return resp, nil
}

func (f *fetcher) server() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name
}

// clock returns the time by the last answer, or why it cannot be gone by.
func (f *fetcher) clock(env steps.Env) (time.Time, string) {
	f.mu.Lock()
	date := f.date
	f.mu.Unlock()
	return agreedClock(env, date, f.server())
}

// get asks for one address. The caller closes the body.
func (f *fetcher) get(ctx context.Context, method, address string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, unreachable(ctx, f.server(), err)
	}
	return resp, nil
}

// small reads an answer that is small by nature, and closes it.
func small(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, module.MaxSmall+1))
	if err == nil && len(b) > module.MaxSmall {
		err = fmt.Errorf("the answer is over %d bytes", module.MaxSmall)
	}
	return b, err
}

// unreachable says why a server gave no answer, and what to do next.
func unreachable(ctx context.Context, server string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var refused *transport.RefusedError
	if errors.As(err, &refused) {
		return refused
	}
	var never *transport.MetadataError
	if errors.As(err, &never) {
		return never
	}
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return fmt.Errorf("%s gave no answer within %s; check the network and that this is the right server", server, askWithin)
		}
		err = u.Err
	}
	return fmt.Errorf("%s cannot be reached: %w; check the network and that this is the right server", server, err)
}

// deniedError says which read was refused for want of permission.
type deniedError struct{ say string }

func (e *deniedError) Error() string { return e.say }

// Unwrap lets the session tell a refused read from a failed one.
func (e *deniedError) Unwrap() error { return steps.ErrDenied }

func denied(format string, args ...any) error { return &deniedError{fmt.Sprintf(format, args...)} }
