package prometheus

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"handrail/steps"
)

// query is prometheus/query.
func query(ctx context.Context, a asked) (steps.Observation, error) {
	at := a.now
	if v := a.in["at"]; v.Known() && !v.Time().IsZero() {
		at = v.Time()
	}
	var obs steps.Observation
	got, err := a.get(ctx, "query", url.Values{"query": {a.in.Text("query")}, "time": {stamp(at)}}, &obs)
	if err != nil {
		return steps.Observation{}, err
	}
	a.f.Set("at", steps.TimeOf(at.UTC().Truncate(time.Millisecond)))
	a.counted(got, "values")
	switch {
	case len(got.series) == 1:
		p := got.series[0].points[len(got.series[0].points)-1]
		a.f.Set("value", steps.StringOf(p.value))
		a.number("thousandths", p)
		obs.Summary = fmt.Sprintf("%s is %s.", got.series[0].name(), p.value)
	case len(got.series) == 0:
		a.f.Unknown("the answer has no series", "value", "thousandths")
		obs.Summary = "No series: nothing is known, not even that it is zero."
	default:
		a.f.Unknown(fmt.Sprintf("the answer has %d series", len(got.series)), "value", "thousandths")
		obs.Summary = fmt.Sprintf("%d series.", len(got.series))
	}
	obs.Facts = a.f.Rest("not read")
	return obs, nil
}

func stamp(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }

// counted sets how many series there are and their last values. What the server calls partial counts nothing.
func (a asked) counted(got answer, table string) {
	if len(got.warnings) > 0 {
		a.f.Unknown("the server calls its answer partial: "+steps.OneLine(got.warnings[0], 200), "series", "absent", table)
		return
	}
	a.f.Set("series", steps.IntOf(int64(len(got.series))))
	a.f.Set("absent", steps.BoolOf(len(got.series) == 0))
	if len(got.series) > mostListed {
		a.f.Unknown(fmt.Sprintf("there are %d series, and a fact lists %d", len(got.series), mostListed), table)
		return
	}
	values := map[string]string{}
	for _, s := range got.series {
		values[s.name()] = s.points[len(s.points)-1].value
	}
	a.f.Set(table, steps.TableOf(values))
}

// number sets a value in thousandths where it is one.
func (a asked) number(name string, p point) {
	if n, ok := p.thousandths(); ok {
		a.f.Set(name, steps.IntOf(n))
		return
	}
	a.f.Unknown("the value is "+p.value, name)
}
