package kube

import (
	"context"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// sweep lists what is at path in pages and shows each object to see. An error
// means that not all was seen; what was shown until then is there all the same.
func (c *client) sweep(ctx context.Context, path, accept string, query url.Values, see func(object)) error {
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
			o := object{Unstructured: &unstructured.Unstructured{}}
			if err := json.Unmarshal(part, &o.Object); err != nil {
				return err
			}
			rows++
			see(o)
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
