package weaken

import (
	"slices"
	"strings"
)

// gutted says why a text that did something does not do it any more: nothing of
// it is left, it ends before it begins, or most of its lines are gone. A value is
// free to be another value.
func gutted(before, after string) string {
	was, is := effective(before), effective(after)
	switch {
	case len(was) == 0 || idle(was[0]):
		return ""
	case len(is) == 0:
		return "nothing of it is left but comments"
	case idle(is[0]):
		return "it ends before it does anything"
	case len(before) >= 200 && len(after) < len(before)/2:
		return "more than half of it is gone"
	case len(was) >= 3 && 2*kept(was, is) < len(was):
		return "more than half of its lines are gone"
	case len(was) < 3 && runs(before) && !shares(before, after):
		return "no word of it is left"
	}
	return ""
}

// runs tells a line that a shell runs from one that is a value.
func runs(line string) bool {
	return len(strings.Fields(line)) >= 3 && slices.ContainsFunc([]string{" -", "|", "&&", ";", "$("}, func(mark string) bool { return strings.Contains(line, mark) })
}

// effective are the lines of a text without comments, blank lines and what a
// shell sets for itself.
func effective(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if at := strings.Index(line, " #"); at >= 0 {
			line = strings.TrimSpace(line[:at])
		}
		for part := range strings.SplitSeq(line, ";") {
			part = strings.TrimSpace(part)
			if part == "" || strings.HasPrefix(part, "#") || strings.HasPrefix(part, "//") || strings.HasPrefix(part, "set -") || strings.HasPrefix(part, "set +") {
				continue
			}
			out = append(out, part)
		}
	}
	return out
}

// idle tells a line that does nothing, or ends what comes after it.
func idle(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && slices.Contains([]string{":", "true", "/bin/true", "/usr/bin/true", "exit", "return", "pass", "false", "{}", "[]", "null", "nil", "~", "sleep"}, strings.Trim(words[0], `"'`))
}

// kept counts the lines of was that stand in is, as they are or with another
// value behind the same word.
func kept(was, is []string) int {
	head := func(line string) string {
		at := strings.IndexAny(line, " :=\t")
		if at < 0 {
			return line
		}
		return line[:at]
	}
	left := map[string]int{}
	for _, line := range is {
		left[head(line)]++
	}
	n := 0
	for _, line := range was {
		if left[head(line)] > 0 {
			left[head(line)]--
			n++
		}
	}
	return n
}

func shares(before, after string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') })
	}
	have := words(after)
	for _, w := range words(before) {
		if len(w) >= 3 && w != "exit" && w != "true" && slices.Contains(have, w) {
			return true
		}
	}
	return false
}
