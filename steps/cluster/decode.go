package cluster

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Each reads a list in pages and builds of each item what T keeps of it.
func Each[T any](ctx context.Context, c *Client, path string, query url.Values, see func(T)) error {
	return EachAs(ctx, c, path, AsJSON, query, see)
}

// EachAs is [Each] for a list in the form accept.
func EachAs[T any](ctx context.Context, c *Client, path, accept string, query url.Values, see func(T)) error {
	names := json.MatchCaseInsensitiveNames(untagged(reflect.TypeFor[T](), map[reflect.Type]bool{}))
	read := func(s *Scanner) (Object, error) {
		part, err := s.Value()
		if err != nil {
			return Object{}, err
		}
		var v T
		if err := decodeItem(part, &v, names); err != nil {
			return Object{}, err
		}
		see(v)
		return Object{}, nil
	}
	return c.listForm(ctx, path, Form{Accept: accept, Lean: read, slow: true}, query, func(Object) {})
}

// asStored takes of an object what the API server takes of it: of two members of a name the last one.
var asStored = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decodeItem reads one item of a list into v. Its errors tell the field, never its value, which the text of the library would.
func decodeItem(raw []byte, v any, names json.Options) error {
	err := json.Unmarshal(raw, v, asStored, names)
	var wrong *json.SemanticError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Err != nil:
		return fmt.Errorf("%s: %w", wrong.JSONPointer, wrong.Err)
	}
	return fmt.Errorf("%s is a JSON %v, which it cannot be", wrong.JSONPointer, wrong.JSONKind)
}

// untagged reports whether a field of t has no tag with the name of its member. Such a one matches in any case, as in the standard
// library, which takes twice the time: a type for long lists has tags.
func untagged(t reflect.Type, seen map[reflect.Type]bool) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || reflect.PointerTo(t).Implements(reflect.TypeFor[stdjson.Unmarshaler]()) {
		return false
	}
	seen[t] = true
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name == "" || untagged(f.Type, seen) {
			return true
		}
	}
	return false
}
