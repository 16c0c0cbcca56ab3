package runbooks

import (
	"regexp/syntax"
	"strings"
)

// Most patterns hold a plain piece of text without which they cannot match.
// Looking for that first is a hundred times faster than the pattern, which
// matters when a log of megabytes meets thirty runbooks.

// window is how much of the text around such a piece is tried first.
const (
	windowBefore = 4 << 10
	windowAfter  = 64 << 10
)

// needles returns pieces, in small letters, one of which is in every match of
// the pattern; none when there is no telling.
func needles(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return pieces(re.Simplify())
}

func pieces(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return pieces(re.Sub[0])
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			p := pieces(sub)
			if p == nil {
				return nil
			}
			all = append(all, p...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if p := pieces(sub); shortest(p) > shortest(best) {
				best = p
			}
		}
		return best
	}
	return nil
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
	for _, n := range p.needles {
		if i := strings.Index(lower, n); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first < 0 {
		return nil
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
