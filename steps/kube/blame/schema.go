package blame

import (
	"context"
	"encoding/json"
	"fmt"

	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
)

// mostSchema bounds how much of a description is walked; fields are a dozen deep.
const mostSchema = 100

// schemas is what an API server says of the form of its objects.
type schemas struct {
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type schema struct {
	Ref        string             `json:"$ref"`
	AllOf      []*schema          `json:"allOf"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	More       json.RawMessage    `json:"additionalProperties"`
	ListType   string             `json:"x-kubernetes-list-type"`
	MapType    string             `json:"x-kubernetes-map-type"`
	Kinds      []objectKind       `json:"-"`
}

type objectKind struct{ Group, Version, Kind string }

// UnmarshalJSON reads what matters here; the list of kinds of some groups is not
// of the usual form, and they have no fields anyway.
func (s *schema) UnmarshalJSON(raw []byte) error {
	type plainForm schema
	var with struct {
		*plainForm
		Kinds json.RawMessage `json:"x-kubernetes-group-version-kind"`
	}
	with.plainForm = (*plainForm)(s)
	if err := json.Unmarshal(raw, &with); err != nil {
		return err
	}
	s.Kinds = nil
	if len(with.Kinds) > 0 {
		_ = json.Unmarshal(with.Kinds, &s.Kinds)
	}
	return nil
}

// wholeIn returns who can tell whether a field of t is owned as a whole: a
// list without keys, or a map that is said to be atomic. Of metadata that is
// known; for the rest the server describes its objects.
func wholeIn(ctx context.Context, c *cluster.Client, t cluster.Target, pl fieldpath.Place) func(n int) (bool, error) {
	var all *schemas
	return func(n int) (bool, error) {
		if pl.Path[0].Name == "metadata" {
			return false, nil
		}
		if all == nil {
			path := "/openapi/v3/api/" + t.Version
			if t.Group != "" {
				path = "/openapi/v3/apis/" + t.Group + "/" + t.Version
			}
			raw, err := c.Read(ctx, path, cluster.AsJSON, nil)
			if err != nil {
				return false, err
			}
			read := &schemas{}
			if err := json.Unmarshal(raw, read); err != nil {
				return false, fmt.Errorf("%s: %s describes its objects in a form that cannot be read", path, c.Server)
			}
			all = read
		}
		at := all.of(t.Resource)
		if at == nil {
			return false, fmt.Errorf("%s does not describe its %s", c.Server, t.Plural)
		}
		return all.whole(at, pl.Path[:n]), nil
	}
}

// of is the description of a resource, nil where there is none.
func (all *schemas) of(r cluster.Resource) *schema {
	for _, s := range all.Components.Schemas {
		for _, k := range s.kinds() {
			if k.Group == r.Group && k.Version == r.Version && k.Kind == r.Kind {
				return s
			}
		}
	}
	return nil
}

func (s *schema) kinds() []objectKind {
	if s == nil {
		return nil
	}
	return s.Kinds
}

// whole walks a description. What is not described is as the server deduces it:
// lists are owned as a whole, maps key by key.
func (all *schemas) whole(at *schema, p fieldpath.Path) bool {
	atomic := false
	for i := 0; i <= len(p) && i < mostSchema; i++ {
		at = all.follow(at, &atomic)
		if atomic || i == len(p) {
			break
		}
		at = at.child(p[i])
	}
	switch {
	case atomic:
		return true
	case at == nil:
		return false
	case at.Items != nil:
		return at.ListType == "" || at.ListType == "atomic"
	}
	return false
}

// follow resolves references. A word on a reference counts for what it leads to.
func (all *schemas) follow(s *schema, atomic *bool) *schema {
	for range mostSchema {
		if s == nil {
			return nil
		}
		*atomic = *atomic || s.MapType == "atomic" || s.ListType == "atomic"
		switch {
		case len(s.AllOf) == 1:
			s = s.AllOf[0]
		case s.Ref != "":
			const prefix = "#/components/schemas/"
			if len(s.Ref) <= len(prefix) {
				return nil
			}
			s = all.Components.Schemas[s.Ref[len(prefix):]]
		default:
			return s
		}
	}
	return nil
}

func (s *schema) child(step fieldpath.Step) *schema {
	switch {
	case s == nil:
		return nil
	case s.Items != nil:
		return s.Items
	case s.Properties[step.Name] != nil:
		return s.Properties[step.Name]
	}
	var more *schema
	if len(s.More) > 0 && s.More[0] == '{' && json.Unmarshal(s.More, &more) == nil {
		return more
	}
	return nil
}
