package forge

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// branchAt is the commit at the head of a branch. Where there is none, the error is errNotSeen.
func (c *client) branchAt(ctx context.Context, repo, branch string) (string, error) {
	below := "/repos/" + repo + "/branches" + path(strings.Split(branch, "/")...)
	if c.vendor == gitlab {
		below = "/projects" + path(repo, "repository", "branches", branch)
	}
	got, err := c.get(ctx, below, "")
	if err != nil {
		return "", err
	}
	var in struct {
		Commit struct{ ID, SHA string } `json:"commit"`
	}
	if err := decode(got.raw, &in); err != nil {
		return "", err
	}
	at := sha(in.Commit.ID + in.Commit.SHA) // one forge has the one, another the other
	if at == "" {
		return "", fmt.Errorf("the forge names no commit for branch %s", steps.Clip(branch, 100))
	}
	return at, nil
}

// account is the login of the token, "" where the token may not ask for it.
func (c *client) account(ctx context.Context) string {
	got, err := c.get(ctx, "/user", "")
	if err != nil {
		return ""
	}
	var in struct{ Login, Username string }
	if decode(got.raw, &in) != nil {
		return ""
	}
	return words(orElse(in.Login, in.Username))
}

// mayPush says whether the account may write to a repository. known is false where the forge does not tell.
func (c *client) mayPush(ctx context.Context, repo string) (may, known bool, err error) {
	if c.vendor == gitlab {
		return false, false, nil
	}
	got, err := c.get(ctx, "/repos/"+repo, "")
	if err != nil {
		return false, false, err
	}
	var in struct {
		Archived    bool
		Permissions *struct{ Push bool }
	}
	if err := decode(got.raw, &in); err != nil {
		return false, false, err
	}
	if in.Permissions == nil {
		return false, false, nil
	}
	return in.Permissions.Push && !in.Archived, true, nil
}

// fileAt is a file at a branch, as its bytes.
func (c *client) fileAt(ctx context.Context, repo, branch, name string) ([]byte, error) {
	var below, query string
	switch c.vendor {
	case gitlab:
		below, query = "/projects"+path(repo, "repository", "files", name, "raw"), "ref="+url.QueryEscape(branch)
	case github:
		return c.contentAt(ctx, repo, branch, name)
	default:
		below, query = "/repos/"+repo+"/raw"+path(strings.Split(name, "/")...), "ref="+url.QueryEscape(branch)
	}
	got, err := c.get(ctx, below, query)
	return got.raw, err
}

// contentAt reads a file of GitHub, which answers with it in base64.
func (c *client) contentAt(ctx context.Context, repo, branch, name string) ([]byte, error) {
	got, err := c.get(ctx, "/repos/"+repo+"/contents"+path(strings.Split(name, "/")...), "ref="+url.QueryEscape(branch))
	if err != nil {
		return nil, err
	}
	var in struct {
		Encoding string
		Content  []byte // encoding/json decodes base64 and passes over its line breaks
	}
	if err := decode(got.raw, &in); err != nil {
		return nil, err
	}
	if in.Encoding != "base64" {
		return nil, fmt.Errorf("the forge did not give %s out: it is too large", steps.Clip(name, 100))
	}
	return in.Content, nil
}

// topic reads the title and the state of a pull request or an issue, and its page.
type topic struct{ title, state, url string }

func (c *client) topic(ctx context.Context, repo string, number int64, issue bool) (topic, error) {
	n := count(number)
	below := "/repos/" + repo + "/pulls/" + n
	switch {
	case c.vendor == gitlab && issue:
		below = "/projects" + path(repo, "issues", n)
	case c.vendor == gitlab:
		below = "/projects" + path(repo, "merge_requests", n)
	case issue:
		below = "/repos/" + repo + "/issues/" + n
	}
	got, err := c.get(ctx, below, "")
	if err != nil {
		return topic{}, err
	}
	var in struct {
		Title, State string
		Page         string `json:"html_url"`
		Web          string `json:"web_url"`
	}
	if err := decode(got.raw, &in); err != nil {
		return topic{}, err
	}
	return topic{words(in.Title), words(in.State), words(orElse(in.Page, in.Web))}, nil
}

// HalfError says that a forge took some of the requests before it refused one.
type HalfError struct {
	Taken, Of int
	Err       error
}

func (e *HalfError) Error() string {
	return fmt.Sprintf("the forge took %d of %d requests, then: %v", e.Taken, e.Of, e.Err)
}

func (e *HalfError) Unwrap() error { return e.Err }

// send sends orders one after the other, each once and nothing else, and stops at the first that is not taken.
func (p place) send(ctx context.Context, env steps.Env, roots *x509.CertPool, orders []order) error {
	allowed := make([]transport.Request, len(orders))
	for i, o := range orders {
		below, err := url.PathUnescape(o.below) // the guard compares what the server reads
		if err != nil {
			return err
		}
		allowed[i] = transport.Request{Method: o.method, Path: below, SHA256: transport.Sum(o.body)}
	}
	client, done := transport.StoreClient(env, p.base, roots, allowed, agent(env))
	defer done()
	for i, o := range orders {
		switch err := p.post(ctx, client, o); {
		case err != nil && i == 0:
			return err
		case err != nil:
			return &HalfError{i, len(orders), err}
		}
	}
	return nil
}

// post sends one order ([transport.Send]).
func (p place) post(ctx context.Context, client *http.Client, o order) error {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, o.method, p.base.String()+o.below, bytes.NewReader(o.body))
	if err != nil {
		return err
	}
	p.sign(req)
	req.Header.Set("Content-Type", "application/json")
	_, err = transport.Send(client, req, saidBy)
	return err
}
