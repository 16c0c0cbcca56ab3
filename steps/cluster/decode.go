package cluster

import (
	"context"
	"encoding/json"
	"net/url"
)

// Each reads a list in pages and builds of each item what T keeps of it.
func Each[T any](ctx context.Context, c *Client, path string, query url.Values, see func(T)) error {
	return EachAs(ctx, c, path, AsJSON, query, see)
}

// EachAs is [Each] for a list in the form accept.
func EachAs[T any](ctx context.Context, c *Client, path, accept string, query url.Values, see func(T)) error {
	read := func(s *Scanner) (Object, error) {
		part, err := s.Value()
		if err != nil {
			return Object{}, err
		}
		var v T
		if err := json.Unmarshal(part, &v); err != nil {
			return Object{}, err
		}
		see(v)
		return Object{}, nil
	}
	return c.listForm(ctx, path, Form{Accept: accept, Lean: read, slow: true}, query, func(Object) {})
}
