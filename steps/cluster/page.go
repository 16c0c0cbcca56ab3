package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
)

// ListMeta is what a page says about the list.
type ListMeta struct {
	Continue           string `json:"continue"`
	RemainingItemCount *int64 `json:"remainingItemCount"`
}

// Page reads one page of a list: the member named items is an array whose
// elements item passes. before, when set, is another member that item needs and
// that is read first wherever it stands.
type Page struct {
	Items  string
	Before string
	Read   func(raw []byte) error
	Item   func(s *Scanner) error
}

func (p Page) Parse(raw []byte) (ListMeta, error) {
	var md ListMeta
	var kind string
	var late []byte // items that stand before what they need
	ready, found := p.Before == "", false
	s := NewScanner(raw)
	err := s.Members(func(key []byte) error {
		switch string(key) {
		case p.Items:
			if found {
				return fmt.Errorf("it has %s twice", p.Items)
			}
			found = true
			if !ready {
				var err error
				late, err = s.Value()
				return err
			}
			return p.all(s)
		case p.Before:
			value, err := s.Value()
			if err != nil || ready {
				return err
			}
			ready = true
			return p.Read(value)
		case "metadata":
			value, err := s.Value()
			if err != nil {
				return err
			}
			return json.Unmarshal(value, &md)
		case "kind":
			value, err := s.Value()
			kind, _ = TextOf(value)
			return err
		}
		return s.Skip()
	})
	switch {
	case err != nil:
		return md, err
	case s.end() != nil:
		return md, ErrJSON
	case !found || !ready:
		return md, fmt.Errorf("it is a %q that lists nothing", steps.Clip(kind, 100))
	case late != nil:
		err = p.all(NewScanner(late))
	}
	return md, err
}

func (p Page) all(s *Scanner) error {
	if s.Null() {
		return nil
	}
	return s.Elements(func() error { return p.Item(s) })
}

// Columns are the columns of a table and which of them is the name.
type Columns struct {
	Titles []string
	Name   int // -1 where no column is
}

var errNoColumns = errors.New("its columns cannot be read")

// MostColumns bounds a header; kinds have a dozen.
const MostColumns = 200

func ParseColumns(raw []byte) (Columns, error) {
	var defs []struct{ Name, Type, Format string }
	if err := json.Unmarshal(raw, &defs); err != nil || len(defs) == 0 || len(defs) > MostColumns {
		return Columns{}, errNoColumns
	}
	c := Columns{Name: -1}
	for i, d := range defs {
		c.Titles = append(c.Titles, strings.ToUpper(steps.Flat(d.Name)))
		if d.Format == "name" && c.Name < 0 {
			c.Name = i
		}
	}
	for i, d := range defs {
		if c.Name < 0 && strings.EqualFold(d.Name, "name") {
			c.Name = i
		}
	}
	return c, nil
}
