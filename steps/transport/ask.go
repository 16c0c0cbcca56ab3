package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"handrail/steps"
)

const (
	mostShake     = 50 * time.Second // a probe has a minute
	mostHops      = 3
	mostOfHeaders = 64 << 10
)

// AskAddress reads an address that a person or a runbook names, and that may be asked: https, or http of this machine
// itself, without credentials in it, and none of the addresses at which machines get theirs.
func AskAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("the address cannot be read: write it as https://host/path")
	case u.User != nil:
		return nil, errors.New("the address has credentials in it: name a variable in headers")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Opaque != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q is not https://host/path", steps.Clip(text, 200))
	case u.Scheme == "http" && !ownMachine(u.Hostname()):
		return nil, fmt.Errorf("%s is asked over https alone: http is for this machine itself", u.Host)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, errors.New("the address has a blank or a control character in it")
	case u.Path != "" && path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") && u.Path != "/":
		return nil, fmt.Errorf("the path %q has an empty or a dot segment", u.Path)
	}
	if err := RefuseMetadata(u.Hostname()); err != nil {
		return nil, err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

func ownMachine(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && a.Unmap().IsLoopback()
}

// Ask sends a GET to an address of [AskAddress] and to no other server, over verified TLS; roots are those that servers
// are verified against, nil for those of the machine. It returns the body, of at most so many bytes, and the status.
func Ask(env steps.Env, req *http.Request, roots *x509.CertPool, most int64) ([]byte, int, error) {
	next := askRoute(env, req.URL.Scheme, roots)
	defer next.CloseIdleConnections()
	client := http.Client{
		Transport: Fetch(next, req.URL.Scheme+"://"+req.URL.Host),
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostHops {
				return fmt.Errorf("it was redirected more than %d times", mostHops)
			}
			_, err := AskAddress(r.URL.String())
			return err
		},
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, withoutAddress(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, 0, err
	case int64(len(raw)) > most:
		return nil, 0, fmt.Errorf("the answer has more than the %d MiB that are read", most>>20)
	}
	return raw, resp.StatusCode, nil
}

// Asking is how [AskText] asks.
type Asking struct {
	Accept string         // the media type that is wanted, "" for any
	Within time.Duration  // how long the whole answer may take
	Most   int64          // bytes of it
	Roots  *x509.CertPool // that servers are verified against, nil for those of the machine
}

// AskText returns what an address that a person named answers to one GET without credentials, and the host that did.
func AskText(ctx context.Context, env steps.Env, address string, a Asking) (raw []byte, host string, err error) {
	u, err := AskAddress(address)
	if err != nil {
		return nil, "", err
	}
	ctx, stop := context.WithTimeout(ctx, a.Within)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", err
	}
	if a.Accept != "" {
		req.Header.Set("Accept", a.Accept)
	}
	raw, status, err := Ask(env, req, a.Roots, a.Most)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("asking %s: %w", u.Host, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, "", fmt.Errorf("%w: %s answered %d, and handrail signs in nowhere here: read it yourself, and say what it is", steps.ErrDenied, u.Host, status)
	case status != http.StatusOK:
		return nil, "", fmt.Errorf("%s answered %d: %s", u.Host, status, steps.OneLine(strings.ToValidUTF8(string(raw), "?"), 200))
	}
	return raw, u.Host, nil
}

// askRoute is the way to a server that was named: verified TLS, or this machine itself.
func askRoute(env steps.Env, scheme string, roots *x509.CertPool) *http.Transport {
	route, dial := OffMetadataRoute(ProxyOf(env))
	if scheme == "http" {
		route, dial = nil, dialOwnMachine
	}
	return &http.Transport{
		Proxy: route, DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: mostShake, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: mostOfHeaders, DisableKeepAlives: true,
	}
}

// withoutAddress is what went wrong without the address, which may hold what it should not.
func withoutAddress(err error) error {
	if of := (*url.Error)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// dialOwnMachine reaches this machine alone, whatever a name leads to.
func dialOwnMachine(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var last error
	for _, at := range []string{host, "127.0.0.1", "::1"} {
		if a, err := netip.ParseAddr(at); err != nil || !a.Unmap().IsLoopback() {
			continue
		}
		conn, err := (&net.Dialer{Timeout: mostShake}).DialContext(ctx, network, net.JoinHostPort(at, port))
		if err == nil {
			return conn, nil
		}
		if last = err; at == host {
			break
		}
	}
	if last == nil {
		last = fmt.Errorf("%s is not this machine", host)
	}
	return nil, last
}
