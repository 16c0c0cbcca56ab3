package redact

import (
	"bytes"
	"unicode/utf8"
)

// looksRandom reports whether a value is of the kind that machines make to be secret: beside a name that hints at one it is
// taken for one. Names, paths, numbers and words are not.
func looksRandom(v []byte) bool {
	v = bytes.Trim(v, " \t\r\n\"'")
	if len(v) < 12 || len(v) > 4096 || bytes.ContainsAny(v, " \t\r\n") || isReference(v) || publicStart(v) {
		return false
	}
	if bytes.Contains(v, []byte("://")) || bytes.HasPrefix(v, []byte("./")) || bytes.HasPrefix(v, []byte("~/")) {
		return false
	}
	var digit, lower, upper, mark, worded int
	hex := true
	run := 0
	for i, c := range v {
		word := false
		switch {
		case c >= '0' && c <= '9':
			digit++
		case c >= 'a' && c <= 'z':
			lower, word = lower+1, true
		case c >= 'A' && c <= 'Z':
			upper++
		default:
			mark++
		}
		hex = hex && isHexDigit(c)
		if word {
			run++
		}
		if !word || i == len(v)-1 {
			if run >= 4 {
				worded += run
			}
			run = 0
		}
	}
	switch {
	case lower+upper == 0, v[0] == '/' && upper == 0:
		return false
	case digit == 0:
		return lower > 0 && upper > 0 && bytes.ContainsAny(v, "!$%^*~#@&+=?") || standsOut(v)
	case hex:
		return len(v) >= 32
	case len(v) == 36 && isUUID(string(bytes.ToLower(v))):
		return true
	case upper == 0 && dnsName(v) && bytes.ContainsAny(v, "-."):
		return hexPart(v) // so are objects named
	}
	return worded*2 <= len(v)
}

const (
	minAlone     = 20 // the shortest value that its looks alone give away
	minDigitless = 32 // the same without a digit in it
	capitals     = 3  // and small letters, that it has at least
)

// standsOut reports whether a word is random in itself: of small and capital letters and digits in no order, as no name, path or digest
// in hex is. It is what is left to find a secret by that neither a name nor a form of its own tells of.
func standsOut(w []byte) bool {
	w = bytes.Trim(w, "-_.=/+~*!%$^")
	if len(w) < minAlone || len(w) > 256 {
		return false
	}
	var has [4]int
	changes, worded, run, last := 0, 0, 0, -1
	for i, c := range w {
		class := 3
		switch f := base64Class[c]; {
		case f&b64Lower != 0:
			class = 0
		case f&b64Upper != 0:
			class = 1
		case f&b64Digit != 0:
			class = 2
		}
		has[class]++
		if class != last {
			if changes++; last == 0 && run >= 4 {
				worded += run
			}
			run = 0
		}
		if run++; i == len(w)-1 && class == 0 && run >= 4 {
			worded += run
		}
		last = class
	}
	if has[0] < capitals || has[1] < capitals || has[2] == 0 && len(w) < minDigitless || has[3]*3 > len(w) || percents(w) > 1 {
		return false
	}
	return changes*20 >= len(w)*7 && worded*20 <= len(w)*9 && !wordPart(w)
}

// wordPart reports whether a part of a path or a name is a word.
func wordPart(w []byte) bool {
	if !bytes.ContainsAny(w, "/-_.") {
		return false
	}
	for part := range bytes.FieldsFuncSeq(w, func(r rune) bool { return r == '-' || r == '.' || r == '/' || r == '_' }) {
		letters := 0
		for i, c := range part {
			if c < 'a' && i > 0 || c > 'z' || i == 0 && c|0x20 < 'a' {
				letters = 0
				break
			}
			letters++
		}
		if letters >= 4 {
			return true
		}
	}
	return false
}

// hexPart reports whether a part of a name is as long as no name has it.
func hexPart(v []byte) bool {
	for part := range bytes.FieldsFuncSeq(v, func(r rune) bool { return r == '-' || r == '.' || r == '_' }) {
		if len(part) >= 16 && hexOnly(string(part)) {
			return true
		}
	}
	return false
}

