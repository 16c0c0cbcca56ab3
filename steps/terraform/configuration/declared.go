package configuration

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/loosetype"
	"handrail/steps/terraform/module"
)

// moduleKeys are the keys in the path of a module, which modules.json leaves out.
var moduleKeys = regexp.MustCompile(keyText)

// Declared looks for the declaration of an address in the configuration of w,
// without running anything.
func Declared(ctx context.Context, w module.Workdir, a Address) loosetype.Declaration {
	installed, err := installedModules(filepath.Join(w.Data, "modules", "modules.json"))
	read := func(below string) (map[string][]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		below = steps.Below(w.Dir, below)
		return readConfig(below, module.IsConfig)
	}
	var key []string
	for part := range strings.SplitSeq(moduleKeys.ReplaceAllString(a.module, ""), ".") {
		if part != "module" && part != "" {
			key = append(key, part)
		}
	}
	d := loosetype.Declares(read, ".", installed, strings.Join(key, "."), a.Type, a.name)
	if err != nil {
		d.Gaps = append(d.Gaps, err.Error())
	}
	return d
}
