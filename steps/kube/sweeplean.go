package kube

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/fault"
	"handrail/steps/kube/wire"
)

// sweepItem reads an object without what is most of its bytes: managedFields,
// the copy that kubectl keeps and, unless it is asked for, the status.
func sweepItem(status bool) func(*scan) (object, error) {
	return func(s *scan) (object, error) {
		whole := map[string]any{}
		err := s.members(func(key []byte) error {
			switch {
			case string(key) == "metadata":
				md, err := sweepMetadata(s)
				whole["metadata"] = md
				return err
			case string(key) == "status" && !status:
				return s.skip()
			}
			return sweepMember(s, string(key), whole)
		})
		return object{Unstructured: &unstructured.Unstructured{Object: whole}}, err
	}
}

func sweepMetadata(s *scan) (map[string]any, error) {
	md := map[string]any{}
	err := s.members(func(key []byte) error {
		if string(key) == "managedFields" {
			return s.skip()
		}
		return sweepMember(s, string(key), md)
	})
	if notes, ok := md["annotations"].(map[string]any); ok {
		delete(notes, lastApplied)
	}
	return md, err
}

func sweepMember(s *scan, key string, into map[string]any) error {
	v, err := s.build()
	into[key] = v
	return err
}

// sweepLists runs reads side by side, up to eight at once, and returns when all have
// ended. What one meets is its own to keep; fell is told of one that broke off.
func sweepLists(ctx context.Context, reads []func(context.Context), fell func(error)) {
	slots := make(chan struct{}, listsAtOnce)
	var wait sync.WaitGroup
	for _, read := range reads {
		wait.Go(func() {
			defer fault.To(fell)
			slots <- struct{}{} // once ctx is over, each read ends at once
			defer func() { <-slots }()
			read(ctx)
		})
	}
	wait.Wait()
}

// sweepForm is in which form a resource is asked for, and what of it is read.
type sweepForm struct {
	accept string
	shape  wire.Shape                  // where the answer is in protobuf
	lean   func(*scan) (object, error) // where it is in JSON
}

// sweepWhole reads what matters of an object. What is in protobuf costs the server
// half of what JSON does, so it is asked for where the numbers of the fields are
// known; whoever answers in JSON all the same is read, too.
func sweepWhole(r resource, status bool) sweepForm {
	f := sweepForm{accept: asJSON, lean: sweepItem(status)}
	if shape, known := sweepShapes()[r.String()]; known && r.version == "v1" {
		f.accept, f.shape = wire.Media+","+asJSON, shape
	}
	return f
}

// sweepMetadataOnly reads the metadata of an object.
func sweepMetadataOnly(r resource) sweepForm {
	return sweepForm{accept: wire.Media + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," + asMetaList, shape: metadataShape(r.String()), lean: metadataItem}
}

// sweepList shows each object of a resource in a namespace, or in the whole cluster.
func (c *client) sweepList(ctx context.Context, r resource, namespace string, f sweepForm, see func(object)) (err error) {
	defer fault.To(func(e error) { err = e })
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.sweepPages(ctx, r.path(namespace, ""), f, url.Values{}, see)
}

// served tells the kinds that this server has, by plural.group; blind names the
// API groups that did not say.
type sweepServed struct {
	by    map[string]resource
	all   []resource
	blind []string
}

func (c *client) sweepServed() sweepServed {
	s := sweepServed{by: map[string]resource{}}
	for _, namespaced := range []bool{true, false} {
		all, trouble := c.listable(namespaced)
		if trouble != "" && !slices.Contains(s.blind, trouble) {
			s.blind = append(s.blind, trouble)
		}
		s.all = append(s.all, all...)
		for _, r := range all {
			s.by[r.String()] = r
		}
	}
	return s
}

// in returns the kinds of an API group, in order.
func (s sweepServed) in(group string) []resource {
	var out []resource
	for _, name := range slices.Sorted(maps.Keys(s.by)) {
		if s.by[name].group == group {
			out = append(out, s.by[name])
		}
	}
	return out
}

// hides reports whether a group did not say what it serves, so that nobody
// knows that a kind of it is not there.
func (s sweepServed) hides(group string) bool {
	return slices.ContainsFunc(s.blind, func(b string) bool {
		return strings.Contains(b, group+"/") || strings.Contains(b, "every group") || strings.Contains(b, "apis/ (") || group == "" && strings.Contains(b, "v1 (")
	})
}
