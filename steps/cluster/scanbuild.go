package cluster

import (
	"bytes"
	"strconv"
)

// build passes one value and returns it as util/json of Kubernetes would: whole
// numbers as int64, other numbers as float64, the last of two members of a name.
// It makes one pass and no copy of the bytes.
func (s *Scanner) build() (any, error) {
	s.space()
	if s.i >= len(s.b) {
		return nil, ErrJSON
	}
	switch s.b[s.i] {
	case '{':
		return s.mapping()
	case '[':
		list := []any{}
		err := s.Elements(func() error {
			v, err := s.build()
			list = append(list, v)
			return err
		})
		return list, err
	case '"':
		raw, err := s.Value()
		if err != nil {
			return nil, err
		}
		text, ok := TextOf(raw)
		if !ok {
			return nil, ErrJSON
		}
		return text, nil
	}
	raw, err := s.Value()
	if err != nil {
		return nil, err
	}
	return wordOf(raw)
}

func (s *Scanner) mapping() (map[string]any, error) {
	out := map[string]any{}
	err := s.Members(func(key []byte) error {
		name := string(key)
		if bytes.IndexByte(key, '\\') >= 0 || !isASCII(key) {
			var ok bool
			if name, ok = TextOf(append(append([]byte{'"'}, key...), '"')); !ok {
				return ErrJSON
			}
		}
		v, err := s.build()
		out[name] = v
		return err
	})
	return out, err
}

func wordOf(raw []byte) (any, error) {
	switch string(raw) {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	if bytes.IndexByte(raw, '.') < 0 {
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return nil, ErrJSON
	}
	return f, nil
}
