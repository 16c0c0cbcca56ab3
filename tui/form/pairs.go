package form

import (
	"regexp"
	"slices"
	"strings"

	"handrail/tui/ink"
)

// pairIs is a name with its value, as a command takes it.
var pairIs = regexp.MustCompile(`(?:^|\s)(?:-p\s+)?([a-z][a-z0-9_]*)=`)

// pairs reads what a line says of others, as "name=value name=value": nil unless it begins
// with one of the names. A value goes on until the next of them.
func pairs(line string, names []string) map[string]string {
	line = strings.TrimSpace(line)
	var at [][]int
	for _, m := range pairIs.FindAllStringSubmatchIndex(line, -1) {
		if slices.Contains(names, line[m[2]:m[3]]) {
			at = append(at, m)
		}
	}
	if len(at) == 0 || at[0][0] != 0 {
		return nil
	}
	out := map[string]string{}
	for i, m := range at {
		end := len(line)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		v := strings.TrimSpace(line[m[1]:end])
		if n := len(v); n > 1 && (v[0] == '\'' || v[0] == '"') && v[n-1] == v[0] {
			v = v[1 : n-1]
		}
		out[line[m[2]:m[3]]] = v
	}
	return out
}

// given reads what a line says of the others, nil for nothing.
func (f *Form) given(line string) map[string]string {
	if !f.Pairs {
		return nil
	}
	var names []string
	for _, fl := range f.Fields {
		names = append(names, fl.name)
	}
	return pairs(line, names)
}

// spread puts what the line in front says of others into their lines, and leaves all in sight
// to be looked at; its own keeps what it was filled with, or the value that stands before them.
// False where it says nothing of others.
func (f *Form) spread() bool {
	cur := &f.Fields[f.at]
	if cur.Choices != nil {
		return false
	}
	own, rest := cur.was, strings.TrimPrefix(cur.Edit.Value(), cur.was)
	given := f.given(rest)
	if given == nil {
		if own, rest = f.behind(cur); own == "" {
			return false
		}
		given = f.given(rest)
	}
	cur.Edit.Set(own)
	f.wrong = ""
	for i := range f.Fields {
		fl := &f.Fields[i]
		v, ok := given[fl.name]
		switch {
		case !ok:
		case fl.Choices == nil:
			fl.Edit.Set(v)
		default:
			pick := slices.IndexFunc(fl.Choices, func(c Choice) bool { return c.Value == v })
			if pick < 0 {
				f.wrong = ink.Say("%s cannot be %s.", fl.label, v)
				continue
			}
			fl.Pick = pick
		}
	}
	f.AtFirstEmpty()
	return true
}

// behind parts a line whose value stands before what it says of others. A value with a space or
// with signs of its own, such as a patch, is left whole: it may hold a name and an = itself.
func (f *Form) behind(cur *Field) (own, rest string) {
	own, rest, ok := strings.Cut(strings.TrimSpace(cur.Edit.Value()), " ")
	if !ok || strings.ContainsAny(own, `=[]{}"'`) || f.given(rest) == nil {
		return "", ""
	}
	return own, rest
}
