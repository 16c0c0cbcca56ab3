package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"handrail/steps/strict"
)

// Bounds of a document.
const (
	mostDeep   = 64
	mostNested = 2_000_000 // objects and lists
	mostItems  = mostResults
	mostYAML   = 8 << 20 // a tree of nodes takes some fifty times the bytes
)

// shape is what the outside of a JSON document looks like.
type shape struct {
	list bool
	keys map[string]bool // of the object, or of the first object of the list
}

// level is one object or list that is open.
type level struct {
	list bool
	want bool // a key comes next
	seen map[string]bool
	n    int
}

// outline reads one JSON value to its end. It refuses what follows it, what is nested too deep or holds too much, and a key that
// stands twice in whatever case: the library takes the last of them, in any case, and an engine may have meant the first.
func outline(ctx context.Context, raw []byte) (shape, error) {
	dec := json.NewDecoder(until{ctx, bytes.NewReader(raw)})
	dec.UseNumber()
	out := shape{keys: map[string]bool{}}
	var open []level
	nested := 0
	for first := true; first || len(open) > 0; first = false {
		tok, err := dec.Token()
		if err != nil {
			return out, cutOr(err)
		}
		delim, _ := tok.(json.Delim)
		if delim == '}' || delim == ']' {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			at := &open[len(open)-1]
			if !at.list && at.want {
				key, _ := tok.(string)
				if at.want = false; at.seen[strings.ToLower(key)] {
					return out, fmt.Errorf("the key %.40q stands twice in one object", key)
				}
				at.seen[strings.ToLower(key)] = true
				if len(open) == 1 && !out.list || len(open) == 2 && out.list && open[0].n == 1 {
					out.keys[key] = true
				}
				continue
			}
			at.want = true
			if at.n++; at.list && at.n > mostItems {
				return out, fmt.Errorf("a list has more than %d items", mostItems)
			}
		}
		if delim == 0 {
			if len(open) == 0 {
				return out, errors.New("it is a single value, and no document of a policy engine")
			}
			continue
		}
		if nested++; nested > mostNested || len(open) >= mostDeep {
			return out, fmt.Errorf("it is nested more than %d deep, or has more than %d objects and lists", mostDeep, mostNested)
		}
		if len(open) == 0 {
			out.list = delim == '['
		}
		open = append(open, level{list: delim == '[', want: true, seen: map[string]bool{}})
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return out, errors.New("something follows the JSON document")
	}
	return out, nil
}

// until reads until ctx ends: a large document takes seconds.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// cutOr tells a document that breaks off from one that is wrong. The text of the library may quote what it read, so it is not told.
func cutOr(err error) error {
	var wrong *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it breaks off before its end")
	case errors.As(err, &wrong):
		return fmt.Errorf("it is no JSON from byte %d on", wrong.Offset)
	}
	return errors.New("it is no JSON")
}

// into reads a document that has an outline.
func into(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return fmt.Errorf("its %s is of another type than the format says", wrong.Field)
	}
	return errors.New("a value is of another type than the format says")
}

// word is a text, or a number or a truth that stands for one.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(raw []byte) error {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
	case string:
		*w = word(v)
	case json.Number:
		*w = word(v.String())
	case bool:
		*w = word(strconv.FormatBool(v))
	default:
		return errors.New("no text")
	}
	return nil
}

// present is the first word that is not empty.
func present(list ...word) string {
	for _, w := range list {
		if strings.TrimSpace(string(w)) != "" {
			return string(w)
		}
	}
	return ""
}

// asJSON is one YAML document in JSON, so that each format has one reader.
func asJSON(text []byte) ([]byte, error) {
	if len(text) > mostYAML {
		return nil, fmt.Errorf("it has more than the %d MiB of YAML that are read: save it as JSON", mostYAML>>20)
	}
	root, err := strict.Single(text)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	var second *strict.SecondError
	if errors.As(err, &second) && second.Err == nil {
		return nil, errors.New("it holds more than one document")
	}
	if err != nil {
		return nil, errors.New("it is not YAML, or breaks off")
	}
	var b bytes.Buffer
	if err := writeJSON(&b, root, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *strict.Node, depth int) error {
	if depth > mostDeep {
		return fmt.Errorf("it is nested more than %d deep", mostDeep)
	}
	if why := strict.Odd(n); why != strict.Plain {
		return fmt.Errorf("line %d has an %s, which is not followed", n.Line, why)
	}
	switch n.Kind {
	case strict.Mapping:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != strict.Scalar || key.Tag == "!!merge" || strict.Odd(key) != strict.Plain {
				return fmt.Errorf("line %d has a key that is no word", key.Line)
			}
			if i > 0 {
				b.WriteByte(',')
			}
			quoteJSON(b, key.Value)
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case strict.Sequence:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, c, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		switch {
		case n.Tag == "!!null":
			b.WriteString("null")
		case n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
			b.WriteString(n.Value)
		case n.Tag == "!!int" && json.Valid([]byte(n.Value)):
			b.WriteString(n.Value)
		default:
			quoteJSON(b, n.Value)
		}
	}
	return nil
}

func quoteJSON(b *bytes.Buffer, s string) {
	raw, _ := json.Marshal(s) // a text always marshals
	b.Write(raw)
}
