package object

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"handrail/steps"
)

// TestTablesComeBack: what a server writes with the library of Kubernetes is
// read the same without it.
func TestTablesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOf(rapid.SliceOfN(rapid.String(), 2, 2)).Draw(rt, "cells")
		page := metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Age"}, {Name: "Name", Format: "name"}}}
		for _, cells := range want {
			page.Rows = append(page.Rows, metav1.TableRow{Cells: []any{cells[0], cells[1]}})
		}
		raw, err := json.Marshal(page)
		if err != nil {
			rt.Fatal(err)
		}
		names, rows, _, err := readTable(raw)
		if err != nil || len(rows) != len(want) {
			rt.Fatalf("%d rows of %d, %v", len(rows), len(want), err)
		}
		for i := range want {
			if !slices.Equal(rows[i], want[i]) || names[i] != want[i][1] {
				rt.Fatalf("row %d = %q named %q, want %q", i, rows[i], names[i], want[i])
			}
			if line := strings.Join([]string{steps.Flat(rows[i][0]), steps.Flat(rows[i][1])}, "\t"); strings.Count(line, "\t") != 1 || strings.ContainsAny(line, "\n\r") {
				rt.Fatalf("row %d breaks its line: %q", i, line)
			}
		}
	})
}
