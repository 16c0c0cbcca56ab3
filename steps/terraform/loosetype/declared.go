package loosetype

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// repeat names the argument by which a block stands for several instances, ""
// where it stands for one.
func repeat(body hcl.Body) string {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "count"}, {Name: "for_each"}}})
	if content == nil {
		return ""
	}
	for _, name := range []string{"count", "for_each"} {
		if _, there := content.Attributes[name]; there {
			return name
		}
	}
	return ""
}

// Declaration is how a configuration declares a resource.
type Declaration struct {
	Found  bool
	At     string   // file and line
	Repeat string   // count, for_each or ""
	Gaps   []string // what could not be read: where it is not Found, it may stand there
}

// Declares looks for a resource in the module with this key of modules.json, ""
// for the root. read, dir and installed are as for Check.
func Declares(read Source, dir string, installed map[string]string, key, typ, name string) Declaration {
	modules, gaps := load(read, dir, installed)
	d := Declaration{Gaps: gaps}
	m := modules[key]
	if m == nil {
		return d
	}
	for _, b := range m.all {
		if b.typ == "resource" && slices.Equal(b.labels, []string{typ, name}) {
			d.Found, d.At, d.Repeat = true, at(b.at), b.repeat
		}
	}
	return d
}
