package evidence

import "slices"

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
func belongs(key string, n *node) []string {
	switch {
	case key == "instances", n.get("schema_version") != nil:
		return instanceFields
	case key == "items", key == "object", n.get("apiVersion") != nil:
		return objectFields
	}
	return nil
}

// suspect withholds what a whole document would have had marked. key is where n stands.
func (r *redactor) suspect(key string, n *node, c counts) {
	if n.kind == objectNode {
		fields := belongs(key, n)
		for _, m := range n.members {
			mark := markOf[m.key]
			if fields != nil && !slices.Contains(fields, m.key) || mark != "" && n.get(mark) == nil && m.key != key {
				r.hideAll(m.value, "withheld", c)
			}
		}
	}
	for _, m := range n.members {
		k := m.key
		if k == "sensitive_attributes" {
			continue // these are names
		}
		if n.kind == arrayNode {
			k = key
		}
		r.suspect(k, m.value, c)
	}
}
