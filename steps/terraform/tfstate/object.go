package tfstate

import (
	"encoding/json"
	"slices"
)

// What an address stands for. An address is a place in the configuration, and stays
// when its object is replaced: only the id tells one object from the next.

// Stands is what an instance stands for, as the tools print it: its id, or its name
// where its kind has no id; "" for neither, and where the state calls it sensitive.
// known is false where the attributes could not be read.
func (i *Instance) Stands() (stands string, known bool) {
	switch {
	case i.Cut:
		return "", false
	case len(i.Attributes) == 0:
		return "", true
	}
	var has map[string]json.RawMessage
	if json.Unmarshal(i.Attributes, &has) != nil {
		return "", false
	}
	for _, key := range []string{"id", "name"} {
		raw, there := has[key]
		if !there {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil || text == "" || slices.Contains(i.paths, "."+key) {
			return "", true
		}
		return key + "=" + text, true
	}
	return "", true
}
