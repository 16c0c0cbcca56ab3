package cluster

import (
	"bytes"
	"context"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"handrail/steps/cluster/wire"
	"handrail/steps/fault"
)

// List lists what is at path in pages and shows each object to see. Of a list
// of metadata it shows the metadata alone, without managedFields. An error means
// that not all was seen; what was shown until then is there all the same.
func (c *Client) List(ctx context.Context, path, accept string, query url.Values, see func(Object)) error {
	read := WholeItem
	if accept == AsMetaList {
		read = MetadataItem
	}
	return c.ListItems(ctx, path, accept, query, read, see)
}

// ListItems is List with the caller's way to read an item.
func (c *Client) ListItems(ctx context.Context, path, accept string, query url.Values, read func(*Scanner) (Object, error), see func(Object)) error {
	return c.listForm(ctx, path, Form{Accept: accept, Lean: read}, query, see)
}

// listForm is List with a form of the caller's.
func (c *Client) listForm(ctx context.Context, path string, f Form, query url.Values, see func(Object)) error {
	if query == nil {
		query = url.Values{}
	}
	p := NewPages(c, path, f.Accept, query)
	if f.Shape != nil { // such lists are read many at once, one after the other
		p.heavy = heaviestPage / 2
		p.buf = c.buffers.Get().(*bytes.Buffer)
		defer c.buffers.Put(p.buf)
	}
	if f.slow {
		p.spare = &bytes.Buffer{}
	}
	return p.Each(ctx, func(raw []byte) (md ListMeta, rows int, err error) {
		md, err = f.Read(raw, func(o Object) { rows++; see(o) })
		return md, rows, err
	})
}

// Read shows each object of a page.
func (f Form) Read(raw []byte, see func(Object)) (ListMeta, error) {
	if f.Shape != nil && wire.Is(raw) {
		p, err := wire.List(raw, f.Shape, func(o map[string]any) error {
			see(Object{Unstructured: &unstructured.Unstructured{Object: o}})
			return nil
		})
		return ListMeta{Continue: p.Continue}, err
	}
	return Page{Items: "items", Item: func(s *Scanner) error {
		o, err := f.Lean(s)
		if err == nil {
			see(o)
		}
		return err
	}}.Parse(raw)
}

// WholeItem reads an item of a list with everything it has.
func WholeItem(s *Scanner) (Object, error) {
	part, err := s.Value()
	if err != nil {
		return Object{}, err
	}
	o := Object{Unstructured: &unstructured.Unstructured{}}
	return o, json.Unmarshal(part, &o.Object)
}

// MetadataItem builds no managedFields: they are most of the bytes. Unlike an
// item of a list that is recorded, it may lack a UID: what an API server makes up
// at each request has none, and owns and is owned by nothing.
func MetadataItem(s *Scanner) (Object, error) {
	meta := map[string]any{}
	err := s.Members(func(key []byte) error {
		if string(key) != "metadata" {
			return s.Skip()
		}
		return s.Members(func(key []byte) error {
			if string(key) == "managedFields" {
				return s.Skip()
			}
			return BuildMember(s, string(key), meta)
		})
	})
	return Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{"metadata": meta}}}, err
}

// Form is in which form a resource is asked for, and what of it is read.
type Form struct {
	Accept string
	Shape  wire.Shape                     // where the answer is in protobuf
	Lean   func(*Scanner) (Object, error) // where it is in JSON
	slow   bool                           // its items take long to read: the next page is asked for meanwhile
}

// ListForm shows each object of a resource in a namespace, or in the whole cluster.
func (c *Client) ListForm(ctx context.Context, r Resource, namespace string, f Form, see func(Object)) (err error) {
	defer fault.To(func(e error) { err = e })
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.listForm(ctx, r.Path(namespace, ""), f, url.Values{}, see)
}

// BuildMember builds the value of the member key of an object that s walks.
func BuildMember(s *Scanner, key string, into map[string]any) error {
	v, err := s.build()
	into[key] = v
	return err
}
