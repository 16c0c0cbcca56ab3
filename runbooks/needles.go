package runbooks

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Most patterns hold plain pieces of text without which they cannot match.
// Looking for those first is a hundred times faster than the pattern, which
// matters when a log of megabytes meets thirty runbooks.

// window is how much of the text around the rarest piece is tried first.
const (
	windowBefore = 4 << 10
	windowAfter  = 64 << 10
)

// needles returns sets of pieces, in small letters: every match of the pattern has
// a piece of each set. The set with the longest pieces comes first.
func needles(pattern string) [][]string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	sets := pieces(re.Simplify())
	sets = slices.DeleteFunc(sets, func(set []string) bool { return shortest(set) < leastPiece })
	slices.SortStableFunc(sets, func(a, b []string) int { return cmp.Compare(shortest(b), shortest(a)) })
	return sets
}

// leastPiece is how short a piece may be and still rule out texts.
const leastPiece = 3

func pieces(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpLiteral:
		return [][]string{{strings.ToLower(string(re.Rune))}}
	case syntax.OpCapture, syntax.OpPlus:
		return pieces(re.Sub[0])
	case syntax.OpAlternate:
		var any []string
		for _, sub := range re.Sub {
			best := longest(pieces(sub))
			if best == nil {
				return nil
			}
			any = append(any, best...)
		}
		return [][]string{any}
	case syntax.OpConcat:
		var all [][]string
		for _, sub := range re.Sub {
			all = append(all, pieces(sub)...)
		}
		return all
	}
	return nil
}

// longest is the set that says most.
func longest(sets [][]string) []string {
	var best []string
	for _, set := range sets {
		if shortest(set) > shortest(best) {
			best = set
		}
	}
	return best
}

func shortest(ss []string) int {
	n := 0
	for i, s := range ss {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

// find is FindStringSubmatchIndex of the pattern in s; lower is s in small
// letters. Case and width of letters can shift the places a little, so that a
// window without a match falls back to the whole text.
func (p Pattern) find(s, lower string) []int {
	if len(p.needles) == 0 {
		return p.re.FindStringSubmatchIndex(s)
	}
	first := -1
	for _, n := range p.needles[0] {
		if i := strings.Index(lower, n); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	for _, set := range p.needles[1:] {
		if !slices.ContainsFunc(set, func(n string) bool { return strings.Contains(lower, n) }) {
			return nil
		}
	}
	from := min(max(first-windowBefore, 0), len(s))
	from = strings.LastIndexByte(s[:from], '\n') + 1 // keeps ^ true to the lines
	if to := min(first+windowAfter, len(s)); from > 0 || to < len(s) {
		if m := p.re.FindStringSubmatchIndex(s[from:to]); m != nil {
			for i := range m {
				if m[i] >= 0 {
					m[i] += from
				}
			}
			return m
		}
	}
	return p.re.FindStringSubmatchIndex(s)
}
