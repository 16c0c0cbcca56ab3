package redact

import (
	"bytes"
	"io"
	"regexp"
	"strings"
)

// Where values that were learned to be secret are lost, the journal still has their tokens, and a holder of the key can
// tell of a word whether it is one of them. Text that was captured, whose words name nothing that a person must read
// again, loses besides what looks as if a machine had made it.

// Doubt begins to look at each word. more are digits of tokens, beside those of the entries.
func (r *Redactor) Doubt(more ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tags := map[string]bool{}
	for _, t := range more {
		tags[t] = true
	}
	for t := range r.heard {
		tags[t[len(t)-1-tokenHex:len(t)-1]] = true
	}
	r.doubts = tags
}

// Doubting are the digits of tokens that words are held against, nil while no known value was lost.
func (r *Redactor) Doubting() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doubts
}

// word is what a value may be that is written without blanks.
var word = regexp.MustCompile(`[^\s"'` + "`" + `<>(){}\[\],;]{8,}`)

// recalled replaces the words of in that are known by their tokens, and with all those that look made.
func (r *Redactor) recalled(in []byte, all bool, n Counts) []byte {
	tags := r.Doubting()
	if tags == nil {
		return in
	}
	return word.ReplaceAllFunc(in, func(w []byte) []byte {
		switch {
		case bytes.HasPrefix(w, []byte("redacted:")): // of a token
			return w
		case r.isKnown(tags, w):
			n.add("doubtful")
			return r.token(nil, "doubtful", w)
		}
		// What is assigned counts by itself, and so does what a path or an address is made of.
		var out []byte
		for len(w) > 0 {
			i := bytes.IndexAny(w, "=:@/.|&?#")
			part, rest := w, []byte(nil)
			if i >= 0 {
				part, rest = w[:i], w[i:]
			}
			if len(part) >= minKnown && (r.isKnown(tags, part) || all && looksMade(part)) {
				n.add("doubtful")
				out = r.token(out, "doubtful", part)
			} else {
				out = append(out, part...)
			}
			if len(rest) > 0 {
				out = append(out, rest[0])
				rest = rest[1:]
			}
			w = rest
		}
		return out
	})
}

func (r *Redactor) isKnown(tags map[string]bool, value []byte) bool {
	if len(tags) == 0 {
		return false
	}
	t := r.token(nil, "doubtful", value)
	return tags[string(t[len(t)-1-tokenHex:len(t)-1])]
}

// readable are the forms in which systems name and count things.
var readable = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`, // UUID
	`(?:sha256:|sha1:|sha512:|h1:)?(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})`,   // digests
	`[TZ0-9:.,+/_-]+`, // times, numbers, addresses
	`(?:\d+(?:\.\d+)?(?:h|m|s|ms|us|ns|[KMGT]i?B?))+`, // lengths and sizes
	`v?\d+(?:\.\d+)+[a-z0-9.+-]*`,                     // versions
	`[A-Za-z_-]+\d{0,4}`,                              // words, numbered
	`[a-z0-9]+(?:[-._][a-z0-9]{1,12})+`,               // names of objects
	`[A-Z][A-Z_]+\d*`, `[A-Z]?[a-z]+(?:[A-Z][a-z]+)+\d{0,2}`,
}, "|") + `)$`)

// looksMade says that w has letters and digits, and no form in which systems name and count things.
func looksMade(w []byte) bool {
	w = bytes.Trim(w, `!*-_\`)
	letter, digit := false, false
	for _, c := range w {
		digit = digit || c >= '0' && c <= '9'
		letter = letter || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	if !letter || !digit || len(w) < minKnown {
		return false
	}
	return !readable.Match(w)
}

// lineRecall is recalled for a stream, line by line.
type lineRecall struct {
	r   *Redactor
	out io.Writer
	n   Counts
	buf []byte
}

func (l *lineRecall) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	end := bytes.LastIndexByte(l.buf, '\n') + 1
	if end == 0 && len(l.buf) > holdMost { // no line ends here: it is cut between two words
		end = bytes.LastIndexAny(l.buf, " \t\r") + 1
		if end == 0 {
			end = len(l.buf)
		}
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := l.out.Write(l.r.recalled(l.buf[:end], true, l.n))
	l.buf = append(l.buf[:0], l.buf[end:]...)
	return len(p), err
}

func (l *lineRecall) finish() error {
	_, err := l.out.Write(l.r.recalled(l.buf, true, l.n))
	l.buf = nil
	return err
}
