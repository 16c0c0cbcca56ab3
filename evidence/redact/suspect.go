package redact

import (
	"slices"

	"handrail/evidence/jsontree"
)

// Once a document is known to be broken, what still parses may have lost its mark to a stray bracket: then nothing is kept
// whose mark cannot be seen, and no field that does not belong where it stands.

// markOf is the field that must stand beside another for its value to be judged.
var markOf = map[string]string{"attributes": "sensitive_attributes", "attributes_flat": "sensitive_attributes", "values": "sensitive_values",
	"before": "before_sensitive", "after": "after_sensitive", "value": "sensitive"}

var (
	instanceFields = []string{"schema_version", "index_key", "status", "deposed", "attributes", "attributes_flat", "sensitive_attributes", "private",
		"dependencies", "create_before_destroy", "identity_schema_version"}
	objectFields = []string{"apiVersion", "kind", "metadata", "type", "immutable", "spec", "status", "items", "rows", "data", "stringData", "columnDefinitions"}
)

// belongs says which fields an object may have, by what it has or where it stands; nil is any.
func belongs(key string, n *jsontree.Node) []string {
	switch {
	case key == "instances", n.Get("schema_version") != nil:
		return instanceFields
	case key == "items", key == "object", n.Get("apiVersion") != nil:
		return objectFields
	}
	return nil
}

// suspect withholds what a whole document would have had marked. key is where n stands.
func (r *Redactor) suspect(key string, n *jsontree.Node, c Counts) {
	if n.Kind == jsontree.Object {
		fields := belongs(key, n)
		for _, m := range n.Members {
			mark := markOf[m.Key]
			if fields != nil && !slices.Contains(fields, m.Key) || mark != "" && n.Get(mark) == nil && m.Key != key {
				r.hideAll(m.Value, "withheld", c)
			}
		}
	}
	for _, m := range n.Members {
		k := m.Key
		if k == "sensitive_attributes" {
			continue // these are names
		}
		if n.Kind == jsontree.Array {
			k = key
		}
		r.suspect(k, m.Value, c)
	}
}
