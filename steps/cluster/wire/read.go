package wire

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// errBroken says that an answer does not hold together.
var errBroken = errors.New("it is no whole protobuf")

// deepest bounds how far a shape may nest.
const deepest = 20

// value is one field as it stands in a message.
type value struct {
	kind protowire.Type
	raw  []byte // of kind bytes
	n    uint64 // of kind varint
}

func (v value) bytes() ([]byte, error) {
	if v.kind != protowire.BytesType {
		return nil, fmt.Errorf("%w: a number where a text was to be", errBroken)
	}
	return v.raw, nil
}

// fields calls each with every field of a message, in their order.
func fields(b []byte, each func(protowire.Number, value) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return errBroken
		}
		b = b[size:]
		v := value{kind: kind}
		switch kind {
		case protowire.BytesType:
			v.raw, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			v.n, size = protowire.ConsumeVarint(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return errBroken
		}
		b = b[size:]
		if err := each(n, v); err != nil {
			return err
		}
	}
	return nil
}

// reader builds one item after the other out of the same mappings: a page has
// thousands, and each would be garbage a moment later.
type reader struct{ used, free []map[string]any }

func (r *reader) mapping() map[string]any {
	var m map[string]any
	if n := len(r.free); n > 0 {
		m, r.free = r.free[n-1], r.free[:n-1]
	} else {
		m = map[string]any{}
	}
	r.used = append(r.used, m)
	return m
}

// forget takes back every mapping of the last item.
func (r *reader) forget() {
	for _, m := range r.used {
		clear(m)
	}
	r.free, r.used = append(r.free, r.used...), r.used[:0]
}

// read keeps what of asks for.
func (r *reader) read(b []byte, of Shape, into map[string]any, depth int) error {
	if depth > deepest {
		return fmt.Errorf("it nests more than %d deep", deepest)
	}
	return fields(b, func(n protowire.Number, v value) error {
		f, asked := of[n]
		if !asked {
			return nil
		}
		return r.field(f, v, into, depth)
	})
}

func (r *reader) field(f Field, v value, into map[string]any, depth int) error {
	if f.form == truth {
		if v.kind != protowire.VarintType {
			return fmt.Errorf("%w: its %s is neither true nor false", errBroken, f.name)
		}
		return f.once(into, v.n != 0)
	}
	raw, err := v.bytes()
	if err != nil {
		return err
	}
	switch f.form {
	case text:
		return f.once(into, string(raw))
	case moment:
		at, err := momentOf(raw)
		if err != nil {
			return err
		}
		return f.once(into, at)
	case texts:
		list, _ := into[f.name].([]any)
		into[f.name] = append(list, string(raw))
		return nil
	case table:
		rows, ok := into[f.name].(map[string]any)
		if !ok {
			rows = r.mapping()
			into[f.name] = rows
		}
		return row(raw, rows)
	case messages:
		one := r.mapping()
		list, _ := into[f.name].([]any)
		into[f.name] = append(list, one)
		return r.read(raw, f.of, one, depth+1)
	}
	if f.name == "" {
		return r.read(raw, f.of, into, depth+1)
	}
	one := r.mapping()
	if err := f.once(into, one); err != nil {
		return err
	}
	return r.read(raw, f.of, one, depth+1)
}

// once keeps what a server sends once. Which of two would count is a question that
// is not asked.
func (f Field) once(into map[string]any, v any) error {
	if _, twice := into[f.name]; twice {
		return fmt.Errorf("%w: it has %s twice", errBroken, f.name)
	}
	into[f.name] = v
	return nil
}

// row keeps one pair of a table.
func row(raw []byte, rows map[string]any) error {
	var key, val string
	err := fields(raw, func(n protowire.Number, v value) error {
		if n > 2 {
			return nil
		}
		b, err := v.bytes()
		if n == 1 {
			key = string(b)
		} else {
			val = string(b)
		}
		return err
	})
	rows[key] = val
	return err
}

// momentOf is a time as JSON has it, to the second.
func momentOf(raw []byte) (string, error) {
	var seconds int64
	err := fields(raw, func(n protowire.Number, v value) error {
		if n != 1 {
			return nil
		}
		if v.kind != protowire.VarintType {
			return fmt.Errorf("%w: a time that is no number", errBroken)
		}
		seconds = int64(v.n)
		return nil
	})
	at := time.Unix(seconds, 0).UTC()
	if err == nil && (at.Year() < 0 || at.Year() > 9999) {
		err = fmt.Errorf("%w: an invalid time", errBroken)
	}
	return at.Format(time.RFC3339), err
}
