package weaken

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	quantity "k8s.io/apimachinery/pkg/api/resource"
)

func keys(a, b map[string]any) []string {
	var out []string
	for _, m := range []map[string]any{a, b} {
		for key := range m {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func isMap(v any) bool {
	_, is := v.(map[string]any)
	return is
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

// empty is a value that holds nothing. A number or a boolean always says
// something.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// called is the name of an item of a list.
func called(item any) (string, bool) {
	m := asMap(item)
	for _, key := range []string{"name", "key", "topologyKey", "containerPort", "port"} {
		switch v := m[key].(type) {
		case string:
			return key + "=" + v, v != ""
		case json.Number:
			return key + "=" + v.String(), true
		}
	}
	return "", false
}

func isNumber(v any) bool {
	switch v.(type) {
	case json.Number, int64, float64, int:
		return true
	}
	return false
}

func number(v any) float64 {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err == nil {
			return f
		}
	case int64:
		return float64(v)
	case int:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// beyond reports whether a quantity is raised so far that it limits nothing.
func beyond(before, after any) bool {
	b, errB := quantity.ParseQuantity(fmt.Sprint(before))
	a, errA := quantity.ParseQuantity(fmt.Sprint(after))
	if errB != nil || errA != nil {
		return true
	}
	return a.AsApproximateFloat64() > 10*b.AsApproximateFloat64()
}

func raised(before, after any) bool {
	b, errB := quantity.ParseQuantity(fmt.Sprint(before))
	a, errA := quantity.ParseQuantity(fmt.Sprint(after))
	return errB != nil || errA != nil || a.Cmp(b) > 0
}

// quantities reports whether both are amounts, which may be written as texts or
// as numbers.
func quantities(a, b any) bool {
	_, errA := quantity.ParseQuantity(fmt.Sprint(a))
	_, errB := quantity.ParseQuantity(fmt.Sprint(b))
	return errA == nil && errB == nil
}
