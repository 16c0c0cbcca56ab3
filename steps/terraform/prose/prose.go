// Package prose is how values stand in the sentences of findings and gates:
// counted, listed, quoted. It decides nothing.
package prose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

// OrUnknown is s, or "unknown" where it is empty.
func OrUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// Plural counts: "1 error", "2 errors".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Upper makes a word of a fact the beginning of a sentence.
func Upper(s string) string { return strings.ToUpper(s[:1]) + strings.ReplaceAll(s[1:], "-", " ") }

// List lists addresses, not more than can be read.
func List(list []string) string {
	const most = 50
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// Quote joins an argument list as a shell would read it.
func Quote(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = steps.Quote(a)
	}
	return strings.Join(out, " ")
}

// UTC is how a time stands in a sentence.
func UTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Counts is a table of numbers as a fact.
func Counts(m map[string]int) map[string]string {
	out := make(map[string]string, len(m))
	for k, n := range m {
		out[k] = strconv.Itoa(n)
	}
	return out
}

// Object is an address with what it stands for, as `id=X`, in the form of the lines
// in which the tools complete an operation; the address alone where that is "".
func Object(address, stands string) string {
	if stands == "" {
		return address
	}
	return address + " [" + stands + "]"
}
