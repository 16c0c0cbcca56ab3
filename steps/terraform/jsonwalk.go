package terraform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// countingReader remembers how much was read and a failure of the source, which
// the decoder would not tell from bad JSON.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// readObject calls value for each key of an object; value must read the value.
func readObject(dec *json.Decoder, value func(key string) error) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return fmt.Errorf("%v where an object should be", tok)
	}
	return members(dec, value)
}

// readObjectOr is readObject that takes null for an empty object.
func readObjectOr(dec *json.Decoder, value func(key string) error) error {
	tok, err := dec.Token()
	if err != nil || tok == nil {
		return err
	}
	if tok != json.Delim('{') {
		return fmt.Errorf("%v where an object should be", tok)
	}
	return members(dec, value)
}

func members(dec *json.Decoder, value func(key string) error) error {
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return fmt.Errorf("%v where a key should be", tok)
		}
		if err := value(key); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// readArrayOr calls element before each element of an array; null is an empty
// one.
func readArrayOr(dec *json.Decoder, element func() error) error {
	tok, err := dec.Token()
	if err != nil || tok == nil {
		return err
	}
	if tok != json.Delim('[') {
		return fmt.Errorf("%v where a list should be", tok)
	}
	for dec.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// skip reads one value and forgets it.
func skip(dec *json.Decoder) error {
	depth := 0
	for {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// decode reads one value into v; a value of another shape leaves v as far as it
// came.
func decode(dec *json.Decoder, v any) error {
	err := dec.Decode(v)
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) {
		return nil
	}
	return err
}

func readString(dec *json.Decoder, to *string) error { return decode(dec, to) }

// readInt reads a whole number; ok is false for anything else.
func readInt(dec *json.Decoder) (n int64, ok bool, err error) {
	var v any
	if err := dec.Decode(&v); err != nil {
		return 0, false, err
	}
	num, isNum := v.(json.Number)
	if !isNum {
		return 0, false, nil
	}
	n, perr := strconv.ParseInt(string(num), 10, 64)
	return n, perr == nil, nil
}
