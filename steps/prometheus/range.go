package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"handrail/steps"
)

const (
	mostSpan  = 31 * 24 * time.Hour
	leastStep = 15 * time.Second
)

// queryRange is prometheus/range.
func queryRange(ctx context.Context, a asked) (steps.Observation, error) {
	span, step := a.in.Duration("since"), a.in.Duration("step")
	end := a.now
	if v := a.in["until"]; v.Known() && !v.Time().IsZero() {
		end = v.Time()
	}
	if step == 0 {
		step = max(leastStep, (span / (mostPoints / 4)).Round(time.Second))
	}
	switch {
	case span <= 0 || span > mostSpan:
		return steps.Observation{}, errors.New("since: want a span of more than nothing and at most 31 days, as 6h")
	case step < time.Second || span/step > mostPoints:
		return steps.Observation{}, fmt.Errorf("step: %s makes more than %d points of %s, or is below a second", step, mostPoints, span)
	}
	var obs steps.Observation
	start := end.Add(-span)
	got, err := a.get(ctx, "query_range", url.Values{"query": {a.in.Text("query")}, "start": {stamp(start)}, "end": {stamp(end)}, "step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}}, &obs)
	if err != nil {
		return steps.Observation{}, err
	}
	a.counted(got, "lasts")
	switch len(got.series) {
	case 1:
		a.tell(got.series[0], int64(span/step)+1)
		first, last := got.series[0].points[0], got.series[0].points[len(got.series[0].points)-1]
		obs.Summary = fmt.Sprintf("%s: %s at %s, %s at %s.", got.series[0].name(), first.value, first.at.Format(time.RFC3339), last.value, last.at.Format(time.RFC3339))
	case 0:
		obs.Summary = "No series in all of the range: nothing is known, not even that it is zero."
	default:
		obs.Summary = fmt.Sprintf("%d series.", len(got.series))
	}
	obs.Facts = a.f.Rest(fmt.Sprintf("the answer has %d series", len(got.series)))
	return obs, nil
}

// tell sets what the one series is like.
func (a asked) tell(s series, room int64) {
	last := s.points[len(s.points)-1]
	a.f.Set("points", steps.IntOf(int64(len(s.points))))
	a.f.Set("missing", steps.IntOf(max(0, room-int64(len(s.points)))))
	a.f.Set("last_at", steps.TimeOf(last.at))
	a.number("first", s.points[0])
	a.number("last", last)
	least, most, whole := int64(0), int64(0), true
	since := last.at
	for i := len(s.points) - 1; i >= 0 && s.points[i].value == last.value; i-- {
		since = s.points[i].at
	}
	for i, p := range s.points {
		n, ok := p.thousandths()
		whole = whole && ok
		if i == 0 || n < least {
			least = n
		}
		if i == 0 || n > most {
			most = n
		}
	}
	a.f.Set("stands_since", steps.TimeOf(since))
	if !whole {
		a.f.Unknown("one of its values is no number of that size", "least", "most")
		return
	}
	a.f.Set("least", steps.IntOf(least))
	a.f.Set("most", steps.IntOf(most))
}
