package redact

import "bytes"

func isNameByte(c byte) bool { return isWord(c) || c == '-' || c == '.' }

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '-' || c == '=' }

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && hexOnly(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])
}

func hexOnly(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// stringEnd returns where the string that opens at i ends.
func stringEnd(in []byte, i int) (int, bool) {
	for i++; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		}
	}
	return len(in), false
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
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

// pemBody drops what differs between a key on lines, indented and with escaped newlines.
func pemBody(b []byte) []byte {
	for _, esc := range [...]string{`\r`, `\n`, "\r", "\n", " ", "\t", `\`} {
		b = bytes.ReplaceAll(b, []byte(esc), nil)
	}
	return b
}

// isWide reports whether every other byte is NUL.
func isWide(b []byte) bool {
	if len(b) < 2*minKnown || bytes.Count(b, []byte{0}) < len(b)/2-2 {
		return false
	}
	nul := 0
	for i, c := range b {
		if c == 0 {
			if nul++; i > 1 && b[i-1] == 0 {
				return false
			}
		}
	}
	return nul >= len(b)/2-2
}
