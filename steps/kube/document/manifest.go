package document

import (
	"encoding/json"
	"fmt"
	"handrail/steps"
	"strings"
)

// Manifest reads the file of one object; dir is where a relative path begins. Numbers
// are as Parse has them.
func Manifest(dir, file string) (map[string]any, error) {
	src, err := steps.ReadFile(steps.Below(dir, file), MaxSize)
	if err != nil {
		return nil, fmt.Errorf("the manifest: %w", err)
	}
	doc, err := Parse(src)
	if err != nil {
		return nil, fmt.Errorf("the manifest %q: %w", file, err)
	}
	m, ok := doc.(map[string]any)
	if !ok || !isText(m["apiVersion"]) || !isText(m["kind"]) {
		return nil, fmt.Errorf("the manifest %q is no object: apiVersion and kind are missing", file)
	}
	if strings.HasSuffix(m["kind"].(string), "List") {
		if _, is := m["items"]; is {
			return nil, fmt.Errorf("the manifest %q is a list: one object at a time", file)
		}
	}
	return m, nil
}

func isText(v any) bool { s, ok := v.(string); return ok && s != "" }

// Numbers makes of json.Number, at any depth, what the objects of Kubernetes hold.
func Numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = Numbers(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Numbers(v[i])
		}
		return out
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}
