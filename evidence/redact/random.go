package redact

import "bytes"

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

// publicStart reports whether a value begins as public keys, certificates and digests do.
func publicStart(v []byte) bool {
	for _, s := range [...]string{"AAAA", "MII", "LS0t", "sha1", "sha2", "sha3", "sha5", "SHA256:", "h1:", "ssh-", "arn:", "-----BEGIN C", "-----BEGIN PUBLIC"} {
		if bytes.HasPrefix(v, []byte(s)) {
			return true
		}
	}
	return false
}
