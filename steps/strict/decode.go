package strict

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Form reads one value in a way of its own. It returns what the field holds, or nil
// after it noted a problem.
type Form func(r *Reader, n *yaml.Node, what string) any

// Checker is a struct with a rule over several of its fields. Check is called when
// each of them was read without a problem.
type Checker interface {
	Check(r *Reader, n *yaml.Node)
}

// Envelope reads a document of a kind into the struct that into points at. Every file
// that teams write for handrail begins with the same two lines.
func (r *Reader) Envelope(src []byte, kind string, into any) error {
	doc := r.Document(src)
	if doc == nil {
		return r.Problems.Sorted()
	}
	r.Versioned(doc, kind, r.Struct(doc, r.What, into, "apiVersion", "kind"))
	return r.Problems.Sorted()
}

// Versioned checks the two keys by which a document says what it is.
func (r *Reader) Versioned(doc *yaml.Node, kind string, f map[string]*yaml.Node) {
	for _, want := range [...]struct{ key, value string }{{"apiVersion", Version}, {"kind", kind}} {
		if n := f[want.key]; n == nil {
			r.Fail(doc, "write "+want.key+": "+want.value, "%s is missing", want.key)
		} else {
			r.OneOf(n, want.key, []string{want.value})
		}
	}
}

// Struct reads a mapping into the struct that into points at. A field takes part when
// it has a key:
//
//	Dir   string        `key:"dir,required" as:"workspace"`
//	Pace  time.Duration `key:"pace"`
//	Rate  *int          `key:"rate" range:"0 100"`
//	Ops   []string      `key:"operations" of:"operation" oneof:"CREATE UPDATE"`
//
// `key` may go on with required, and with short where a text alone stands for the
// whole mapping. `as` names a [Form] of the reader for the field, `each` one for the
// items of a list or mapping; `of` is what an item is called in a problem; `hint` says what to write where the field is missing. Text is not
// empty, a duration is above zero; what is not given stays as it is.
//
// Keys of more are allowed and left to the caller. It returns the values by key.
func (r *Reader) Struct(n *yaml.Node, what string, into any, more ...string) map[string]*yaml.Node {
	v := reflect.ValueOf(into).Elem()
	fields := keyed(v)
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	before := len(r.Problems)
	given := r.Fields(n, what, append(keys, more...)...)
	for _, f := range fields {
		switch at := given[f.key]; {
		case at != nil:
			r.fill(at, f.value, f.key, f.tag)
		case f.required && n.Kind == yaml.MappingNode:
			r.Fail(n, f.tag.Get("hint"), "%s is missing", f.key)
		}
	}
	if c, ok := into.(Checker); ok && len(r.Problems) == before {
		c.Check(r, n)
	}
	return given
}

// field is one that takes part.
type field struct {
	key             string
	required, short bool
	tag             reflect.StructTag
	value           reflect.Value
}

// keyed lists the fields of a struct and of the structs embedded in it.
func keyed(v reflect.Value) []field {
	var out []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, ok := f.Tag.Lookup("key")
		switch {
		case ok:
			name, options, _ := strings.Cut(name, ",")
			out = append(out, field{name, strings.Contains(options, "required"), strings.Contains(options, "short"), f.Tag, v.Field(i)})
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, keyed(v.Field(i))...)
		}
	}
	return out
}

// fill reads one value by the type of its field.
func (r *Reader) fill(n *yaml.Node, v reflect.Value, what string, tag reflect.StructTag) {
	if as := tag.Get("as"); as != "" {
		if got := r.form(as)(r, n, what); got != nil {
			v.Set(reflect.ValueOf(got))
		}
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(r.Span(n, what)))
	case v.Kind() == reflect.String && tag.Get("oneof") != "":
		v.SetString(r.OneOf(n, what, strings.Fields(tag.Get("oneof"))))
	case v.Kind() == reflect.String:
		v.SetString(r.Text(n, what))
	case v.Kind() == reflect.Bool:
		v.SetBool(r.Flag(n, what))
	case v.Kind() == reflect.Int:
		low, high, _ := strings.Cut(tag.Get("range"), " ")
		v.SetInt(int64(r.Number(n, what, bound(low), bound(high))))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(n, v.Elem(), what, tag)
	case v.Kind() == reflect.Slice:
		items := r.Items(n, what)
		out := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, item := range items {
			r.fill(item, out.Index(i), cmp.Or(tag.Get("of"), what), element(tag))
		}
		v.Set(out)
	case v.Kind() == reflect.Map:
		out := reflect.MakeMap(v.Type())
		r.Each(n, what, func(key, value *yaml.Node) {
			elem := reflect.New(v.Type().Elem()).Elem()
			r.fill(value, elem, cmp.Or(tag.Get("of"), key.Value), element(tag))
			out.SetMapIndex(reflect.ValueOf(key.Value), elem)
		})
		v.Set(out)
	case v.Kind() == reflect.Struct:
		for _, f := range keyed(v) {
			if f.short && n.Kind == yaml.ScalarNode {
				f.value.SetString(r.Text(n, what))
				return
			}
		}
		r.Struct(n, cmp.Or(tag.Get("of"), what), v.Addr().Interface())
	default:
		panic("strict: no way to read a " + v.Type().String())
	}
}

// element are the tags that hold for the items of a list or mapping.
func element(tag reflect.StructTag) reflect.StructTag {
	out := tag
	if each := tag.Get("each"); each != "" {
		out = reflect.StructTag(`as:` + strconv.Quote(each))
	}
	return out
}

// bound is a number in a tag, 0 for none.
func bound(s string) int {
	i, _ := strconv.Atoi(s)
	return i
}

func (r *Reader) form(name string) Form {
	f, ok := r.Forms[name]
	if !ok {
		panic("strict: no form " + name)
	}
	return f
}

// Each calls f for every entry of a mapping, in the order of the file; not at all
// when n is nil.
func (r *Reader) Each(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "", "%s must be a mapping of names to values", what)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i], n.Content[i+1])
	}
}
