package registry

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	askWithin = 15 * time.Second
	mostToken = 64 << 10
	mostError = 16 << 10
	mostHops  = 3
)

// What a registry is to its reader.
const (
	up     = "up"
	down   = "down"
	denied = "denied"
)

// Why it is not up.
const (
	answers         = "none"
	unreachable     = "unreachable"
	timedOut        = "timeout"
	serverError     = "server-error"
	tooMany         = "too-many-requests"
	unauthenticated = "unauthenticated"
	forbidden       = "forbidden"
)

// shutError says that a registry does not let its reader read: it is down, it denies, or which of them it is is not known,
// with state "" and reason "".
type shutError struct {
	state, reason string
	err           error
}

func (e *shutError) Error() string { return e.err.Error() }
func (e *shutError) Unwrap() error { return e.err }

func shut(state, reason, format string, args ...any) error {
	return &shutError{state, reason, fmt.Errorf(format, args...)}
}

// missingError says that a registry answered 404 in the words of a registry.
type missingError struct {
	code, where string
}

func (e *missingError) Error() string { return fmt.Sprintf("%s answered 404 %s", e.where, e.code) }

// client asks one repository of one registry.
type client struct {
	reference
	base    *url.URL
	account account
	http    *http.Client
	done    func()
	another func(*url.URL) (*http.Client, func()) // a client of another server
	secret  func(string)
	sign    func(*http.Request) // nil until the registry asked for a sign-in
	sent    bool                // an account was sent, and not only a token that each reader gets
}

// newClient is a client of the registry of a reference. What it signs in with is told to out first.
func newClient(env steps.Env, ref reference, roots *x509.CertPool, out steps.Sink) (*client, error) {
	base, err := ref.base()
	if err != nil {
		return nil, err
	}
	who, err := accountFor(env, ref.domain)
	if err != nil {
		return nil, err
	}
	c := &client{reference: ref, base: base, account: who, secret: func(v string) {
		if v != "" {
			out.Secret(v)
		}
	}}
	c.secret(who.password)
	c.secret(who.token)
	agent := transport.Agent("handrail")
	if env.Version != "" {
		agent = transport.Agent("handrail/" + env.Version)
	}
	c.another = func(at *url.URL) (*http.Client, func()) { return transport.FetchClient(env, at, roots, agent) }
	c.http, c.done = c.another(base)
	return c, nil
}

// answer is one answer, read to its end.
type answer struct {
	status int
	raw    []byte
	header http.Header
}

// path is a path of the distribution API below /v2/NAME.
func (c *client) path(parts ...string) string {
	return "/v2/" + c.name + "/" + strings.Join(parts, "/")
}

// get reads one path, and signs in where the registry asks for it.
func (c *client) get(ctx context.Context, path, accept string, most int64) (answer, error) {
	u := *c.base
	u.Path, u.RawQuery, _ = strings.Cut(path, "?")
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	for signedIn := c.sign != nil; ; signedIn = true {
		got, err := c.ask(ctx, u, accept, most, c.sign)
		if err != nil {
			return answer{}, err
		}
		if got.status == http.StatusUnauthorized && !signedIn {
			if err := c.signIn(ctx, got.header.Values("WWW-Authenticate")); err != nil {
				return answer{}, err
			}
			continue
		}
		return got, c.refused(got, u.Host+u.Path)
	}
}

// ask sends one GET and follows the redirects that stay on the same server.
func (c *client) ask(ctx context.Context, u url.URL, accept string, most int64, sign func(*http.Request)) (answer, error) {
	for hop := 0; ; hop++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return answer{}, err
		}
		if accept != "" {
			req.Header.Set("Accept", accept)
		}
		// The digest is that of the bytes as they are, not of what a server packs them into.
		req.Header.Set("Accept-Encoding", "identity")
		if sign != nil {
			sign(req)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			return answer{}, unanswered(err, u.Host)
		}
		if resp.StatusCode/100 == 3 {
			_ = resp.Body.Close()
			to, err := u.Parse(resp.Header.Get("Location")) // on the same server: the transport refused any other
			if err != nil || resp.Header.Get("Location") == "" || hop == mostHops {
				return answer{}, shut("", "", "%s redirects to nothing that can be followed (%d)", u.Host+u.Path, resp.StatusCode)
			}
			u = *to
			continue
		}
		limit := most
		if resp.StatusCode != http.StatusOK {
			limit = mostError
		}
		raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
		_ = resp.Body.Close()
		switch {
		case err != nil:
			return answer{}, unanswered(err, u.Host)
		case resp.Header.Get("Content-Encoding") != "" && resp.Header.Get("Content-Encoding") != "identity":
			return answer{}, shut("", "", "%s answered packed, though it was asked not to: its bytes are not those that a digest is of", u.Host+u.Path)
		case resp.StatusCode == http.StatusOK && int64(len(raw)) > limit:
			return answer{}, shut("", "", "%s answered with more than the %d KiB that are read", u.Host+u.Path, most>>10)
		}
		return answer{resp.StatusCode, raw, resp.Header}, nil
	}
}

