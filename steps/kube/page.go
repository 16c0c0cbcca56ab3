package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
)

// listMeta is what a page says about the list.
type listMeta struct {
	Continue           string `json:"continue"`
	RemainingItemCount *int64 `json:"remainingItemCount"`
}

// page reads one page of a list: the member named items is an array whose
// elements item passes. before, when set, is another member that item needs and
// that is read first wherever it stands.
type page struct {
	items  string
	before string
	read   func(raw []byte) error
	item   func(s *scan) error
}

func (p page) parse(raw []byte) (listMeta, error) {
	var md listMeta
	var kind string
	var late []byte // items that stand before what they need
	ready, found := p.before == "", false
	s := newScan(raw)
	err := s.members(func(key []byte) error {
		switch string(key) {
		case p.items:
			if found {
				return fmt.Errorf("it has %s twice", p.items)
			}
			found = true
			if !ready {
				var err error
				late, err = s.value()
				return err
			}
			return p.all(s)
		case p.before:
			value, err := s.value()
			if err != nil || ready {
				return err
			}
			ready = true
			return p.read(value)
		case "metadata":
			value, err := s.value()
			if err != nil {
				return err
			}
			return json.Unmarshal(value, &md)
		case "kind":
			value, err := s.value()
			kind, _ = textOf(value)
			return err
		}
		return s.skip()
	})
	switch {
	case err != nil:
		return md, err
	case s.end() != nil:
		return md, errJSON
	case !found || !ready:
		return md, fmt.Errorf("it is a %q that lists nothing", steps.Clip(kind, 100))
	case late != nil:
		err = p.all(newScan(late))
	}
	return md, err
}

func (p page) all(s *scan) error {
	if s.null() {
		return nil
	}
	return s.elements(func() error { return p.item(s) })
}

// columns are the columns of a table and which of them is the name.
type columns struct {
	titles []string
	name   int // -1 where no column is
}

var errNoColumns = errors.New("its columns cannot be read")

// mostColumns bounds a header; kinds have a dozen.
const mostColumns = 200

func parseColumns(raw []byte) (columns, error) {
	var defs []struct{ Name, Type, Format string }
	if err := json.Unmarshal(raw, &defs); err != nil || len(defs) == 0 || len(defs) > mostColumns {
		return columns{}, errNoColumns
	}
	c := columns{name: -1}
	for i, d := range defs {
		c.titles = append(c.titles, strings.ToUpper(steps.Flat(d.Name)))
		if d.Format == "name" && c.name < 0 {
			c.name = i
		}
	}
	for i, d := range defs {
		if c.name < 0 && strings.EqualFold(d.Name, "name") {
			c.name = i
		}
	}
	return c, nil
}