// percents counts what URL encoding leaves.
func percents(w []byte) int {
	n := 0
	for i := 0; i+2 < len(w); i++ {
		if w[i] == '%' && isHexDigit(w[i+1]) && isHexDigit(w[i+2]) {
			n++
		}
	}
	return n
}

// namedBefore is the name of the field that a value belongs to, by what stands before it on its line or the one above; it may be empty.
func namedBefore(in []byte, start, floor int) []byte {
	floor = max(floor, start-160)
	if i := bytes.LastIndex(in[max(floor, start-5):start], []byte("-> ")); i >= 0 {
		// The new value has the name of the old one.
		if eq := bytes.LastIndex(in[floor:max(floor, start-5)+i], []byte("= ")); eq >= 0 {
			start = floor + eq + 1
		}
	}
	for i, words := start, 0; words < 3; words++ {
		for i > floor && !isNameByte(in[i-1]) && in[i-1] != '}' && in[i-1] != ';' {
			i--
		}
		end := i
		for i > floor && end-i < 64 && isNameByte(in[i-1]) {
			i--
		}
		name := bytes.Trim(in[i:end], "-.")
		switch {
		case end == i:
			return nil
		case len(name) == 0:
			continue // a dash
		case isValueName(string(name)) || bytes.Equal(name, []byte("CDATA")) || bytes.Equal(name, []byte("is")) || bytes.Equal(name, []byte("EOT")) || bytes.Equal(name, []byte("EOF")):
			continue // what it is stands before
		}
		return name
	}
	return nil
}

// publicBefore are what stands before digests, public keys and the like.
var publicBefore = [...]string{"sha256:", "sha256-", "sha384-", "sha512-", "sha512:", "sha1-", "sha1:", "md5:", "h1:", "ssh-ed25519 ", "ssh-rsa ", "-nistp256 ", "-nistp384 ", "-nistp521 ", "age1"}

// isPublic reports whether what stands around a random word says that it may be read: a digest, a public key, a certificate, an identifier.
func (s *looked) isPublic(in []byte, start, end, floor int) bool {
	before := in[max(0, start-24):start]
	for _, b := range publicBefore {
		if endsFold(before, b) {
			return true
		}
	}
	w := in[start:end]
	if publicStart(w) || isRunID(w) {
		return true
	}
	if line := lineBefore(in[floor:], start-floor, 160); bytes.Contains(line, []byte("handrail-seal ")) {
		return true // an anchor is there to be read
	}
	if name := namedBefore(in, start, floor); len(name) > 0 && s.nameTells(name) == silent && identifies(name) {
		return true
	}
	return inCertificate(in, start, end)
}

// isRunID reports whether a word is as Terraform Cloud and others write identifiers: run-CZcmD7eagjhyX0vN.
func isRunID(w []byte) bool {
	i := len(w) - 17
	if i < 1 || i > 6 || w[i] != '-' {
		return false
	}
	for _, c := range w[:i] {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return !bytes.ContainsFunc(w[i+1:], func(r rune) bool { return r > 'z' || !isWord(byte(r)) || r == '_' })
}

// publicStart reports whether a value begins as public keys, certificates and digests do.
func publicStart(v []byte) bool {
	for _, s := range [...]string{"AAAA", "MII", "LS0t", "sha1", "sha2", "sha3", "sha5", "SHA256:", "h1:", "ssh-", "arn:", "-----BEGIN C", "-----BEGIN PUBLIC"} {
		if bytes.HasPrefix(v, []byte(s)) {
			return true
		}
	}
	return false
}

// inCertificate reports whether a word is a whole line of base64 below the head of a PEM block, which is none of a private key here:
// those were taken before.
func inCertificate(in []byte, start, end int) bool {
	lineStart := bytes.LastIndexByte(in[:start], '\n') + 1
	if len(bytes.Trim(in[lineStart:start], " \t|>+-#\"")) > 0 {
		return false
	}
	before := in[max(0, start-back):start]
	open := bytes.LastIndex(before, []byte("-----BEGIN "))
	return open >= 0 && !bytes.Contains(before[open+11:], []byte("-----END "))
}

// isText reports whether decoded bytes are something that was written to be read.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
