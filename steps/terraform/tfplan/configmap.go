package tfplan

import (
	"encoding/json"
	"fmt"
	"strings"

	"handrail/steps"
)

// Entries are the texts of one ConfigMap: as the plan found them, and as it would leave them. A ConfigMap holds no
// secret by its kind, which is why these alone leave a plan.
type Entries struct {
	Found, Wanted map[string]string
	Why           string // why they are not known, "" where they are
}

// mostEntries and longestEntries bound what leaves a plan.
const mostEntries, longestEntries = 200, 16 << 10

// entriesOf reads the data of a change of a ConfigMap.
func entriesOf(raw rawChange) *Entries {
	if !strings.HasPrefix(raw.Type, "kubernetes_config_map") {
		return &Entries{Why: fmt.Sprintf("%s is no ConfigMap, and the values of anything else stay in the plan", steps.Clip(raw.Type, 100))}
	}
	of := func(side json.RawMessage) any {
		o, _ := value(side).(map[string]any)
		return o["data"]
	}
	if marked(of(raw.Change.Hidden)) || marked(of(raw.Change.Sensitive)) {
		return &Entries{Why: "the configuration marks them as sensitive"}
	}
	if marked(of(raw.Change.Unknown)) {
		return &Entries{Why: "they are known only after the apply"}
	}
	e := &Entries{}
	for side, to := range map[*json.RawMessage]*map[string]string{&raw.Change.Before: &e.Found, &raw.Change.After: &e.Wanted} {
		texts, why := textsOf(of(*side))
		if why != "" {
			return &Entries{Why: why}
		}
		*to = texts
	}
	return e
}

// marked reports whether a mark of the tool covers a value or a part of it.
func marked(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case map[string]any:
		for _, part := range v {
			if marked(part) {
				return true
			}
		}
	}
	return false
}

func textsOf(v any) (map[string]string, string) {
	texts, size := map[string]string{}, 0
	fields, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, "its data holds no names with texts"
	}
	for name, part := range fields {
		text, ok := part.(string)
		if !ok {
			return nil, fmt.Sprintf("%q in its data is no text", steps.Clip(name, 100))
		}
		size += len(name) + len(text)
		texts[name] = text
	}
	if len(texts) > mostEntries || size > longestEntries {
		return nil, fmt.Sprintf("it has more than %d keys or %d bytes", mostEntries, longestEntries)
	}
	return texts, ""
}
