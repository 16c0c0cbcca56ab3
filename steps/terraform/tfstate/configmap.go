package tfstate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

// Recorded is what a state keeps of an object of Kubernetes: which one it is, and which write of it.
type Recorded struct {
	Name, Namespace string
	UID, RV         string
}

// mostEntries and longestEntries bound what leaves a state.
const mostEntries, longestEntries = 200, 16 << 10

// Kubernetes is what an instance records of its object, false where it records none.
func (i *Instance) Kubernetes() (Recorded, bool) {
	type meta struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		UID       string `json:"uid"`
		RV        string `json:"resource_version"`
	}
	var has struct {
		Metadata []meta `json:"metadata"`
	}
	if json.Unmarshal(i.Attributes, &has) != nil || len(has.Metadata) != 1 {
		return Recorded{}, false
	}
	m := has.Metadata[0]
	return Recorded(m), m.Name != ""
}

// Entries are the texts of the ConfigMap that an instance records, or why they are not told. A ConfigMap holds no secret
// by its kind; the values of anything else stay in the state.
func (i *Instance) Entries() (entries map[string]string, why string) {
	var has struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	switch {
	case !strings.HasPrefix(i.Type, "kubernetes_config_map"):
		return nil, fmt.Sprintf("%s is no ConfigMap, and the values of anything else stay in the state", steps.Clip(i.Type, 100))
	case i.Cut:
		return nil, "its attributes are too large"
	case slices.ContainsFunc(i.paths, func(p string) bool {
		return p == ".data" || strings.HasPrefix(p, ".data[") || strings.HasPrefix(p, ".data.")
	}):
		return nil, "the state marks them as sensitive"
	case json.Unmarshal(i.Attributes, &has) != nil:
		return nil, "its data holds no names with texts"
	}
	entries, size := map[string]string{}, 0
	for name, raw := range has.Data {
		var text *string
		if json.Unmarshal(raw, &text) != nil || text == nil {
			return nil, fmt.Sprintf("%q in its data is no text", steps.Clip(name, 100))
		}
		size += len(name) + len(*text)
		entries[name] = *text
	}
	if len(entries) > mostEntries || size > longestEntries {
		return nil, fmt.Sprintf("it has more than %d keys or %d bytes", mostEntries, longestEntries)
	}
	return entries, ""
}
