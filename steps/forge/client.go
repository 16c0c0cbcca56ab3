package forge

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	askWithin  = 20 * time.Second
	mostAnswer = 8 << 20
	mostPages  = 20
	mostHops   = 3

	mostDigests = 20 // that are kept of one review
)

// client asks one forge.
type client struct {
	place
	http *http.Client
	done func()
}

// newClient is a client of the forge that the environment names. The token is told to out first.
func newClient(env steps.Env, roots *x509.CertPool, out steps.Sink) (*client, error) {
	p, err := placeOf(env)
	if err != nil {
		return nil, err
	}
	out.Secret(p.token)
	c := &client{place: p}
	c.http, c.done = transport.FetchClient(env, p.base, roots, agent(env))
	return c, nil
}

func agent(env steps.Env) transport.Option {
	if env.Version == "" {
		return transport.Agent("handrail")
	}
	return transport.Agent("handrail/" + env.Version)
}

// errNotSeen says that a forge has no such thing, or that the token may not see it: it answers both alike.
var errNotSeen = errors.New("it is not there, or the token may not see it")

// errLong says that a list goes on beyond what is read.
var errLong = fmt.Errorf("the list has more than the %d pages that are read", mostPages)

// path joins parts of a path, each escaped whole: a repository of GitLab is one part.
func path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// open sends one GET and returns the answer where it is 200. It follows redirects that stay below the API.
func (c *client) open(ctx context.Context, below, query string) (*http.Response, error) {
	address, err := url.Parse(c.base.String() + below)
	if err != nil {
		return nil, err
	}
	address.RawQuery = query
	for hop := 0; ; hop++ {
		where := address.Host + address.Path
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
		if err != nil {
			return nil, err
		}
		c.sign(req)
		resp, err := c.http.Do(req)
		if err != nil {
			if away := (*transport.RefusedError)(nil); errors.As(err, &away) && away.To != "" {
				return nil, &elsewhereError{where, away.To}
			}
			if of := (*url.Error)(nil); errors.As(err, &of) {
				err = of.Err
			}
			return nil, fmt.Errorf("asking %s: %w", where, err)
		}
		if resp.StatusCode == http.StatusOK {
			return resp, nil
		}
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
		_ = resp.Body.Close()
		if resp.StatusCode/100 != 3 {
			return nil, c.refused(resp, raw, where)
		}
		to, err := address.Parse(resp.Header.Get("Location")) // on the same server: the transport refused any other
		switch {
		case err != nil || resp.Header.Get("Location") == "":
			return nil, fmt.Errorf("%s answered %d and no address", where, resp.StatusCode)
		case hop == mostHops:
			return nil, fmt.Errorf("%s redirects more than %d times", where, mostHops)
		}
		address = to
	}
}

// elsewhereError says that a forge sent the reader to another server.
type elsewhereError struct{ where, to string }

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("%s redirects to another server (%s), to which nothing is sent", e.where, steps.Clip(e.to, 100))
}

func (c place) sign(req *http.Request) {
	switch c.vendor {
	case gitea:
		req.Header.Set("Authorization", "token "+c.token)
	case github:
		req.Header.Set("Authorization", "Bearer "+c.token)
		req.Header.Set("Accept", "application/vnd.github+json")
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	case gitlab:
		req.Header.Set("PRIVATE-TOKEN", c.token)
	}
}

// refused is an answer that is of no use, in words that say what to do.
func (c *client) refused(resp *http.Response, raw []byte, where string) error {
	says := saidBy(raw)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.Header.Get("X-RateLimit-Remaining") == "0":
		again := "later"
		if n, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && n > 0 && n < 1<<40 {
			again = "after " + time.Unix(n, 0).UTC().Format(time.RFC3339)
		}
		return fmt.Errorf("%s was asked too often with the token in %s (%d): ask again %s", where, c.by, resp.StatusCode, again)
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s does not take the token in %s (401): make a new one, then read again", steps.ErrDenied, where, c.by)
	case resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: the token in %s may not read %s (403): %s", steps.ErrDenied, c.by, where, says)
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return fmt.Errorf("%s answered %d: %w", where, resp.StatusCode, errNotSeen)
	}
	return fmt.Errorf("%s answered %d: %s", where, resp.StatusCode, says)
}

func saidBy(raw []byte) string {
	var in struct{ Message, Error json.RawMessage }
	text := string(raw)
	if json.Unmarshal(raw, &in) == nil && len(in.Message)+len(in.Error) > 0 {
		text = string(in.Message) + string(in.Error)
	}
	return steps.OneLine(strings.Trim(strings.ToValidUTF8(text, "?"), `"`), 200)
}

// answer is one answer, read to its end.
type answer struct {
	raw    []byte
	header http.Header
}

func (c *client) get(ctx context.Context, below, query string) (answer, error) {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	resp, err := c.open(ctx, below, query)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	if err == nil && len(raw) > mostAnswer {
		err = fmt.Errorf("%s answered with more than the %d MiB that are read", c.base.Host+below, mostAnswer>>20)
	}
	return answer{raw, resp.Header}, err
}

// decode reads JSON. What is wrong with it is said without what stood in it.
func decode(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if of := (*json.UnmarshalTypeError)(nil); errors.As(err, &of) {
		return fmt.Errorf("the forge answered with something else than was asked for: %q is of another type", of.Field)
	}
	if err != nil {
		return errors.New("the forge answered with something else than was asked for: it is no JSON of that form")
	}
	return nil
}

// page is what a parser found on one page of a list: how many entries, and how many there are in all, -1 where the
// page does not say.
type page struct{ entries, total int }

// each reads a list page by page to its end. What it cannot read to its end is an error: half a list would make the other
// half absent.
func (c *client) each(ctx context.Context, below, query string, parse func(raw []byte) (page, error)) error {
	size := "per_page=100"
	if c.vendor == gitea {
		size = "limit=50"
	}
	if query != "" {
		query += "&"
	}
	seen := 0
	for n := 1; n <= mostPages; n++ {
		got, err := c.get(ctx, below, query+size+"&page="+strconv.Itoa(n))
		if err != nil {
			return err
		}
		p, err := parse(got.raw)
		if err != nil {
			return err
		}
		seen += p.entries
		more := c.more(got.header, p, seen)
		switch {
		case !more:
			return nil
		case p.entries == 0:
			return fmt.Errorf("%s has fewer entries than it says: it changed while it was read, read again", c.base.Host+below)
		}
	}
	return errLong
}

// more reports whether a list goes on. Each forge says it in its own way; where one says nothing, the next page tells.
func (c *client) more(h http.Header, p page, seen int) bool {
	if values, said := h["X-Next-Page"]; said {
		return len(values) > 0 && values[0] != ""
	}
	if link := h.Get("Link"); link != "" {
		return strings.Contains(link, `rel="next"`)
	}
	if n, err := strconv.Atoi(h.Get("X-Total-Count")); err == nil {
		return seen < n
	}
	if p.total >= 0 {
		return seen < p.total
	}
	return c.vendor != github && p.entries > 0 // GitHub leaves the header away where there is one page
}
