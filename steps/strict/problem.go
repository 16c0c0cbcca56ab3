package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a document, and where. Col is 0 for
// syntax errors of the YAML parser, which gives a line only.
type Problem struct {
	File    string
	Line    int
	Col     int
	Message string
	Hint    string // what to write instead, "" for none
}

// Error gives FILE:LINE:COL: message (hint).
func (p Problem) Error() string {
	at := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Col > 0 {
		at += fmt.Sprintf(":%d", p.Col)
	}
	if p.Hint != "" {
		return at + ": " + p.Message + " (" + p.Hint + ")"
	}
	return at + ": " + p.Message
}

// Problems are all that a reading found, in the order of the file.
type Problems []Problem

// Error gives one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Sorted returns ps in the order of the file, or nil when there are none.
func (ps Problems) Sorted() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.Compact(ps)
}

// Nearest returns the candidate that word was most likely meant to be, "" when
// none is near enough to be worth saying.
func Nearest(word string, candidates []string) string {
	best, at := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < at {
			best, at = c, d
		}
	}
	return best
}

// Meant is the hint for a word that is none of the candidates.
func Meant(word string, candidates []string) string {
	if len(word) < 64 {
		if n := Nearest(word, candidates); n != "" {
			return fmt.Sprintf("did you mean %q?", n)
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	return "one of " + strings.Join(candidates, ", ")
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, row
	}
	return prev[len(b)]
}
