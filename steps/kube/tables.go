package kube

import (
	"errors"
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
func (t *tableReader) page(raw []byte) (listMeta, error) {
	return page{items: "rows", before: "columnDefinitions", read: t.header, item: t.line}.parse(raw)
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

func (t *tableReader) line(s *scan) error {
	t.cells = t.cells[:0]
	found := false
	err := s.members(func(key []byte) error {
		if string(key) != "cells" || found {
			return s.skip()
		}
		found = true
		if s.null() {
			return nil
		}
		return s.elements(func() error {
			raw, err := s.value()
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
	if s, ok := textOf(raw); ok {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}
