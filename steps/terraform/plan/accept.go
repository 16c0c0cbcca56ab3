package plan

import (
	"fmt"
	"io"
	"slices"

	"handrail/steps"
	"handrail/steps/terraform/state"
)

// acceptedIn reads which differences people accepted in writing: an address on each
// line, and behind it the attributes as the fact updates names them.
func acceptedIn(env steps.Env, name string, out steps.Sink) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	text, err := state.ReadList(env, name)
	if err != nil {
		return nil, fmt.Errorf("what is accepted: %w", err)
	}
	list, why := state.ParsePairs(text)
	if why != "" {
		return nil, fmt.Errorf("what is accepted, %s: %s", name, why)
	}
	accepted := map[string]string{}
	for _, p := range list {
		accepted[p.Address] = p.ID
	}
	if gap := steps.Keep(out, "accepted", steps.MediaText, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); gap != "" {
		return nil, fmt.Errorf("what is accepted: %s", gap)
	}
	return accepted, nil
}

// accept says which changes no one accepted. An update counts as accepted only where it
// changes exactly the attributes that were written down, and nothing sensitive.
func accept(accepted map[string]string, obs *steps.Observation) {
	changed, creates, updates, credentials := obs.Facts["changed"], obs.Facts["creates"], obs.Facts["updates"], obs.Facts["credential_updates"]
	for _, v := range []steps.Value{changed, creates, updates, credentials} {
		if !v.Known() {
			return
		}
	}
	rest := []string{}
	for _, a := range changed.Strings() {
		paths, update := updates.Table()[a]
		if slices.Contains(creates.Strings(), a) || update && paths != "" && accepted[a] == paths && !slices.Contains(credentials.Strings(), a) {
			continue
		}
		rest = append(rest, a)
	}
	obs.Facts["unaccepted"] = steps.StringsOf(rest)
}
