package weaken

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// object compares what every kind has.
func (j *judge) object(before, after map[string]any) {
	for _, key := range keys(before, after) {
		b, was := before[key]
		a, is := after[key]
		switch {
		case key == "apiVersion" || key == "kind" || key == "status" || j.told(key):
		case key == "metadata":
			j.metadata(asMap(b), asMap(a))
		default:
			j.walk([]string{key}, b, was, a, is)
		}
	}
}

// told reports whether a part of the object is judged by what its kind means.
func (j *judge) told(key string) bool {
	switch j.kind.Group {
	case "rbac.authorization.k8s.io":
		return key == "rules" || key == "subjects" || key == "roleRef"
	case "networking.k8s.io":
		return j.kind.Kind == "NetworkPolicy" && key == "spec"
	}
	return false
}

func (j *judge) metadata(before, after map[string]any) {
	for _, set := range []string{"labels", "annotations"} {
		b, a := asMap(before[set]), asMap(after[set])
		for _, key := range keys(b, a) {
			path := []string{"metadata", set, key}
			v, was := b[key]
			w, is := a[key]
			switch {
			case strings.HasPrefix(key, "pod-security.kubernetes.io/") && !reflect.DeepEqual(v, w):
				j.say(Widens, path, "it says how strictly Pods are judged")
			case set == "labels" && j.kind == (Kind{"", "Namespace"}) && !reflect.DeepEqual(v, w) && is && !j.made:
				j.say(Widens, path, "policies and admission of others go by the labels of a namespace")
			case was && !empty(v) && (!is || empty(w) || reflect.TypeOf(w) != reflect.TypeOf(v)):
				j.say(Removes, path, "it is taken away; what goes by it does not see the object any more")
			}
		}
	}
}

// walk compares one value before and after, wherever it stands.
func (j *judge) walk(path []string, before any, was bool, after any, is bool) {
	if was && is && reflect.DeepEqual(before, after) {
		return
	}
	key := path[len(path)-1]
	switch {
	case was && !empty(before) && (!is || empty(after)) && !(is && isMap(before) && isMap(after) && !selector(key)): // of a map the parts say it
		j.say(Removes, path, "it is taken away")
		j.opened(path, key, before, was, after, is)
		return
	case was && is && selector(key):
		j.say(Removes, path, "it selects something else: what it held before it does not hold any more")
		return
	}
	j.opened(path, key, before, was, after, is)
	switch a := after.(type) {
	case map[string]any:
		if was && !empty(before) && !isMap(before) {
			j.say(Removes, path, "it is something else")
			return
		}
		b := asMap(before)
		for _, name := range keys(b, a) {
			v, had := b[name]
			w, has := a[name]
			j.walk(append(slices.Clone(path), name), v, had, w, has)
		}
	case []any:
		b, ok := before.([]any)
		if was && !empty(before) && !ok {
			j.say(Removes, path, "it is something else")
			return
		}
		j.list(path, b, a)
	default:
		if !was || empty(before) {
			return
		}
		j.scalar(path, key, before, after)
	}
}

// list pairs the items of two lists: by name, then those that are the same, and
// the rest in order. What finds no partner is gone, or new.
func (j *judge) list(path []string, before, after []any) {
	at := func(i int) []string { return append(slices.Clone(path), strconv.Itoa(i)) }
	taken := make([]bool, len(after))
	var rest []int
	find := func(fits func(any) bool) int {
		for i := range after {
			if !taken[i] && fits(after[i]) {
				taken[i] = true
				return i
			}
		}
		return -1
	}
	for i, b := range before {
		if find(func(a any) bool { return reflect.DeepEqual(a, b) }) < 0 {
			rest = append(rest, i)
		}
	}
	words := arguments(path[len(path)-1])
	for _, i := range rest {
		b := before[i]
		name, is := called(b)
		n := -1
		switch {
		case is:
			n = find(func(a any) bool { other, _ := called(a); return other == name })
		case isMap(b) || words:
			n = find(func(a any) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) })
		}
		if n < 0 {
			j.say(Removes, at(i), "an item of the list is taken away")
			continue
		}
		j.walk(at(n), b, true, after[n], true)
	}
	for i := range after {
		if !taken[i] {
			j.walk(at(i), nil, false, after[i], true)
		}
	}
}

// scalar judges a value that is replaced by another.
func (j *judge) scalar(path []string, key string, before, after any) {
	if reflect.TypeOf(before) != reflect.TypeOf(after) && !(isNumber(before) && isNumber(after)) && !quantities(before, after) {
		j.say(Removes, path, "it is something else")
		return
	}
	if isNumber(after) && number(after) == 0 && number(before) != 0 {
		j.say(Removes, path, "it is set to nothing")
	}
	b, text := before.(string)
	a, _ := after.(string)
	if text {
		if why := gutted(b, a); why != "" {
			j.say(Removes, path, why)
		}
	}
	if len(path) > 2 && path[len(path)-2] == "limits" && path[len(path)-3] == "resources" && beyond(before, after) {
		j.say(Removes, path, "it is raised tenfold and more: that is no limit")
	}
	if strings.EqualFold(key, "reclaimPolicy") || strings.EqualFold(key, "persistentVolumeReclaimPolicy") {
		if a == "Delete" {
			j.say(Removes, path, "what is released is deleted from then on, with its data")
		}
	}
}

// selector tells a field by which an object says what it is about.
func selector(key string) bool {
	return strings.HasSuffix(strings.ToLower(key), "selector") || key == "matchLabels" || key == "matchExpressions" || key == "scopes"
}

func arguments(key string) bool { return key == "command" || key == "args" }
