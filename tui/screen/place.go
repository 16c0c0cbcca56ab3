package screen

import (
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
)

// Place is a kind of surroundings that must not be mistaken for another: a name
// on it, wherever the pattern matches the cluster, the context or the workspace.
type Place struct {
	Label   string
	Pattern *regexp.Regexp
}

// UsualPlaces is what is looked for by default.
func UsualPlaces() []Place {
	return []Place{{"PRODUCTION", regexp.MustCompile(`(?i)(^|[^a-z0-9])(prod|production|prd|live)([^a-z0-9]|$)`)}}
}

// Is reports whether a row of the header belongs to the place. The machine that
// handrail runs on says nothing of it.
func (p Place) Is(kv steps.KV) bool { return kv.Key != "host" && p.Pattern.MatchString(kv.Value) }

// Holds reports whether any of the lines belongs to the place, or cannot be told.
func (p Place) Holds(lines []steps.KV) bool {
	return slices.ContainsFunc(lines, func(kv steps.KV) bool {
		unknown := kv.Key != "host" && (kv.Value == "unknown" || strings.HasPrefix(kv.Value, "unknown: "))
		return unknown || p.Is(kv)
	})
}
