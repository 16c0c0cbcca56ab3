package redact

import (
	"bytes"
	"unicode/utf8"
)

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
