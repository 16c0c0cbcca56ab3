package evidence

import (
	"bytes"
	"slices"
	"strings"
)

// secretName reports whether a field, variable or option of this name holds a secret. The last word decides:
// db_password and clientSecret do, secretName, token_count and password_policy do not.
func secretName(name []byte) bool {
	if len(name) < 3 || len(name) > 256 {
		return false
	}
	words := nameWords(name)
	for len(words) > 1 && isSuffixWord(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	last = strings.TrimRight(last, "0123456789")
	switch last {
	case "auth":
		return len(words) == 1 && strings.HasPrefix(string(bytes.ToLower(name)), "auth") || bytes.HasPrefix(name, []byte("_auth"))
	case "configuration":
		return len(words) > 2 && before == "applied" && words[len(words)-3] == "last"
	case "dockerconfigjson", "dockercfg", "authorization":
		return true
	case "certificate":
		return before == "client" && bytes.HasSuffix(name, []byte("-data"))
	case "pwd":
		return before != ""
	case "key":
		return hasSuffix(before, "api", "access", "private", "secret", "signing", "encryption", "account", "client", "shared", "master", "storage", "auth", "license")
	}
	if hasSuffix(last, "token") {
		return !slices.Contains([]string{"next", "page", "continue", "cancellation", "pagination", "resume", "lock", "reset"}, before) && !hasSuffix(last, "nexttoken", "pagetoken", "continuetoken")
	}
	return hasSuffix(last, "password", "passwd", "passphrase", "passcode", "secret", "apikey", "accesskey", "privatekey",
		"secretkey", "accountkey", "signingkey", "encryptionkey", "masterkey", "credential", "credentials", "bindpw")
}

// isSuffixWord reports whether a word says how a value is written, not what it is.
func isSuffixWord(w string) bool {
	switch w {
	case "data", "value", "base64", "b64", "plaintext", "raw", "hash", "string", "encoded":
		return true
	}
	return false
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

// nameWords splits at everything but letters and digits, and where camel case begins a word; words are lower case.
func nameWords(name []byte) []string {
	var out []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			out = append(out, string(bytes.ToLower(name[start:end])))
		}
		start = -1
	}
	for i, c := range name {
		if !isWord(c) || c == '_' {
			flush(i)
			continue
		}
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			flush(i)
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(name))
	return out
}
