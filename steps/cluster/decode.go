package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

// Each reads a list in pages and builds of each item what T keeps of it.
func Each[T any](ctx context.Context, c *Client, path string, query url.Values, see func(T)) error {
	return EachAs(ctx, c, path, AsJSON, query, see)
}

// EachAs is [Each] for a list in the form accept.
func EachAs[T any](ctx context.Context, c *Client, path, accept string, query url.Values, see func(T)) error {
	if query == nil {
		query = url.Values{}
	}
	p := NewPages(c, path, accept, query)
	for {
		raw, err := p.Next(ctx)
		if err != nil {
			return err
		}
		rows := 0
		md, err := Page{Items: "items", Item: func(s *Scanner) error {
			part, err := s.Value()
			if err != nil {
				return err
			}
			var v T
			if err := json.Unmarshal(part, &v); err != nil {
				return err
			}
			rows++
			see(v)
			return nil
		}}.Parse(raw)
		if err != nil {
			return fmt.Errorf("%s: the answer of %s cannot be read: %w", path, c.Server, err)
		}
		if done, err := p.Took(md, rows, len(raw)); done || err != nil {
			return err
		}
	}
}
