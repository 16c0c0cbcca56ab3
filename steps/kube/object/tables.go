package object

import (
	"encoding/json"
	"errors"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
)

// tableReader turns pages of a Table into lines of cells, a tab between them.
// Without the objects a table is a tenth of the bytes, and the columns are those
// that the server prints for kubectl.
type tableReader struct {
	columns
	cells []string
	row   func(name string, cells []string) error
}

// page reads one page; each page repeats the columns.
func (t *tableReader) page(raw []byte) (cluster.ListMeta, error) {
	return cluster.Page{Items: "rows", Before: "columnDefinitions", Read: t.header, Item: t.line}.Parse(raw)
}

func (t *tableReader) header(raw []byte) error {
	cols, err := parseColumns(raw)
	if err != nil {
		return err
	}
	if t.titles != nil && len(t.titles) != len(cols.titles) {
		return errors.New("its columns changed in the middle of the list")
	}
	t.columns = cols
	return nil
}

func (t *tableReader) line(s *cluster.Scanner) error {
	t.cells = t.cells[:0]
	found := false
	err := s.Members(func(key []byte) error {
		if string(key) != "cells" || found {
			return s.Skip()
		}
		found = true
		if s.Null() {
			return nil
		}
		return s.Elements(func() error {
			raw, err := s.Value()
			if err == nil && len(t.cells) < mostColumns {
				t.cells = append(t.cells, cellText(raw))
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if !found || len(t.cells) != len(t.titles) {
		return errors.New("a row does not fit the columns")
	}
	name := ""
	if t.name >= 0 {
		name = t.cells[t.name]
	}
	return t.row(name, t.cells)
}

// cellText is a cell as it is shown; null is nothing, other values are their JSON.
func cellText(raw []byte) string {
	if s, ok := cluster.TextOf(raw); ok {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// columns are the columns of a table and which of them is the name.
type columns struct {
	titles []string
	name   int // -1 where no column is
}

var errNoColumns = errors.New("its columns cannot be read")

// mostColumns bounds a header; kinds have a dozen.
const mostColumns = 200

// parseColumns reads the header of a table.
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
