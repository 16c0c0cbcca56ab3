package kube

import (
	"bytes"
	"context"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"handrail/steps/fault"
	"handrail/steps/kube/wire"
)

// sweep lists what is at path in pages and shows each object to see. Of a list
// of metadata it shows the metadata alone, without managedFields. An error means
// that not all was seen; what was shown until then is there all the same.
func (c *client) sweep(ctx context.Context, path, accept string, query url.Values, see func(object)) error {
	read := wholeItem
	if accept == asMetaList {
		read = metadataItem
	}
	return c.sweepItems(ctx, path, accept, query, read, see)
}

// sweepItems is sweep with the caller's way to read an item.
func (c *client) sweepItems(ctx context.Context, path, accept string, query url.Values, read func(*scan) (object, error), see func(object)) error {
	return c.sweepPages(ctx, path, sweepForm{accept: accept, lean: read}, query, see)
}

// sweepPages is sweep with a form of the caller's.
func (c *client) sweepPages(ctx context.Context, path string, f sweepForm, query url.Values, see func(object)) error {
	if query == nil {
		query = url.Values{}
	}
	p := newPages(c, path, f.accept, query)
	if f.shape != nil { // sweeps read many lists at once, one after the other
		p.heavy = heaviestPage / 2
		p.buf = c.buffers.Get().(*bytes.Buffer)
		defer c.buffers.Put(p.buf)
	}
	for {
		raw, err := p.next(ctx)
		if err != nil {
			return err
		}
		rows := 0
		md, err := f.read(raw, func(o object) { rows++; see(o) })
		if err != nil {
			return fmt.Errorf("%s: the answer of %s cannot be read: %w", path, c.Server, err)
		}
		if done, err := p.took(md, rows, len(raw)); done || err != nil {
			return err
		}
	}
}

// read shows each object of a page.
func (f sweepForm) read(raw []byte, see func(object)) (listMeta, error) {
	if f.shape != nil && wire.Is(raw) {
		p, err := wire.List(raw, f.shape, func(o map[string]any) error {
			see(object{Unstructured: &unstructured.Unstructured{Object: o}})
			return nil
		})
		return listMeta{Continue: p.Continue}, err
	}
	return page{items: "items", item: func(s *scan) error {
		o, err := f.lean(s)
		if err == nil {
			see(o)
		}
		return err
	}}.parse(raw)
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
			if string(key) == "managedFields" {
				return s.skip()
			}
			return sweepMember(s, string(key), meta)
		})
	})
	return object{Unstructured: &unstructured.Unstructured{Object: map[string]any{"metadata": meta}}}, err
}

// sweepForm is in which form a resource is asked for, and what of it is read.
type sweepForm struct {
	accept string
	shape  wire.Shape                  // where the answer is in protobuf
	lean   func(*scan) (object, error) // where it is in JSON
}

// sweepList shows each object of a resource in a namespace, or in the whole cluster.
func (c *client) sweepList(ctx context.Context, r resource, namespace string, f sweepForm, see func(object)) (err error) {
	defer fault.To(func(e error) { err = e })
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.sweepPages(ctx, r.path(namespace, ""), f, url.Values{}, see)
}

func sweepMember(s *scan, key string, into map[string]any) error {
	v, err := s.build()
	into[key] = v
	return err
}
