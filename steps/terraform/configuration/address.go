package configuration

import (
	"regexp"
	"strings"
)

// Address is one resource instance as the tools write it.
type Address struct {
	module   string // with keys, "" for the root
	Data     bool
	Type     string
	name     string
	Resource string // all but the key
	key      string // with its brackets
	Keyed    byte   // 0 for no key, 'i' for an index, 's' for text
}

// keyText is a key in brackets: an index, or a quoted text.
const keyText = `\[(?:\d+|"(?:[^"\\]|\\.)*")\]`

var instanceAddress = regexp.MustCompile(`^((?:module\.[A-Za-z_][A-Za-z0-9_-]*(?:` + keyText + `)?\.)*)(data\.)?([A-Za-z_][A-Za-z0-9_-]*)\.([A-Za-z_][A-Za-z0-9_-]*)(` + keyText + `)?$`)

// ParseAddress reads an address; ok is false where it names no one instance.
func ParseAddress(s string) (Address, bool) {
	m := instanceAddress.FindStringSubmatch(s)
	if m == nil || m[2] == "" && (m[3] == "module" || m[3] == "data") {
		return Address{}, false
	}
	a := Address{module: strings.TrimSuffix(m[1], "."), Data: m[2] != "", Type: m[3], name: m[4], key: m[5]}
	a.Resource = strings.TrimSuffix(s, a.key)
	switch {
	case strings.HasPrefix(a.key, `["`):
		a.Keyed = 's'
	case a.key != "":
		a.Keyed = 'i'
	}
	return a, true
}

// ModuleOf is the module of an address, "" for the root.
func ModuleOf(s string) string {
	a, _ := ParseAddress(s)
	return a.module
}
