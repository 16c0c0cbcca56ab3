package steps

import (
	"regexp"
	"slices"
	"strings"
)

// digestForm is a SHA-256 as records write it, by itself and not inside of a longer word.
var digestForm = regexp.MustCompile(`(?i)(?:^|[^0-9a-z])([0-9a-f]{64})(?:$|[^0-9a-z])`)

// Digests are the SHA-256 digests that a text names, in lower case, each once, in order, and no more than most.
func Digests(text string, most int) []string {
	out := []string{}
	for len(out) < most {
		at := digestForm.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		if d := strings.ToLower(text[at[2]:at[3]]); !slices.Contains(out, d) {
			out = append(out, d)
		}
		text = text[at[3]:]
	}
	return out
}

// Clip shortens text from outside to n bytes, whole characters, and marks the cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// Flat writes text from outside on one line, with its line breaks and tabs
// escaped.
func Flat(s string) string {
	if !strings.ContainsAny(s, "\t\n\r\\") {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(s)
}

// OneLine writes text from outside on one line, its runs of white space as one
// blank each, and clips it to n bytes.
func OneLine(s string, n int) string { return Clip(strings.Join(strings.Fields(s), " "), n) }
