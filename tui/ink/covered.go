package ink

import (
	"regexp"
	"strings"
)

// tokenTyped is a JSON Web Token as far as it was typed: its header, and what is secret.
var tokenTyped = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_.-]+)`)

// Covered is a text that is typed, with what is secret of a token covered, letter by letter. A
// terminal that does not say what was pasted types it.
func Covered(text string) string {
	if !strings.Contains(text, "eyJ") {
		return text
	}
	out := []byte(text)
	for _, at := range tokenTyped.FindAllStringSubmatchIndex(text, -1) {
		for i := at[2]; i < at[3]; i++ {
			out[i] = '*'
		}
	}
	return string(out)
}
