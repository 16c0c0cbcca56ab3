package cluster

import (
	"encoding/json"
	"errors"
	"fmt"

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

// Parse reads one page; anything but one whole list of the right form is an error.
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

var errItems = errors.New("the items come next")

// head is what a page says about the list, where it says so before its items: an API server that streams a list does
// (KEP-5116), others sort the members by name.
func head(raw []byte) (md ListMeta, ok bool) {
	s := NewScanner(raw)
	err := s.Members(func(key []byte) error {
		switch string(key) {
		case "metadata":
			value, err := s.Value()
			ok = err == nil && json.Unmarshal(value, &md) == nil
			return err
		case "kind", "apiVersion":
			return s.Skip()
		}
		return errItems
	})
	return md, ok && errors.Is(err, errItems)
}

func (p Page) all(s *Scanner) error {
	if s.Null() {
		return nil
	}
	return s.Elements(func() error { return p.Item(s) })
}
