package redact

import (
	"bytes"
	"slices"
	"strings"
)

// telling says how much the name of a field, variable or option tells of its value.
type telling int

const (
	silent telling = iota
	hints          // it may be a secret: a value that looks random is one
	tells          // it is a secret
)

// secretName reports whether a field, variable or option of this name holds a secret. The last word decides:
// db_password and clientSecret do, secretName, token_count and password_policy do not.
func secretName(name []byte) bool { return nameTells(name) == tells }

func nameTells(name []byte) telling {
	if len(name) > 256 {
		return silent
	}
	words := nameWords(name)
	for len(words) > 1 && isSuffixWord(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return silent
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	last = strings.TrimRight(last, "0123456789")
	is := func(yes bool) telling {
		if yes {
			return tells
		}
		return silent
	}
	switch last {
	case "auth":
		if bytes.HasPrefix(name, []byte("_auth")) {
			return tells
		}
		return hints
	case "configuration":
		return is(len(words) > 2 && before == "applied" && words[len(words)-3] == "last")
	case "dockerconfigjson", "dockercfg", "authorization", "psk", "requirepass", "masterauth", "rootpw":
		return tells
	case "certificate":
		return is(before == "client" && bytes.HasSuffix(name, []byte("-data")))
	case "pwd", "pass", "pw":
		return is(before != "")
	case "pat", "keytab", "encrypt":
		return hints
	case "key":
		return keyTells(before)
	}
	if hasSuffix(last, "token") {
		return is(!slices.Contains([]string{"next", "page", "continue", "cancellation", "pagination", "resume", "lock", "reset"}, before) && !hasSuffix(last, "nexttoken", "pagetoken", "continuetoken"))
	}
	if hasSuffix(last, "password", "passwd", "passphrase", "passcode", "secret", "credential", "credentials", "bindpw") {
		return tells
	}
	if strings.HasSuffix(last, "key") {
		return keyTells(strings.TrimSuffix(last, "key"))
	}
	return silent
}

// keyTells judges a key by the word before it. Keys that name, sort or verify things are no secrets, and of most others
// only the value tells.
func keyTells(before string) telling {
	switch {
	case hasSuffix(before, "api", "access", "private", "secret", "signing", "encryption", "account", "client", "shared", "master", "storage", "auth", "license",
		"functions", "subscription", "integration", "unseal", "recovery", "hmac", "ingestion", "genie", "gossip", "cipher"):
		return tells
	case before == "", hasSuffix(before, "public", "cache", "kms", "idempotency", "partition", "sort", "foreign", "object", "ssh", "order", "group", "map", "row",
		"dedup", "deduplication", "index", "hash", "range", "label", "annotation", "config", "state", "lock", "resource", "field", "json", "metric", "gpg", "pgp", "event", "message",
		"translation", "registry", "tag", "context", "lookup", "data", "search", "answer", "verify", "verification", "each", "for", "unique", "ring", "column", "item", "file", "mon", "tur"):
		return silent
	}
	return hints
}

// isSuffixWord reports whether a word says how a value is written, not what it is.
func isSuffixWord(w string) bool {
	switch w {
	case "data", "value", "base64", "b64", "plaintext", "raw", "hash", "string", "encoded", "base":
		return true
	}
	return false
}

// identifies reports whether what stands under a name tells objects apart, or is the digest of something.
func identifies(name []byte) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	switch last := strings.TrimRight(words[len(words)-1], "0123456789"); last {
	case "ids", "arn", "urn", "name", "names", "namespace", "md", "checksums", "fingerprint", "thumbprint", "etag", "integrity",
		"version", "revision", "rev", "ref", "commit", "serial", "lineage", "nonce", "request", "trace", "traceparent", "span", "cursor", "continue", "marker", "public", "cert",
		"certificate", "certificates", "chain", "bundle", "ca", "crt", "pem", "csr", "image", "path", "uri", "url", "endpoint", "host", "hostname", "selector", "label", "labels", "generation":
		return true
	default:
		return hasSuffix(last, "id", "hash", "digest", "sha", "sum", "cabundle", "publickey") || last == "key" && len(words) > 1 && keyTells(words[len(words)-2]) == silent
	}
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

// nameWords splits at everything but letters and digits, and where camel case begins a word; words are lower case.
func nameWords(name []byte) []string {
	low := append(make([]byte, 0, 64), name...)
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c | 0x20
		}
	}
	lower := string(low)
	out := make([]string, 0, 4)
	start := -1
	flush := func(end int) {
		if start >= 0 {
			out = append(out, lower[start:end])
		}
		start = -1
	}
	for i, c := range name {
		if !isWord(c) || c == '_' {
			flush(i)
			continue
		}
		if c >= 'A' && c <= 'Z' && i > 0 && (name[i-1] >= 'a' && name[i-1] <= 'z' || name[i-1] >= '0' && name[i-1] <= '9') {
			flush(i)
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(name))
	return out
}

// valueNames are fields that hold the value of what their parent is called: {"password": {"current": …}}.
var valueNames = map[string]bool{"": true, "value": true, "v": true, "current": true, "previous": true, "old": true, "new": true, "latest": true, "raw": true, "plain": true,
	"plaintext": true, "text": true, "string": true, "content": true, "data": true, "base64": true, "encoded": true, "secret": true, "default": true, "before": true, "after": true,
	"primary": true, "secondary": true, "constant_value": true, "stringvalue": true, "secretvalue": true}

func isValueName(name string) bool {
	return len(name) <= len("constant_value") && valueNames[strings.ToLower(name)]
}
