package terraform

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/steps/terraform/loosetype"
)

// moduleKeys are the keys in the path of a module, which modules.json leaves out.
var moduleKeys = regexp.MustCompile(keyText)

// declared looks for the declaration of an address in the configuration of w,
// without running anything.
func declared(ctx context.Context, w workdir, a address) loosetype.Declaration {
	installed, err := installedModules(filepath.Join(w.data, "modules", "modules.json"))
	read := func(below string) (map[string][]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !filepath.IsAbs(below) {
			below = filepath.Join(w.dir, below)
		}
		return readConfig(below, isConfig)
	}
	var key []string
	for part := range strings.SplitSeq(moduleKeys.ReplaceAllString(a.module, ""), ".") {
		if part != "module" && part != "" {
			key = append(key, part)
		}
	}
	d := loosetype.Declares(read, ".", installed, strings.Join(key, "."), a.typ, a.name)
	if err != nil {
		d.Gaps = append(d.Gaps, err.Error())
	}
	return d
}

// declarable says what keeps the configuration from having an address.
func (f floors) declarable(d loosetype.Declaration, a address, text string) {
	switch {
	case !d.Found && len(d.Gaps) == 0:
		f.unmet("write its resource block first, and have it reviewed", "The configuration does not declare %s.", clip(a.resource, 300))
	case !d.Found: // the program will refuse it, if it is not there
	case d.Repeat == "count" && a.keyed != 'i':
		f.unmet("name the instance, as "+a.resource+"[0]", "%s has count (%s), and %s names no index.", clip(a.resource, 300), d.At, clip(text, 300))
	case d.Repeat == "for_each" && a.keyed != 's':
		f.unmet(`name the instance, as `+a.resource+`["key"]`, "%s has for_each (%s), and %s names no key.", clip(a.resource, 300), d.At, clip(text, 300))
	case d.Repeat == "" && a.keyed != 0:
		f.unmet("name it as "+a.resource, "%s is declared once (%s), without count or for_each.", clip(a.resource, 300), d.At)
	}
}
