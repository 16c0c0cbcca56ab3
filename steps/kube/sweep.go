package kube

import (
	"context"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// sweep lists what is at path in pages and shows each object to see. Of a list
// of metadata it shows the metadata alone, without managedFields. An error means
// that not all was seen; what was shown until then is there all the same.
func (c *client) sweep(ctx context.Context, path, accept string, query url.Values, see func(object)) error {
	read := wholeItem
	if accept == asMetaList {
		read = metadataItem
	}
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
			o, err := read(s)
			if err != nil {
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

func wholeItem(s *scan) (object, error) {
	part, err := s.value()
	if err != nil {
		return object{}, err
	}
	o := object{Unstructured: &unstructured.Unstructured{}}
	return o, json.Unmarshal(part, &o.Object)
}

// metadataItem builds no managedFields: they are most of the bytes. Unlike an
// item of a list that is recorded, it may lack a UID: what an API server makes up
// at each request has none, and owns and is owned by nothing.
func metadataItem(s *scan) (object, error) {
	meta := map[string]any{}
	err := s.members(func(key []byte) error {
		if string(key) != "metadata" {
			return s.skip()
		}
		return s.members(func(key []byte) error {
			part, err := s.value()
			if err != nil || string(key) == "managedFields" {
				return err
			}
			var v any
			if err := json.Unmarshal(part, &v); err != nil {
				return err
			}
			meta[string(key)] = v
			return nil
		})
	})
	return object{Unstructured: &unstructured.Unstructured{Object: map[string]any{"metadata": meta}}}, err
}
