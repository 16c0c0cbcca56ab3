package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps/strict"
)

// mostBytes bounds a file that is edited.
const mostBytes = 1 << 20

// Path leads to a field of an object, which at spells as keys with dots and items as [name=NAME] or [PLACE]; nil where the
// object has no such field, or several are spelled so.
func Path(o map[string]any, at string) []string {
	var found [][]string
	lead(o, at, nil, &found)
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

func lead(v any, rest string, so []string, found *[][]string) {
	if rest == "" {
		*found = append(*found, slices.Clone(so))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if len(so) > 0 && !strings.HasPrefix(rest, ".") {
			return
		}
		rest = strings.TrimPrefix(rest, ".")
		for key, below := range v {
			if after, is := strings.CutPrefix(rest, key); is && (after == "" || after[0] == '.' || after[0] == '[') {
				lead(below, after, append(so, key), found)
			}
		}
	case []any:
		for i, item := range v {
			place := "[" + strconv.Itoa(i) + "]"
			if m, is := item.(map[string]any); is {
				if name, is := m["name"].(string); is && strings.HasPrefix(rest, "[name="+name+"]") {
					place = "[name=" + name + "]"
				}
			}
			if after, is := strings.CutPrefix(rest, place); is {
				lead(item, after, append(so, place), found)
			}
		}
	}
}

// Cut is the path up to the first part that an object lacks; what lacks a field may lack what holds it, too.
func Cut(o map[string]any, way []string) []string {
	var v any = o
	for i, step := range way {
		switch of := v.(type) {
		case map[string]any:
			below, has := of[step]
			if !has {
				return way[:i+1]
			}
			v = below
		case []any:
			at := slices.IndexFunc(of, func(item any) bool { m, _ := item.(map[string]any); return "[name="+fmt.Sprint(m["name"])+"]" == step })
			if n, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && n >= 0 && n < len(of) {
				at = n
			}
			if at < 0 {
				return way[:i+1]
			}
			v = of[at]
		default:
			return way[:i+1]
		}
	}
	return way
}

// errUnread says that a file is not edited as it is.
var errUnread = errors.New("it cannot be read as YAML")

// documents are those of a file.
func documents(src []byte) (docs []*yaml.Node, err error) {
	if len(src) > mostBytes {
		return nil, fmt.Errorf("it has more than %d bytes", mostBytes)
	}
	// The library panics on what it takes for impossible, and a file of a repository may hold anything.
	defer func() {
		if recover() != nil {
			docs, err = nil, errUnread
		}
	}()
	if docs, err = strict.Stream(src); err != nil {
		return nil, errUnread
	}
	return docs, nil
}

// objectsOf are the objects of a document; those of a list stand for themselves.
func objectsOf(doc *yaml.Node) []*yaml.Node {
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	root := doc.Content[0]
	items := value(root, "items")
	if items == nil || items.Kind != yaml.SequenceNode || !strings.HasSuffix(text(root, "kind"), "List") {
		return []*yaml.Node{root}
	}
	return items.Content
}

// value is what a mapping has under a key; nil for nothing, and where the key stands twice.
func value(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var found *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			if found != nil {
				return nil
			}
			found = n.Content[i+1]
		}
	}
	return found
}

