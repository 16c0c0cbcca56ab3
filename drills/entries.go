package drills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handrail/drills/stage"
	"handrail/steps"
)

// entriesKind is a probe that only drills have: what the API of the bad provider
// holds, asked of the API itself and of no provider.
func entriesKind() steps.Kind {
	return steps.Kind{
		Name: "drill/entries", Doc: "Reads what the API of a drill holds, and who wrote it.", Class: steps.Probe,
		Params: []steps.Field{},
		Facts: []steps.Field{
			{Name: "names", Type: steps.Strings, Doc: "entries"},
			{Name: "count", Type: steps.Int, Doc: "how many"},
			{Name: "values", Type: steps.Table, Doc: "entry to its value"},
			{Name: "throttled", Type: steps.Int, Doc: "requests that were refused for their rate"},
			{Name: "written", Type: steps.Int, Doc: "writes that went through"},
			{Name: "operator", Type: steps.Int, Doc: "writes that went through, by the trainee"},
		},
		Reads: func(e steps.Env) steps.Prober { return entriesProbe{e} },
	}
}

type entriesProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p entriesProbe) Probe(ctx context.Context, _ steps.Params, _ steps.Sink) (steps.Observation, error) {
	url, token := p.env.Getenv("RECORDS_API"), p.env.Getenv(stage.TokenVariable)
	if url == "" {
		return steps.Observation{}, errors.New("this drill has no API")
	}
	var list struct {
		Entries []struct{ Name, Value string }
	}
	var log struct {
		Requests []struct {
			At     time.Time
			Who    string
			Method string
			Path   string
			Status int
		}
	}
	for path, to := range map[string]any{"/entries": &list, "/log": &log} {
		raw, err := stage.AskAPI(ctx, http.MethodGet, url+path, token, nil)
		if err != nil {
			return steps.Observation{}, err
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return steps.Observation{}, fmt.Errorf("reading what the API of the drill answered: %w", err)
		}
	}
	names, values := []string{}, map[string]string{}
	for _, e := range list.Entries {
		names = append(names, e.Name)
		values[e.Name] = e.Value
	}
	throttled, written, operator := 0, 0, 0
	for _, r := range log.Requests {
		switch {
		case r.Status == http.StatusTooManyRequests:
			throttled++
		case r.Method != http.MethodGet && r.Path != "/control" && r.Status/100 == 2:
			written++
			if r.Who == stage.NameOperator {
				operator++
			}
		}
	}
	return steps.Observation{Facts: map[string]steps.Value{
		"names": steps.StringsOf(names), "count": steps.IntOf(int64(len(names))), "values": steps.TableOf(values),
		"throttled": steps.IntOf(int64(throttled)), "written": steps.IntOf(int64(written)), "operator": steps.IntOf(int64(operator)),
	}}, nil
}
