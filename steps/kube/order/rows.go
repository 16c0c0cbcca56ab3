package order

import (
	"fmt"
	"strings"
)

// Rows are the edges as a table for people: one row for each reason of a fault.
func Rows() []string {
	type key struct{ before, why string }
	after := map[key][]string{}
	var order []key
	for _, e := range Table() {
		k := key{e.Before, e.Why}
		if after[k] == nil {
			order = append(order, k)
		}
		after[k] = append(after[k], e.After)
	}
	var out []string
	for _, k := range order {
		list := strings.Join(after[k], ", ")
		if len(after[k]) == len(Known())-1 {
			list = "everything else"
		}
		out = append(out, fmt.Sprintf("| %s | %s | %s |", k.before, list, k.why))
	}
	return out
}
