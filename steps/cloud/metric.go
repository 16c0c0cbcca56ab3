package cloud

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"handrail/steps"
)

const (
	metricData   = "POST /service/GraniteServiceVersion20100801/operation/GetMetricData"
	mostDatums   = 5000
	mostMetric   = 63 * 24 * time.Hour // points of five minutes are kept so long ("Metrics retention")
	leastSwings  = 6
	swingsBeyond = 5 // times the least, for a sawtooth
)

func metricFacts() []steps.Field {
	return []steps.Field{
		{Name: "points", Type: steps.Int, Doc: "points that the metric has in the range"},
		{Name: "absent", Type: steps.Bool, Doc: "whether it has none: nothing is known then, not even that it is zero"},
		{Name: "missing", Type: steps.Int, Doc: "points that the range has room for and that are not there, but for the newest two"},
		{Name: "zero", Type: steps.Bool, Doc: "whether each point of the range is there and zero; unknown where one is missing and the others are zero"},
		{Name: "least", Type: steps.Int, Doc: "least value, times 1,000"},
		{Name: "most", Type: steps.Int, Doc: "greatest value, times 1,000"},
		{Name: "last", Type: steps.Int, Doc: "newest value, times 1,000"},
		{Name: "last_at", Type: steps.Time, Doc: "time of the newest point"},
		{Name: "last_nonzero_at", Type: steps.Time, Doc: "time of the newest point above zero; unknown where there is none"},
		{Name: "swings", Type: steps.Int, Doc: "how often the values cross the middle between their least and their greatest"},
		{Name: "shape", Type: steps.Enum, Values: []string{"flat", "sawtooth", "other"}, Doc: "sawtooth: it rises and falls again and again, by more than five times its least; flat: all values are within a tenth of the greatest"},
	}
}

func metricKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/metric", Class: steps.Probe, Facts: metricFacts(),
		Doc: "Asks Amazon CloudWatch one metric over a range, and says whether it is zero throughout, flat, or goes up and down. No point is absent, never zero.",
		Params: []steps.Field{
			{Name: "namespace", Type: steps.String, Required: true, Pattern: `[A-Za-z0-9._/#:-]{1,255}`, Doc: "namespace of the metric, as AWS/RDS"},
			{Name: "metric", Type: steps.String, Required: true, Pattern: `[\x20-\x7e]{1,255}`, Doc: "its name, as DatabaseConnections"},
			{Name: "dimension", Type: steps.String, Required: true, Pattern: `[\x21-\x7e]{1,255}=[^\n]{1,1000}`, Doc: "what it is of, as DBInstanceIdentifier=NAME"},
			{Name: "stat", Type: steps.Enum, Default: "Maximum", Values: []string{"Maximum", "Minimum", "Average", "Sum"}, Doc: "statistic of each period"},
			{Name: "since", Type: steps.Duration, Default: "504h", Doc: "how far back, up to 63 days"},
			{Name: "region", Type: steps.String, Pattern: `[a-z0-9-]{1,40}`, Doc: "region that it is in, that of the AWS tools where none is given"},
		},
		Touches: []string{"asks CloudWatch for the points of the metric, and can ask nothing else", "keeps the points"},
		Takes:   func(steps.Params) time.Duration { return time.Minute },
		Reads:   func(e steps.Env) steps.Prober { return probe{env: e, facts: metricFacts(), read: readMetric} },
	}
}

// datum is one point of a metric.
type datum struct {
	At    time.Time `json:"at"`
	Value float64   `json:"value"`
}

// question is one metric over a range.
type question struct {
	namespace, metric, name, value string
	stat                           string
	back                           time.Duration
}

// readMetric is cloud/metric.
func readMetric(ctx context.Context, a asked) error {
	name, value, _ := strings.Cut(a.in.Text("dimension"), "=")
	s, err := a.measure(ctx, question{a.in.Text("namespace"), a.in.Text("metric"), name, value, a.in.Text("stat"), a.in["since"].Duration()})
	if err != nil {
		return err
	}
	a.keep("points", s.points)
	a.series(s)
	return nil
}

// measured are the points of a metric, oldest first.
type measured struct {
	points  []datum
	missing int // points that the range has room for, without the newest two, which may not be there yet
}

// zero says whether each point is there and zero; known is false where one is missing and the others are zero, or none is there.
func (m measured) zero() (zero, known bool) {
	for _, d := range m.points {
		if d.Value != 0 {
			return false, true
		}
	}
	return true, len(m.points) > 0 && m.missing == 0
}

