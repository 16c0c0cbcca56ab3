package bundle

import (
	"path/filepath"
	"strings"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/session/replay"
	"handrail/steps/catalog"
)

// Reading is what is needed to show a bundle and to do nothing with it.
func Reading(p *process.Program) replay.Config {
	return replay.Config{Catalog: catalog.New(), Library: func(a string) (*runbooks.Runbook, error) { return settings.Runbook(p, a) }, Now: p.Now}
}

// IDOf is the incident of a bundle, by the name of its directory.
func IDOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".hrb") }
