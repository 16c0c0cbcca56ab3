package terraform

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

// clip shortens outside text.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

func upper(s string) string { return strings.ToUpper(s[:1]) + strings.ReplaceAll(s[1:], "-", " ") }

// firstOf lists addresses, not more than can be read.
func firstOf(list []string) string {
	const most = 50
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

func quoteAll(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = steps.Quote(a)
	}
	return strings.Join(out, " ")
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func countTable(m map[string]int) map[string]string {
	out := make(map[string]string, len(m))
	for k, n := range m {
		out[k] = strconv.Itoa(n)
	}
	return out
}
