package prometheus

import (
	"time"

	"handrail/steps"
)

const (
	mostSeries = 200
	mostPoints = 1000
	mostListed = 50 // series that a fact lists
)

const asks = "asks the Prometheus that is named, by GET alone"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	named := []steps.Field{
		{Name: "server", Type: steps.String, Doc: "its address, https://host, or http:// of this machine over a port-forward; asked without credentials. Without it PROMETHEUS_URL is asked, with PROMETHEUS_TOKEN"},
		{Name: "query", Type: steps.String, Required: true, Doc: "the expression, as PromQL"},
	}
	return []steps.Kind{
		{
			Name: "prometheus/query", Class: steps.Probe, Facts: queryFacts(),
			Doc:     "Asks a Prometheus one expression for one moment, and keeps query and answer. No series is absent, never zero.",
			Params:  append(named[:len(named):len(named)], steps.Field{Name: "at", Type: steps.Time, Doc: "moment that is asked for, now where none is given"}),
			Touches: []string{asks, "keeps the answer"},
			Reads:   func(e steps.Env) steps.Prober { return probe{env: e, facts: queryFacts(), read: query} },
		},
		{
			Name: "prometheus/range", Class: steps.Probe, Facts: rangeFacts(),
			Doc: "Asks a Prometheus one expression over a range of time, and says how it began, how it ended, its least and its most, and since when it stands as it is.",
			Params: append(named[:len(named):len(named)],
				steps.Field{Name: "since", Type: steps.Duration, Default: "1h", Doc: "how far back from its end, up to 31 days"},
				steps.Field{Name: "until", Type: steps.Time, Doc: "end of the range, now where none is given"},
				steps.Field{Name: "step", Type: steps.Duration, Doc: "distance of two points; by itself as many as fit, at least 15s"}),
			Touches: []string{asks, "keeps the answer"},
			Takes:   func(steps.Params) time.Duration { return 2 * time.Minute },
			Reads:   func(e steps.Env) steps.Prober { return probe{env: e, facts: rangeFacts(), read: queryRange} },
		},
	}
}

func queryFacts() []steps.Field {
	return []steps.Field{
		{Name: "series", Type: steps.Int, Doc: "series that the answer has"},
		{Name: "absent", Type: steps.Bool, Doc: "whether it has none: nothing is known then, not even that it is zero"},
		{Name: "value", Type: steps.String, Doc: "the value where there is one series alone, as it came"},
		{Name: "thousandths", Type: steps.Int, Doc: "the same value times 1,000, rounded"},
		{Name: "values", Type: steps.Table, Doc: "each series, by its labels, to its value; unknown above 50"},
		{Name: "at", Type: steps.Time, Doc: "moment that the answer is for"},
	}
}

func rangeFacts() []steps.Field {
	return []steps.Field{
		{Name: "series", Type: steps.Int, Doc: "series that the answer has"},
		{Name: "absent", Type: steps.Bool, Doc: "whether it has none in all of the range"},
		{Name: "points", Type: steps.Int, Doc: "points of the one series"},
		{Name: "missing", Type: steps.Int, Doc: "points that the range has room for and the one series lacks"},
		{Name: "first", Type: steps.Int, Doc: "first value of the one series, times 1,000"},
		{Name: "last", Type: steps.Int, Doc: "its last value, times 1,000"},
		{Name: "least", Type: steps.Int, Doc: "its least value, times 1,000"},
		{Name: "most", Type: steps.Int, Doc: "its greatest value, times 1,000"},
		{Name: "last_at", Type: steps.Time, Doc: "when it had its last value; what is older than a step has ended"},
		{Name: "stands_since", Type: steps.Time, Doc: "first point from which on it has had its last value"},
		{Name: "lasts", Type: steps.Table, Doc: "each series, by its labels, to its last value; unknown above 50"},
	}
}
