package walk

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sheet writes an answers file. What it is told of others stands in quotes or in
// comments, one line each, so that no text can become a key.
type sheet struct{ strings.Builder }

// entry is one key of a section. One that is not live stands behind a #.
type entry struct {
	about []string // lines of comment
	line  string
	live  bool
}

// comment writes text as comments, with an indent.
func (s *sheet) comment(indent, text string) {
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		s.WriteString(strings.TrimRight(indent+"# "+shown(line), " ") + "\n")
	}
}

// shown is a line with nothing in it that a terminal or YAML would act upon.
func shown(line string) string {
	var b strings.Builder
	for _, r := range line {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// head writes what every answers file begins with.
func (s *sheet) head(runbook string) {
	fmt.Fprintf(s, "apiVersion: handrail/v1\nkind: Answers\nrunbook: %s\n", named(runbook))
}

// section writes the entries under a key, which stands behind a # itself where no
// entry is live.
func (s *sheet) section(name, about string, list []entry) {
	if len(list) == 0 {
		return
	}
	s.WriteString("\n")
	if about != "" {
		s.comment("", about)
	}
	live := false
	for _, e := range list {
		live = live || e.live
	}
	s.WriteString(mark(live) + name + ":\n")
	for _, e := range list {
		for _, line := range e.about {
			s.comment("  ", line)
		}
		s.WriteString(mark(e.live) + "  " + e.line + "\n")
	}
}

func mark(live bool) string {
	if live {
		return ""
	}
	return "#"
}

// quoted is a text as YAML reads it back, with nothing in it that a terminal would
// act upon.
func quoted(text string) string { return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD")) }

// plainName is a name that YAML reads as it stands.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_.-]*$`)

// named is a name from a journal, in quotes where it could be read as anything else.
func named(name string) string {
	if plainName.MatchString(name) && !slices.Contains([]string{"null", "true", "false"}, name) {
		return name
	}
	return quoted(name)
}

// pair is KEY: "TEXT" inside braces, "" for an empty text.
func pair(key, text string) string {
	if text == "" {
		return ""
	}
	return key + ": " + quoted(text)
}

// braced joins what is there of pairs.
func braced(pairs ...string) string {
	var out []string
	for _, p := range pairs {
		if p != "" {
			out = append(out, p)
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}