func text(n *yaml.Node, key string) string {
	if v := value(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// is reports whether a node is the object. loose takes a part of the name for it, which a tool may have added to.
func (of Object) is(n *yaml.Node, loose bool) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	group, _, has := strings.Cut(text(n, "apiVersion"), "/")
	if !has {
		group = ""
	}
	meta := value(n, "metadata")
	name, namespace := text(meta, "name"), text(meta, "namespace")
	return group == of.Group && text(n, "kind") == of.Kind && name != "" && (name == of.Name || loose && strings.Contains(of.Name, name)) &&
		(namespace == "" || of.Namespace == "" || namespace == of.Namespace || loose)
}

// place is an object in a file.
type place struct {
	docs   []*yaml.Node
	object *yaml.Node
}

// errAbsent says that a file does not have the object.
var errAbsent = errors.New("no file has the object under its name")

// find is the object of an edit in a file.
func find(src []byte, e Edit, loose bool) (place, error) {
	docs, err := documents(src)
	if err != nil {
		return place{}, err
	}
	p := place{docs: docs}
	for _, doc := range docs {
		for _, o := range objectsOf(doc) {
			if !e.Of.is(o, loose) {
				continue
			}
			if p.object != nil {
				return place{}, errors.New("the file has the object twice")
			}
			p.object = o
		}
	}
	switch {
	case p.object == nil:
		return place{}, errAbsent
	case value(p.object, "sops") != nil:
		return place{}, errors.New("SOPS encrypted it in Git")
	}
	return p, nil
}

// Places are the files in which an edit can be made, in order: those that have the object and the value. loose takes an object for it
// whose name is a part of its name, in any namespace. why is said where there is none.
func Places(files map[string][]byte, e Edit, loose bool) (names []string, why string) {
	why = errAbsent.Error()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
		default:
			continue
		}
		p, err := find(files[name], e, loose)
		if err == nil {
			err = p.has(e)
		}
		switch {
		case err == nil:
			names = append(names, name)
		case !errors.Is(err, errAbsent) && !errors.Is(err, errUnread):
			why = name + ": " + err.Error()
		}
	}
	return names, why
}

// has reports why the object does not have the field as the edit takes it to be.
func (p place) has(e Edit) error {
	if e.New {
		if len(e.Path) == 0 {
			return errNoField
		}
		on, err := walk(p.object, e.Path[:len(e.Path)-1])
		switch {
		case err != nil:
			return err
		case on.at.Kind != yaml.MappingNode || value(on.at, e.Path[len(e.Path)-1]) != nil:
			return errNoField
		}
		return nil
	}
	on, err := walk(p.object, e.Path)
	switch {
	case err != nil:
		return err
	case e.Gone && on.at.Kind != yaml.ScalarNode: // more than the field goes with it
		return nil
	case !sameValue(on.at, e.From):
		return errors.New("it has another value there than what is rendered")
	}
	return nil
}

// step is a node with what leads to it.
type step struct {
	at   *yaml.Node
	over *yaml.Node // mapping or list that holds it; nil for the object itself
	i    int        // its place in the content of over
	flow bool       // it stands between brackets
}

var errNoField = errors.New("it does not have the field there")

// walk goes to a field. What an anchor, an alias or a merge key could bring elsewhere is not followed.
func walk(object *yaml.Node, way []string) (step, error) {
	s := step{at: object, flow: object.Style&yaml.FlowStyle != 0}
	for i := 0; ; i++ {
		if s.at.Kind == yaml.AliasNode || s.at.Anchor != "" {
			return step{}, errors.New("an anchor or an alias stands there, by which other fields change as well")
		}
		s.flow = s.flow || s.at.Style&yaml.FlowStyle != 0
		if i == len(way) {
			return s, nil
		}
		next := -1
		switch s.at.Kind {
		case yaml.MappingNode:
			for k := 0; k+1 < len(s.at.Content); k += 2 {
				key := s.at.Content[k]
				switch {
				case key.Kind != yaml.ScalarNode || key.Anchor != "":
					return step{}, errors.New("a key there is no plain text")
				case key.Value == "<<" && key.Style == 0:
					return step{}, errors.New("a merge key stands there")
				case key.Value == way[i] && next >= 0:
					return step{}, errors.New("a key stands twice there")
				case key.Value == way[i]:
					next = k + 1
				}
			}
		case yaml.SequenceNode:
			if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(way[i], "["), "]")); err == nil && n >= 0 && n < len(s.at.Content) {
				next = n
				break
			}
			for k, item := range s.at.Content {
				if item.Kind == yaml.MappingNode && "[name="+text(item, "name")+"]" == way[i] {
					if next >= 0 {
						return step{}, errors.New("an item of that name stands twice there")
					}
					next = k
				}
			}
		}
		if next < 0 {
			return step{}, errNoField
		}
		s = step{at: s.at.Content[next], over: s.at, i: next, flow: s.flow}
	}
}

// sameValue reports whether a node has a value, as JSON tells them apart.
func sameValue(n *yaml.Node, v any) bool {
	var is any
	if n.Kind == yaml.MappingNode || hasAlias(n) || n.Decode(&is) != nil {
		return false
	}
	a, errA := json.Marshal(is)
	b, errB := json.Marshal(v)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}
