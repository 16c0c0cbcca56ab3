package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"handrail/steps/fault"
)

const (
	// firstPage is small, for an early first line.
	firstPage = 500
	// largestPage and heaviestPage bound what is in memory at once. Each page
	// costs the server a request, so that many small ones take twice the time.
	largestPage  = 10_000
	heaviestPage = 2 << 20
	smallestPage = 100
	growth       = 20
	// mostPaged bounds all pages of one collection: a server may send ever more.
	mostPaged = 1 << 30
)

// Pages reads a collection page by page at one moment of the server, or says how
// often it had to go on at a later one.
type Pages struct {
	c       *Client
	Path    string
	accept  string
	query   url.Values
	limit   int
	token   string
	Moments int
	buf     *bytes.Buffer
	total   int64
	heavy   int    // bytes that a page may have, about
	first   []byte // the first page, where it was read ahead
	// spare holds the next page while this one is decoded. Only a list whose items take long to decode has one: it doubles
	// what is in memory.
	spare *bytes.Buffer
}

// NewPages reads the collection at path, from its first page.
func NewPages(c *Client, path, accept string, query url.Values) *Pages {
	return &Pages{c: c, Path: path, accept: accept, query: query, limit: firstPage, buf: &bytes.Buffer{}, heavy: heaviestPage}
}

// Ahead reads the first page, which Each then begins with.
func (p *Pages) Ahead(ctx context.Context) (err error) {
	p.first, err = p.next(ctx)
	return err
}

// Each gives every page to read, which returns what the page says about the list
// and how many rows it has. The bytes of a page are good until read returns.
func (p *Pages) Each(ctx context.Context, read func(raw []byte) (md ListMeta, rows int, err error)) error {
	raw, err := p.first, error(nil)
	for {
		if raw == nil {
			if raw, err = p.next(ctx); err != nil {
				return err
			}
		}
		following, wait := p.early(ctx, raw)
		md, rows, err := read(raw)
		if err != nil {
			wait()
			return fmt.Errorf("%s: the answer of %s cannot be read: %w", p.Path, p.c.Server, err)
		}
		if following != nil {
			if raw, err = following(); err != nil {
				return err
			}
			continue
		}
		if done, err := p.took(md, rows, len(raw)); done || err != nil {
			return err
		}
		raw = nil
	}
}

// early asks for the page after raw while raw is decoded, where raw says before its items how the list goes on. following
// waits for it; wait ends it. following is nil where raw does not say it, or is the last page.
func (p *Pages) early(ctx context.Context, raw []byte) (following func() ([]byte, error), wait func()) {
	if p.spare == nil {
		return nil, func() {}
	}
	md, ok := head(raw)
	if !ok || md.Continue == "" || md.Continue == p.token {
		return nil, func() {}
	}
	// A page that is not the last has as many rows as were asked for.
	if done, err := p.took(md, p.limit, len(raw)); done || err != nil {
		return nil, func() {}
	}
	p.buf, p.spare = p.spare, p.buf
	ctx, cancel := context.WithCancel(ctx)
	var next []byte
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer fault.Into(&err)
		next, err = p.next(ctx)
	}()
	following = func() ([]byte, error) {
		defer cancel()
		<-ended
		return next, err
	}
	return following, func() {
		cancel()
		<-ended
	}
}

func (p *Pages) next(ctx context.Context) ([]byte, error) {
	raw, err := p.ask(ctx)
	var expired *ExpiredError
	if errors.As(err, &expired) && p.token != "" && expired.fresh != "" {
		// Everything before the token was read at the old moment, everything after
		// it is read at this one.
		p.Moments++
		p.token = expired.fresh
		return p.ask(ctx)
	}
	return raw, err
}

func (p *Pages) ask(ctx context.Context) ([]byte, error) {
	q := maps.Clone(p.query)
	q.Set("limit", strconv.Itoa(p.limit))
	if p.token != "" {
		q.Set("continue", p.token)
	}
	if err := p.c.readInto(ctx, p.buf, p.Path, p.accept, q); err != nil {
		return nil, err
	}
	if p.total += int64(p.buf.Len()); p.total > mostPaged {
		return nil, fmt.Errorf("%s: the list of %s goes on beyond %d MiB; ask for one namespace", p.Path, p.c.Server, mostPaged>>20)
	}
	return p.buf.Bytes(), nil
}

// took notes what the last page held, and reports whether it was the last.
func (p *Pages) took(md ListMeta, rows, size int) (done bool, err error) {
	if md.Continue == "" {
		return true, nil
	}
	if md.Continue == p.token {
		return false, fmt.Errorf("%s: %s sends the same page again and again", p.Path, p.c.Server)
	}
	p.token = md.Continue
	p.limit = min(p.limit*growth, largestPage)
	if rows > 0 {
		p.limit = max(smallestPage, min(p.limit, p.heavy/(size/rows+1)))
	}
	return false, nil
}
