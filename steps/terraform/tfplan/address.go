package tfplan

import "strings"

// Address is the address of a resource instance, in its parts.
type Address struct {
	Modules []string // as module.a or module.a["k"]
	Data    bool
	Type    string
	Name    string
	Key     string // with its brackets, "" for none
}

// ParseAddress takes an address apart; false for what is none of an instance.
func ParseAddress(s string) (Address, bool) {
	var a Address
	parts, ok := split(s)
	for ok && len(parts) >= 2 && parts[0] == "module" {
		a.Modules = append(a.Modules, "module."+parts[1])
		parts = parts[2:]
	}
	if ok && len(parts) == 3 && parts[0] == "data" {
		a.Data, parts = true, parts[1:]
	}
	if !ok || len(parts) != 2 || parts[0] == "" || strings.Contains(parts[0], "[") {
		return Address{}, false
	}
	a.Type = parts[0]
	a.Name = parts[1]
	if i := strings.IndexByte(a.Name, '['); i >= 0 {
		a.Name, a.Key = a.Name[:i], a.Name[i:]
	}
	return a, a.Name != ""
}

// split cuts an address at its dots, but for those inside a quoted key.
func split(s string) ([]string, bool) {
	var out []string
	start, inside, quoted := 0, false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case c == '.' && !inside:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:]), !inside && !quoted
}

// String puts the address together again.
func (a Address) String() string { return a.bare() + a.Key }

// bare is the address of the whole resource.
func (a Address) bare() string {
	parts := append([]string{}, a.Modules...)
	if a.Data {
		parts = append(parts, "data")
	}
	return strings.Join(append(parts, a.Type, a.Name), ".")
}

func (a Address) module() string { return strings.Join(a.Modules, ".") }

func (a Address) lastModule() string {
	if len(a.Modules) == 0 {
		return ""
	}
	return a.Modules[len(a.Modules)-1]
}
