package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

// workloadSweep reads a list in pages and builds of each item what T keeps of it.
func workloadSweep[T any](ctx context.Context, c *client, path string, query url.Values, see func(T)) error {
	return workloadPages(ctx, c, path, asJSON, query, see)
}

func workloadPages[T any](ctx context.Context, c *client, path, accept string, query url.Values, see func(T)) error {
	if query == nil {
		query = url.Values{}
	}
	p := newPages(c, path, accept, query)
	for {
		raw, err := p.next(ctx)
		if err != nil {
			return err
		}
		rows := 0
		md, err := page{items: "items", item: func(s *scan) error {
			part, err := s.value()
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
		}}.parse(raw)
		if err != nil {
			return fmt.Errorf("%s: the answer of %s cannot be read: %w", path, c.Server, err)
		}
		if done, err := p.took(md, rows, len(raw)); done || err != nil {
			return err
		}
	}
}
