package state

import (
	"fmt"
	"strings"

	"handrail/steps"
)

// Pair is one object outside of the state and the address that means it.
type Pair struct {
	Address string `json:"address"`
	ID      string `json:"id"`
}

func (p Pair) String() string { return p.Address + " (" + p.ID + ")" }

// Absent is the id of what was looked for and is not there.
const Absent = "-"

// mostListed bounds the file of a list.
const mostListed = 1 << 20

// ReadList reads a list that a person made. A name that is not absolute is one of env.Dir.
func ReadList(env steps.Env, name string) (string, error) {
	raw, err := steps.ReadFile(steps.Below(env.Dir, name), mostListed)
	return string(raw), err
}

// ParsePairs reads lines of an address and an id with blanks between them, as the
// program takes them; the id - says that there is no such object. A key of an address
// may have blanks: it ends with its bracket. why says which line is none.
func ParsePairs(text string) (list []Pair, why string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, ok := pairOf(line)
		if !ok {
			return nil, fmt.Sprintf("Line %d of the list is not an address with an id behind it: %q.", n, steps.Clip(line, 200))
		}
		list = append(list, p)
	}
	return list, ""
}

func pairOf(line string) (Pair, bool) {
	at := strings.IndexAny(line, " \t")
	if open := strings.Index(line, `["`); open >= 0 && (at < 0 || open < at) {
		if end := strings.LastIndex(line, `"]`); end > open {
			if rest := strings.IndexAny(line[end:], " \t"); rest >= 0 {
				at = end + rest
			}
		}
	}
	if at < 0 {
		return Pair{}, false
	}
	return Pair{strings.Trim(line[:at], "'"), strings.TrimSpace(line[at:])}, true
}
