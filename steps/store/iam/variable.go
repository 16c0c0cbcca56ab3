package iam

import "strings"

// symbol is one character of a pattern, or a wildcard. A character that a variable stands for is never a wildcard.
type symbol rune

const (
	anyNumber symbol = -1 - iota // *
	anyOne                       // ?
	nothing                      // what a variable without a value stands for: no text has it
)

// literal is a text without wildcards, glob one with them.
func literal(text string) (out []symbol) {
	for _, r := range text {
		out = append(out, symbol(r))
	}
	return out
}

func glob(text string) (out []symbol) {
	for _, r := range text {
		switch r {
		case '*':
			out = append(out, anyNumber)
		case '?':
			out = append(out, anyOne)
		default:
			out = append(out, symbol(r))
		}
	}
	return out
}

// filled is a text of a policy with its variables filled in from the context, read by one of the two above. What is open names the
// value that is not given; where it is "" the symbols are whole.
//
// "IAM policy elements: Variables and tags": ${key}, ${key, 'default'} for one that is absent, and ${*}, ${?}, ${$} for those
// characters themselves. One whose key is absent, and that has no default, is equal to nothing and like nothing ("Policy variables
// with no value").
func filled(text string, context map[string][]string, read func(string) []symbol) (out []symbol, open string) {
	for {
		before, rest, found := strings.Cut(text, "${")
		out = append(out, read(before)...)
		if !found {
			return out, ""
		}
		name, after, found := strings.Cut(rest, "}")
		if !found {
			return nil, "what an open ${ stands for"
		}
		text = after
		if name == "*" || name == "?" || name == "$" {
			out = append(out, symbol(name[0]))
			continue
		}
		key, otherwise, defaults := strings.Cut(name, ",")
		key = strings.TrimSpace(key)
		values, known := context[strings.ToLower(key)]
		switch {
		case !known:
			return nil, "the value of " + key
		case len(values) > 1:
			return nil, "which of the values of " + key + " its variable stands for"
		case len(values) == 1 && strings.ContainsAny(values[0], "*?"):
			return nil, "whether * and ? in the value of " + key + " are wildcards" // the documentation does not say
		case len(values) == 1:
			out = append(out, literal(values[0])...)
		case defaults && quoted(otherwise):
			otherwise = strings.TrimSpace(otherwise)
			out = append(out, literal(otherwise[1:len(otherwise)-1])...)
		default:
			out = append(out, nothing)
		}
	}
}

func quoted(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= 2 && text[0] == '\'' && text[len(text)-1] == '\''
}

// match matches a pattern to the whole of a text.
func match(pattern []symbol, text string) bool {
	in := []rune(text)
	p, t, star, mark := 0, 0, -1, 0
	for t < len(in) {
		switch {
		case p < len(pattern) && pattern[p] == anyNumber:
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == anyOne || pattern[p] == symbol(in[t])):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == anyNumber {
		p++
	}
	return p == len(pattern)
}

// fits matches * for any characters and ? for one.
func fits(pattern, text string) bool { return match(glob(pattern), text) }
