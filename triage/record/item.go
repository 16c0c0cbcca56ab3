package record

import (
	"fmt"
	"slices"
	"strings"
)

// Item is one act of a batch: one gate and one phrase for several objects, each
// acted on and recorded by itself.
type Item struct {
	Object   string `json:"object"`
	Effect   string `json:"effect"` // begins with the bare verb
	Command  string `json:"command,omitempty"`
	Outcome  string `json:"outcome"` // done, refused, failed, unknown, or left where the batch stopped before it
	Response string `json:"response,omitempty"`
	Before   []KV   `json:"before,omitempty"`
	After    []KV   `json:"after,omitempty"`
}

// Left is the outcome of an item that a batch did not come to.
const Left = "left"

// Owing are the debts of what a batch came to: those of its items that were done,
// and those of the whole where one was.
func Owing(owes []Debt, items []Item) []Debt {
	done := map[string]bool{}
	for _, it := range items {
		if it.Outcome == "done" {
			done[it.Object] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(owes), func(d Debt) bool { return len(done) == 0 || d.Item != "" && !done[d.Item] })
}

// mostNamed is how many items a debt names.
const mostNamed = 10

// Together makes one debt of those that say the same of several items.
func Together(owes []Debt) []Debt {
	var out []Debt
	items := map[Debt][]string{}
	for _, d := range owes {
		of := d
		of.Item = ""
		if _, seen := items[of]; !seen || d.Item == "" {
			out = append(out, of)
		}
		items[of] = append(items[of], d.Item)
	}
	for i, d := range out {
		named := items[d]
		if len(named) == 1 && (named[0] == "" || strings.HasPrefix(d.Text, named[0]+" ")) {
			continue // it names its item, as a gate about that item alone does, whose counterpart pays it
		}
		text := strings.Join(named[:min(len(named), mostNamed)], ", ")
		if more := len(named) - mostNamed; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		out[i].Text = fmt.Sprintf("%s (%s)", d.Text, text)
		if len(named) > 1 {
			out[i].Text = fmt.Sprintf("%s (%d objects: %s)", d.Text, len(named), text)
		}
	}
	return out
}
