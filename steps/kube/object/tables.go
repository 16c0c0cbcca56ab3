package object

import (
	"errors"

	"handrail/steps/cluster"
)

// tableReader turns pages of a Table into lines of cells, a tab between them.
// Without the objects a table is a tenth of the bytes, and the columns are those
// that the server prints for kubectl.
type tableReader struct {
	cluster.Columns
	cells []string
	row   func(name string, cells []string) error
}

// page reads one page; each page repeats the columns.
func (t *tableReader) page(raw []byte) (cluster.ListMeta, error) {
	return cluster.Page{Items: "rows", Before: "columnDefinitions", Read: t.header, Item: t.line}.Parse(raw)
}

func (t *tableReader) header(raw []byte) error {
	cols, err := cluster.ParseColumns(raw)
	if err != nil {
		return err
	}
	if t.Titles != nil && len(t.Titles) != len(cols.Titles) {
		return errors.New("its columns changed in the middle of the list")
	}
	t.Columns = cols
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
			if err == nil && len(t.cells) < cluster.MostColumns {
				t.cells = append(t.cells, cellText(raw))
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if !found || len(t.cells) != len(t.Titles) {
		return errors.New("a row does not fit the columns")
	}
	name := ""
	if t.Name >= 0 {
		name = t.cells[t.Name]
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
