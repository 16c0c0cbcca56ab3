package own

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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	mostAsked    = 50 * time.Second // a probe has a minute
	mostHops     = 3
	mostHeaders  = 64 << 10
	headerForm   = `[A-Za-z][A-Za-z0-9-]*: ([A-Za-z]+ )?\$[A-Za-z_][A-Za-z0-9_]*`
	notOurHeader = "host connection content-length transfer-encoding te trailer upgrade expect proxy-authorization x-http-method x-http-method-override x-method-override user-agent accept-encoding"
)

// httpProbe is own/http.
type httpProbe struct {
	env   steps.Env
	outs  []steps.Output
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p httpProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := trusted(p.env); err != nil {
		return steps.Observation{}, err
	}
	u, err := addressOf(in.Text("url"))
	if err != nil {
		return steps.Observation{}, err
	}
	span := in.Duration("timeout")
	if span <= 0 || span > mostAsked {
		span = 10 * time.Second
	}
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return steps.Observation{}, err
	}
	req.Header.Set("Accept", "application/json, */*;q=0.8")
	typed, err := p.headers(in, req.Header, out)
	if err != nil {
		return steps.Observation{}, err
	}
	raw, status, err := p.get(req, u)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("asking %s: %w", u.Host, withoutAddress(err))
	}
	kept, gaps := keep(out, "body", raw)
	if !slices.Contains(statusesOf(in), status) {
		failed := fmt.Errorf("%s answered %d, and the runbook takes %s as an answer: %s", u.Host, status, counts(statusesOf(in)), steps.OneLine(strings.ToValidUTF8(string(kept), "?"), 200))
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			failed = fmt.Errorf("%w: %w", steps.ErrDenied, failed)
		}
		return steps.Observation{}, failed
	}
	f := steps.NewFacts(fieldsOf("own/http", p.outs))
	f.Set("status", steps.IntOf(int64(status)))
	obs := steps.Observation{Command: "curl -sS" + typed + " " + steps.Quote(u.String())}
	obs.Gaps = append(gaps, readOutputs(ctx, p.outs, in.Text("as"), kept, f)...)
	obs.Facts = f.Rest("it was not declared")
	obs.Summary = fmt.Sprintf("%s answered %d%s", u.Host, status, told(p.outs, obs.Facts))
	return obs, nil
}

// withoutAddress is what went wrong without the address, which may hold what it should not.
func withoutAddress(err error) error {
	if of := (*url.Error)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// addressOf reads an address that may be asked.
func addressOf(text string) (*url.URL, error) {
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
	if err := transport.RefuseMetadata(u.Hostname()); err != nil {
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

// headers sets the headers that the step names, and returns them as a person types them.
func (p httpProbe) headers(in steps.Params, h http.Header, out steps.Sink) (typed string, err error) {
	for _, one := range in["headers"].Strings() {
		name, value, _ := strings.Cut(one, ": ")
		word, variable, _ := strings.Cut(value, "$")
		if slices.Contains(strings.Fields(notOurHeader), strings.ToLower(name)) {
			return "", fmt.Errorf("the header %s is not one that a runbook may set", name)
		}
		secret := p.env.Getenv(variable)
		if secret == "" {
			return "", fmt.Errorf("the variable %s, whose value the header %s takes, is not set: set it, then read again", variable, name)
		}
		out.Secret(secret)
		if strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", fmt.Errorf("the variable %s has a line break or a control character in it, which no header takes", variable)
		}
		h.Add(name, word+secret)
		typed += ` -H "` + one + `"`
	}
	return typed, nil
}

func statusesOf(in steps.Params) []int {
	var out []int
	for _, text := range in["statuses"].Strings() {
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return []int{http.StatusOK}
	}
	return out
}

// get sends the request through the transport of reads, which lets it go to one server.
func (p httpProbe) get(req *http.Request, u *url.URL) ([]byte, int, error) {
	route, dial := transport.OffMetadataRoute(transport.ProxyOf(p.env))
	if u.Scheme == "http" {
		route, dial = nil, dialOwnMachine
	}
	next := &http.Transport{
		Proxy: route, DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: p.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: mostAsked, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: mostHeaders, DisableKeepAlives: true,
	}
	defer next.CloseIdleConnections()
	client := http.Client{
		Transport: transport.Fetch(next, u.Scheme+"://"+u.Host),
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostHops {
				return fmt.Errorf("it was redirected more than %d times", mostHops)
			}
			_, err := addressOf(r.URL.String())
			return err
		},
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostRead+1))
	switch {
	case err != nil:
		return nil, 0, err
	case len(raw) > mostRead:
		return nil, 0, fmt.Errorf("the answer has more than the %d MiB that are read", mostRead>>20)
	}
	return raw, resp.StatusCode, nil
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
		conn, err := (&net.Dialer{Timeout: mostAsked}).DialContext(ctx, network, net.JoinHostPort(at, port))
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

// fixedServer is what of an address the runbook itself must write.
var fixedServer = regexp.MustCompile(`^https?://[^/?#@\s]+(?:/|$)`)

// vetURL says why an address cannot stand as written.
func vetURL(w []steps.Written) error {
	if len(w) != 1 {
		return nil
	}
	if !w[0].Fixed {
		if head := w[0].Head; !fixedServer.MatchString(head) || !strings.Contains(strings.TrimPrefix(strings.TrimPrefix(head, "https://"), "http://"), "/") {
			return errors.New("which server is asked is the runbook's to say: write the address up to the first slash of its path as it is, as in https://status.example.com/v1/${params.service}")
		}
		head, _, _ := strings.Cut(w[0].Head, "?")
		_, err := addressOf(strings.TrimSuffix(head, "/"))
		return err
	}
	_, err := addressOf(w[0].Text)
	return err
}

// tellHTTP is a step of own/http in words.
func tellHTTP(w steps.With) string {
	out := "asks GET " + w.Text("url")
	if list := w.Texts("headers"); len(list) > 0 {
		return out + ", with the headers " + strings.Join(list, ", ") + " of your environment"
	}
	return out + ", with no variable of your environment"
}