// measure asks CloudWatch.
func (a asked) measure(ctx context.Context, q question) (m measured, err error) {
	if q.back < time.Minute || q.back > mostMetric {
		return m, errors.New("since: a minute at least, 63 days at most")
	}
	period := periodOf(q.back)
	end := a.now.UTC().Truncate(period)
	begin := end.Add(-q.back).Truncate(period)
	at, err := endpoint(a.env, "CLOUDWATCH")
	if err != nil {
		return m, err
	}
	client := cloudwatch.NewFromConfig(a.cfg, func(o *cloudwatch.Options) {
		o.HTTPClient = reader(a.env, a.roots, metricData)
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	})
	a.obs.Command = fmt.Sprintf("aws cloudwatch get-metric-statistics --region %s --namespace %s --metric-name %s --dimensions Name=%s,Value=%s --statistics %s --period %d --start-time %s --end-time %s",
		a.cfg.Region, steps.Quote(q.namespace), steps.Quote(q.metric), steps.Quote(q.name), steps.Quote(q.value), q.stat, int(period.Seconds()), begin.Format(time.RFC3339), end.Format(time.RFC3339))
	ask := &cloudwatch.GetMetricDataInput{StartTime: &begin, EndTime: &end, ScanBy: types.ScanByTimestampAscending, MetricDataQueries: []types.MetricDataQuery{{
		Id: aws.String("m"), ReturnData: aws.Bool(true), MetricStat: &types.MetricStat{Period: aws.Int32(int32(period.Seconds())), Stat: &q.stat,
			Metric: &types.Metric{Namespace: &q.namespace, MetricName: &q.metric, Dimensions: []types.Dimension{{Name: &q.name, Value: &q.value}}}},
	}}}
	for {
		got, err := client.GetMetricData(ctx, ask)
		if err != nil {
			return m, why("the metric", "cloudwatch:GetMetricData", err)
		}
		for _, r := range got.MetricDataResults {
			if len(r.Timestamps) != len(r.Values) {
				return m, errors.New("CloudWatch answers with other values than points")
			}
			for i := range r.Values {
				m.points = append(m.points, datum{r.Timestamps[i].UTC(), r.Values[i]})
			}
			if r.StatusCode == types.StatusCodeInternalError || r.StatusCode == types.StatusCodeForbidden {
				return m, fmt.Errorf("reading the metric: CloudWatch answers %s", clean(string(r.StatusCode)))
			}
		}
		if len(m.points) > mostDatums {
			return m, fmt.Errorf("the metric has more than the %d points that are read: ask for less", mostDatums)
		}
		if aws.ToString(got.NextToken) == "" {
			break
		}
		ask.NextToken = got.NextToken
	}
	slices.SortFunc(m.points, func(x, y datum) int { return x.At.Compare(y.At) })
	m.missing = max(0, int(end.Sub(begin)/period)-2-len(m.points))
	return m, nil
}

// periodOf keeps a range below mostDatums.
func periodOf(back time.Duration) time.Duration {
	switch {
	case back <= 3*24*time.Hour:
		return time.Minute
	case back <= 15*24*time.Hour:
		return 5 * time.Minute
	}
	return time.Hour
}

// series says what the points come to.
func (a asked) series(m measured) {
	all, missing := m.points, m.missing
	a.f.Set("points", steps.IntOf(int64(len(all))))
	a.f.Set("absent", steps.BoolOf(len(all) == 0))
	a.f.Set("missing", steps.IntOf(int64(missing)))
	if len(all) == 0 {
		a.absent = "the metric has no point"
		a.obs.Summary = "The metric has no point in the range: nothing is known, not even that it is zero."
		return
	}
	least, most, newest := math.Inf(1), math.Inf(-1), time.Time{}
	for _, d := range all {
		least, most = min(least, d.Value), max(most, d.Value)
		if d.Value > 0 {
			newest = d.At
		}
	}
	for name, v := range map[string]float64{"least": least, "most": most, "last": all[len(all)-1].Value} {
		if math.IsNaN(v) || math.Abs(v) > 1<<50 {
			a.f.Unknown("the value is no number of that size", name)
			continue
		}
		a.f.Set(name, steps.IntOf(int64(math.Round(v*1000))))
	}
	a.f.Set("last_at", steps.TimeOf(all[len(all)-1].At))
	if newest.IsZero() {
		a.f.Unknown("no point is above zero", "last_nonzero_at")
	} else {
		a.f.Set("last_nonzero_at", steps.TimeOf(newest))
	}
	if zero, known := m.zero(); known {
		a.f.Set("zero", steps.BoolOf(zero))
	} else {
		a.f.Unknown(fmt.Sprintf("%d points of the range are missing", missing), "zero")
	}
	swings, up := 0, all[0].Value > (least+most)/2
	for _, d := range all {
		if now := d.Value > (least+most)/2; now != up {
			swings, up = swings+1, now
		}
	}
	a.f.Set("swings", steps.IntOf(int64(swings)))
	shape := "other"
	switch {
	case most-least <= math.Abs(most)/10:
		shape = "flat"
	case swings >= leastSwings && most > swingsBeyond*max(least, 0):
		shape = "sawtooth"
	}
	a.f.Set("shape", steps.EnumOf(shape))
	a.obs.Summary = fmt.Sprintf("%d points from %g to %g, %s.", len(all), least, most, shape)
}