// unanswered says what it means that a request had no answer.
func unanswered(err error, host string) error {
	if of := (*url.Error)(nil); errors.As(err, &of) {
		err = of.Err
	}
	var (
		away    *transport.RefusedError
		dialled *net.OpError
		name    *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.As(err, &away):
		if away.To != "" {
			return shut("", "", "%s redirects to another server (%s), to which nothing is sent", host, steps.Clip(away.To, 100))
		}
		return shut("", "", "asking %s: %w", host, err)
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return shut(down, timedOut, "%s did not answer this machine in time", host)
	case errors.As(err, &name), errors.As(err, &dialled) && dialled.Op == "dial", errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return shut(down, unreachable, "%s cannot be reached from this machine: %w", host, err)
	}
	// A certificate that does not verify, a proxy that fails, another protocol: the registry itself may be well.
	return shut("", "", "asking %s: %w", host, err)
}

// refused is an answer that is of no use, in words that say what to do; nil where it is 200.
func (c *client) refused(got answer, where string) error {
	code, says := saidBy(got.raw)
	status := got.status
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusTooManyRequests || code == "TOOMANYREQUESTS":
		// Down and not denied: the next move is to wait or to mirror, as in an outage, and no right is missing.
		again := ""
		if v := got.header.Get("Retry-After"); v != "" {
			again = ", and may be asked again after " + steps.OneLine(v, 40)
		}
		return shut(down, tooMany, "%s was asked too often (%d)%s", where, status, again)
	case status == http.StatusUnauthorized && c.sent:
		return shut(denied, unauthenticated, "%w: %s does not take the account of docker's configuration (401): %s", steps.ErrDenied, where, says)
	case status == http.StatusUnauthorized:
		return shut(denied, unauthenticated, "%w: %s wants an account (401): %s", steps.ErrDenied, where, c.orWhyNone(says))
	case status == http.StatusForbidden:
		return shut(denied, forbidden, "%w: %s may not be read %s (403): %s", steps.ErrDenied, where, c.as(), says)
	case status == http.StatusNotFound && (code == "MANIFEST_UNKNOWN" || code == "NAME_UNKNOWN" || code == "BLOB_UNKNOWN"):
		return &missingError{code, where}
	case status == http.StatusNotFound:
		return shut("", "", "%w", &unspokenError{where})
	case status >= 500:
		return shut(down, serverError, "%s answered %d: %s", where, status, says)
	}
	return shut("", "", "%s answered %d: %s", where, status, says)
}

// unspokenError is a 404 without the words of a registry, as each web server gives it.
type unspokenError struct{ where string }

func (e *unspokenError) Error() string {
	return e.where + " answered 404 without an error code of a registry: what answers may be none"
}

func (c *client) as() string {
	if c.sent {
		return "with the account of docker's configuration"
	}
	return "without an account"
}

func (c *client) orWhyNone(says string) string {
	if c.account.none != "" {
		return c.account.none
	}
	if c.account.empty() {
		return "docker's configuration has none of " + c.domain + "; sign in with docker login, then read again"
	}
	return says
}

// saidBy is the first error of an answer (OCI distribution 1.1, Error Codes), on one line.
func saidBy(raw []byte) (code, text string) {
	var in struct {
		Errors []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	text = string(raw)
	if json.Unmarshal(raw, &in) == nil && len(in.Errors) > 0 {
		code = in.Errors[0].Code
		text = code + " " + in.Errors[0].Message
	}
	text = steps.OneLine(strings.ToValidUTF8(text, "?"), 200)
	if text == "" {
		text = "nothing more"
	}
	return code, text
}

// response is a manifest whose bytes were read and whose digest was computed from them.
type response struct {
	manifest
	raw    []byte
	digest string
	header http.Header
}

// liesError says that the header and the bytes of a manifest have two digests.
type liesError struct{ where, header, digest string }

func (e *liesError) Error() string {
	return fmt.Sprintf("%s calls its manifest %s and its bytes are %s", e.where, steps.Clip(steps.Flat(e.header), 160), e.digest)
}

// manifestAt reads the manifest of a tag or a digest. One whose header names another digest than its bytes have is none.
func (c *client) manifestAt(ctx context.Context, ref string) (response, error) {
	got, err := c.get(ctx, c.path("manifests", ref), accepted, mostManifest)
	if err != nil {
		return response{}, err
	}
	r := response{raw: got.raw, digest: digestOf(got.raw), header: got.header}
	where := c.base.Host + c.path("manifests", ref)
	header := got.header.Get("Docker-Content-Digest")
	if holds, _ := headerHolds(header, got.raw); !holds {
		return r, &liesError{where, header, r.digest}
	}
	if r.manifest, err = parseManifest(got.raw, got.header.Get("Content-Type")); err != nil {
		return r, fmt.Errorf("%s: %w", where, err)
	}
	return r, nil
}

// readable tells whether the repository is read with what is sent: then a 404 of one of its manifests is proof that it is not
// there. A registry may answer 404 as well for what it hides.
func (c *client) readable(ctx context.Context) bool {
	u := c.path("tags", "list?n=1")
	got, err := c.get(ctx, u, "application/json", mostManifest)
	if err != nil {
		return false
	}
	var in struct {
		Name string `json:"name"`
	}
	return json.Unmarshal(got.raw, &in) == nil && in.Name == c.name
}
