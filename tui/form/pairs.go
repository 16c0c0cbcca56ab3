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

// spread puts what the line in front says of others into their lines, and leaves all in sight
// to be looked at; its own keeps what it was filled with. False where it says nothing of others.
func (f *Form) spread() bool {
	cur := &f.Fields[f.at]
	if !f.Pairs || cur.Choices != nil {
		return false
	}
	var names []string
	for _, fl := range f.Fields {
		names = append(names, fl.name)
	}
	given := pairs(strings.TrimPrefix(cur.Edit.Value(), cur.was), names)
	if given == nil {
		return false
	}
	cur.Edit.Set(cur.was)
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
