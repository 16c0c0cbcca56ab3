package tui

import (
	"regexp"
	"slices"
	"strings"

	"handrail/session"
	"handrail/steps"
	"handrail/tui/ink"
)

// Place is a kind of surroundings that must not be mistaken for another: a name
// on it, wherever the pattern matches the cluster, the context or the workspace.
type Place struct {
	Label   string
	Pattern *regexp.Regexp
}

// UsualPlaces is what is looked for where nobody said otherwise.
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

// placeOf returns the label of the first place that something of the header
// belongs to. Practice has its own word and is never production.
func (env *Env) placeOf(header []steps.KV) ink.Text {
	places := env.c.Places
	if places == nil {
		places = UsualPlaces()
	}
	for _, p := range places {
		if p.Holds(header) {
			return ink.Shown(strings.ToUpper(p.Label))
		}
	}
	return ""
}

// place is where the incident that is shown goes on, or would be opened, as a
// label to draw; "" where that is nothing special.
func (env *Env) place() ink.Text {
	if env.inc == nil {
		return env.placeOf([]steps.KV{{Key: "cluster", Value: env.known.Cluster}})
	}
	if env.snap.State.Drill != "" {
		return ""
	}
	return env.placeOf(append(slices.Clone(env.snap.Header), env.snap.Where...))
}

// drawWhere says which other context a step reads, and in the colour of its place
// where that is somewhere special.
func (r *runScreen) drawWhere(env *Env, p *ink.Page, card session.Card) {
	for _, kv := range card.With {
		if kv.Key != steps.ContextParam || kv.Value == "" {
			continue
		}
		lead := p.Theme.Muted.On("· ")
		if place := env.placeOf([]steps.KV{kv}); place != "" && r.snap.State.Drill == "" {
			lead = p.Theme.ChipPlace.On(" "+ink.Clip(place, 16)+" ") + " "
		}
		p.Gap()
		p.Item(lead, p.Theme.Plain, ink.Say("It reads context %s, not the incident's own.", kv.Value))
	}
}

// rule is the line under the header: heavy and in its own colour where a mistake
// costs most.
func rule(env *Env) ink.Drawn {
	if env.place() != "" {
		return env.th.Place.On(ink.Line("━", env.w))
	}
	return env.th.Faint.On(ink.Line("─", env.w))
}
