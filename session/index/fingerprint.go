package index

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// Fingerprint is the kind of an error: lines that differ only by ids, times and
// numbers have the same one.
type Fingerprint string

const fingerprintLen = 16

// ParseFingerprint reads a fingerprint as it is printed.
func ParseFingerprint(s string) (Fingerprint, bool) {
	s = fold(s)
	if len(s) != fingerprintLen || strings.Trim(s, "0123456789abcdef") != "" {
		return "", false
	}
	return Fingerprint(s), true
}

// FingerprintOf returns the fingerprint of a line, and "" for a line that does
// not look like an error.
func FingerprintOf(line string) Fingerprint {
	folded := fold(line)
	if !erring(folded) || warns(folded) {
		return ""
	}
	sum := sha256.Sum256([]byte(normal(folded)))
	return Fingerprint(hex.EncodeToString(sum[:fingerprintLen/2]))
}

// signs are what an error line says, in one way or another.
var signs = [...]string{
	"error", "fail", "denied", "forbidden", "refused", "timed out", "timeout", "panic", "fatal", "unable to", "cannot", "could not",
	"conflict", "exceeded", "crash", "not found", "unauthorized", "invalid", "backoff", "back-off", "rejected", "evicted", "oomkilled",
}

func erring(folded string) bool {
	for _, s := range signs {
		if strings.Contains(folded, s) {
			return true
		}
	}
	return false
}

// warns reports whether a tool itself calls a line a warning, in a frame or not: two runs that
// warn of the same have not failed alike for it.
func warns(folded string) bool {
	return strings.HasPrefix(strings.TrimLeft(folded, " \t│╷|"), "warning: ")
}

// fingerprinted is how much of a normal line counts.
const fingerprinted = 1024

var (
	redactedToken = regexp.MustCompile(`<(forged-)?redacted:[^>]*>`)
	uuid          = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	manyMarks     = regexp.MustCompile(`#([-+:.,/]#)+`)
	monthDay      = regexp.MustCompile(`\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* +#`)
)

// normal writes # for whatever differs from one incident to the next: words
// with a digit in them, words without a vowel (the random ends of the names of
// Pods), redacted values.
func normal(folded string) string {
	if len(folded) > 4*fingerprinted {
		folded = folded[:4*fingerprinted]
	}
	// An expression is tried only where what it needs is there: most lines have none of it.
	if strings.Contains(folded, "redacted:") {
		folded = redactedToken.ReplaceAllString(folded, "#")
	}
	if strings.Count(folded, "-") >= 4 {
		folded = uuid.ReplaceAllString(folded, "#")
	}
	var b strings.Builder
	space := true
	for i := 0; i < len(folded); {
		c := folded[i]
		switch {
		case wordByte(c) && c < 0x80:
			start := i
			for i < len(folded) && wordByte(folded[i]) && folded[i] < 0x80 {
				i++
			}
			if w := folded[start:i]; passing(w) {
				b.WriteByte('#')
			} else {
				b.WriteString(w)
			}
			space = false
			continue
		case c <= ' ' || c >= 0x80: // what terminals draw boxes with is no text
			if !space {
				b.WriteByte(' ')
			}
			space = true
		default:
			b.WriteByte(c)
			space = false
		}
		i++
	}
	out := strings.TrimSpace(b.String())
	if strings.Contains(out, "#") {
		out = monthDay.ReplaceAllString(manyMarks.ReplaceAllString(out, "#"), "#")
	}
	out = strings.ReplaceAll(out, "# #", "#")
	if len(out) > fingerprinted {
		out = out[:fingerprinted]
	}
	return out
}

func passing(w string) bool {
	return strings.ContainsAny(w, "0123456789") || len(w) >= 5 && !strings.ContainsAny(w, "aeiouy")
}
