package evidence

import (
	"bytes"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"handrail/evidence/redact"
)

// blob carries an artifact over: by its structure where that changes nothing but values, else as text.
func (c *copier) blob(b Blob) (Blob, error) {
	if to, ok := c.sums[b.SHA256]; ok {
		got := c.info[to]
		b.SHA256, b.Size, b.Rules = got.SHA256, got.Size, merged(b.Rules, got.Rules)
		return b, nil
	}
	var got Blob
	var err error
	done := false
	if b.Size <= againMost && !slices.Contains(b.Rules, redact.Unparsed) {
		if got, done, err = c.byStructure(b); err != nil {
			return b, err
		}
	}
	if !done {
		if got, err = c.through(b, "text/plain"); err != nil {
			return b, err
		}
	}
	c.sums[b.SHA256], c.info[got.SHA256] = got.SHA256, got
	if got.SHA256 != b.SHA256 {
		c.res.Blobs++
	}
	b.SHA256, b.Size, b.Rules = got.SHA256, got.Size, merged(b.Rules, got.Rules)
	return b, nil
}

func (c *copier) byStructure(b Blob) (Blob, bool, error) {
	raw, err := readSmall(c.from.root, "blobs/sha256/"+b.SHA256[:2]+"/"+b.SHA256, againMost)
	if err != nil {
		return b, false, err
	}
	var out bytes.Buffer
	a := c.to.red.Artifact(b.Media, &out)
	if !a.Structured() {
		return b, false, nil
	}
	if _, err := a.Write(raw); err != nil {
		return b, false, err
	}
	rules, err := a.Close()
	if err != nil || slices.Contains(rules, redact.Unparsed) || !onlyHidden(raw, out.Bytes()) {
		return b, false, err
	}
	got, err := c.through(b, b.Media)
	return got, true, err
}

func (c *copier) through(b Blob, media string) (Blob, error) {
	f, err := c.from.OpenBlob(b.SHA256)
	if err != nil {
		return Blob{}, err
	}
	defer f.Close()
	w, err := c.to.Blob(b.Role, media)
	if err != nil {
		return Blob{}, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, f); err != nil {
		return Blob{}, err
	}
	return w.Commit()
}

// merged adds up what was found then and now.
func merged(then, now []string) []string {
	sum := redact.Counts{}
	for _, r := range slices.Concat(then, now) {
		kind, hits, ok := strings.Cut(r, "=")
		n, err := strconv.Atoi(hits)
		if !ok || err != nil {
			n = 1
		}
		sum[kind] += n
	}
	if len(sum) == 0 {
		return nil
	}
	return maps.Clone(sum).List()
}

var anyToken = regexp.MustCompile(`"<redacted:[a-z0-9-]{1,32}:[0-9a-f]{16}>"|<redacted:[a-z0-9-]{1,32}:[0-9a-f]{16}>`)

// onlyHidden reports whether now is then with some of its bytes replaced by tokens, and nothing else.
func onlyHidden(then, now []byte) bool {
	if bytes.Equal(then, now) {
		return true
	}
	at := 0 // in now, behind the last token
	first := true
	for _, t := range anyToken.FindAllIndex(now, -1) {
		literal := now[at:t[0]]
		at = t[1]
		if first {
			if !bytes.HasPrefix(then, literal) {
				return false
			}
			then = then[len(literal):]
			first = false
			continue
		}
		if len(literal) == 0 {
			continue // the token before stands for both
		}
		if len(then) == 0 {
			return false
		}
		i := bytes.Index(then[1:], literal) // a token stands for one byte at least
		if i < 0 {
			return false
		}
		then = then[1+i+len(literal):]
	}
	rest := now[at:]
	return !first && len(then) > len(rest) && bytes.HasSuffix(then, rest)
}
