package prometheus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

// answer is one answer of the API.
type answer struct {
	series   []series
	warnings []string
	failed   string // why the server has none
}

// series is one of the result. A scalar is a series without labels.
type series struct {
	labels map[string]string
	points []point
}

type point struct {
	at    time.Time
	value string
}

// errForm says that an answer is none of the documented form.
var errForm = errors.New("the answer is none of a Prometheus: it is no JSON of that form")

// parse reads an answer ("HTTP API", Format overview and Expression query result formats).
func parse(raw []byte) (answer, error) {
	var in struct {
		Status    string   `json:"status"`
		ErrorType string   `json:"errorType"`
		Error     string   `json:"error"`
		Warnings  []string `json:"warnings"`
		Data      *struct {
			Type   string          `json:"resultType"`
			Result json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return answer{}, errForm
	}
	out := answer{warnings: in.Warnings}
	switch {
	case in.Status == "error":
		out.failed = steps.OneLine(strings.ToValidUTF8(in.ErrorType+": "+in.Error, "?"), 300)
		return out, nil
	case in.Status != "success" || in.Data == nil:
		return answer{}, errForm
	}
	var err error
	switch in.Data.Type {
	case "vector", "matrix":
		out.series, err = parseSeries(in.Data.Result)
	case "scalar":
		var p point
		if p, err = parsePoint(in.Data.Result); err == nil {
			out.series = []series{{points: []point{p}}}
		}
	default:
		return answer{}, fmt.Errorf("the answer is a %s, and no number", steps.OneLine(in.Data.Type, 40))
	}
	return out, err
}

func parseSeries(raw json.RawMessage) ([]series, error) {
	var in []struct {
		Metric map[string]string `json:"metric"`
		Value  json.RawMessage   `json:"value"`
		Values []json.RawMessage `json:"values"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, errForm
	}
	if len(in) > mostSeries {
		return nil, fmt.Errorf("the answer has %d series, and %d are read: sum them up, or name fewer", len(in), mostSeries)
	}
	var out []series
	for _, s := range in {
		if s.Value != nil {
			s.Values = []json.RawMessage{s.Value}
		}
		if len(s.Values) > mostPoints+1 {
			return nil, fmt.Errorf("a series has %d points, and %d are read", len(s.Values), mostPoints)
		}
		one := series{labels: s.Metric}
		for _, raw := range s.Values {
			p, err := parsePoint(raw)
			if err != nil {
				return nil, err
			}
			one.points = append(one.points, p)
		}
		if len(one.points) == 0 {
			return nil, errors.New("the answer has a series without a number: a native histogram, or none of the form")
		}
		out = append(out, one)
	}
	return out, nil
}

// parsePoint reads [unix seconds, "value"].
func parsePoint(raw json.RawMessage) (point, error) {
	var pair []json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&pair); err != nil || len(pair) != 2 {
		return point{}, errForm
	}
	var value string
	at, err := strconv.ParseFloat(string(pair[0]), 64)
	if err != nil || math.Abs(at) > 1e11 || json.Unmarshal(pair[1], &value) != nil {
		return point{}, errForm
	}
	if _, err := strconv.ParseFloat(value, 64); err != nil {
		return point{}, errForm
	}
	return point{time.UnixMilli(int64(math.Round(at * 1000))).UTC(), value}, nil
}

// thousandths is the value as a whole number of them; ok is false where it is none, or too large.
func (p point) thousandths() (n int64, ok bool) {
	f, err := strconv.ParseFloat(p.value, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1<<50 {
		return 0, false
	}
	return int64(math.Round(f * 1000)), true
}

// name is a series as Prometheus writes it.
func (s series) name() string {
	var names []string
	for name := range s.labels {
		if name != "__name__" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = name + "=" + strconv.Quote(s.labels[name])
	}
	return steps.OneLine(strings.ToValidUTF8(s.labels["__name__"]+"{"+strings.Join(names, ",")+"}", "?"), 300)
}
