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
