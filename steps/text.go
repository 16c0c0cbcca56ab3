package steps

import "strings"

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
