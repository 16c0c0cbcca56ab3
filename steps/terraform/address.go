package terraform

import (
	"regexp"
	"strings"
)

// address is one resource instance as the tools write it.
type address struct {
	module   string // with keys, "" for the root
	data     bool
	typ      string
	name     string
	resource string // all but the key
	key      string // with its brackets
	keyed    byte   // 0 for no key, 'i' for an index, 's' for text
}

// keyText is a key in brackets: an index, or a quoted text.
const keyText = `\[(?:\d+|"(?:[^"\\]|\\.)*")\]`

var instanceAddress = regexp.MustCompile(`^((?:module\.[A-Za-z_][A-Za-z0-9_-]*(?:` + keyText + `)?\.)*)(data\.)?([A-Za-z_][A-Za-z0-9_-]*)\.([A-Za-z_][A-Za-z0-9_-]*)(` + keyText + `)?$`)

func parseAddress(s string) (address, bool) {
	m := instanceAddress.FindStringSubmatch(s)
	if m == nil || m[2] == "" && (m[3] == "module" || m[3] == "data") {
		return address{}, false
	}
	a := address{module: strings.TrimSuffix(m[1], "."), data: m[2] != "", typ: m[3], name: m[4], key: m[5]}
	a.resource = strings.TrimSuffix(s, a.key)
	switch {
	case strings.HasPrefix(a.key, `["`):
		a.keyed = 's'
	case a.key != "":
		a.keyed = 'i'
	}
	return a, true
}

func moduleOf(s string) string {
	a, _ := parseAddress(s)
	return a.module
}
