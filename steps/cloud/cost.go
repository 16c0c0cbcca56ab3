package cloud

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer/types"

	"handrail/steps"
)

const (
	costAndUsage = "AWSInsightsIndexService.GetCostAndUsage"
	mostCost     = 50 // pages
	recentDays   = 3
	mostRisen    = 10
)

func costFacts() []steps.Field {
	return []steps.Field{
		{Name: "top", Type: steps.String, Doc: "usage type whose cost a day rose most"},
		{Name: "began", Type: steps.Time, Doc: "first day from which on that one stands above the middle of its rise"},
		{Name: "risen", Type: steps.Strings, Doc: "usage types that cost more a day than before, those that rose most first, at most 10: type, before, now"},
		{Name: "before", Type: steps.Int, Doc: "cost of all a day before, in thousandths of the currency: the middle day of the first half"},
		{Name: "now", Type: steps.Int, Doc: "cost of all a day now, in thousandths: the mean of the newest three days"},
		{Name: "currency", Type: steps.String, Doc: "the currency"},
		{Name: "estimated", Type: steps.Bool, Doc: "whether one of the newest days is still estimated"},
		{Name: "days", Type: steps.Int, Doc: "days that were read"},
	}
}

func costKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/cost", Class: steps.Probe, Facts: costFacts(),
		Doc: "Asks AWS Cost Explorer what each usage type cost each day, and says which rose, since when, and by how much. By usage type and not by service, since transfer hides in every service. AWS bills each request of it, 0.01 USD.",
		Params: []steps.Field{
			{Name: "days", Type: steps.Int, Default: "30", Doc: "days back from yesterday, 8 to 90"},
			{Name: "region", Type: steps.String, Default: "us-east-1", Pattern: `[a-z0-9-]{1,40}`, Doc: "where Cost Explorer answers: us-east-1, or cn-northwest-1 in China"},
		},
		Touches: []string{"asks Cost Explorer for cost by usage type, and can ask nothing else; each page is billed", "keeps the answer"},
		Takes:   func(steps.Params) time.Duration { return time.Minute },
		Reads:   func(e steps.Env) steps.Prober { return probe{env: e, facts: costFacts(), read: readCost} },
	}
}

// readCost is cloud/cost.
func readCost(ctx context.Context, a asked) error {
	n := int(a.in["days"].Int())
	if n < 8 || n > 90 {
		return errors.New("days: 8 to 90")
	}
	end := a.now.UTC().Truncate(24 * time.Hour) // exclusive: today is not over
	begin := end.AddDate(0, 0, -n)
	at, err := endpoint(a.env, "COST_EXPLORER")
	if err != nil {
		return err
	}
	client := costexplorer.NewFromConfig(a.cfg, func(o *costexplorer.Options) {
		o.HTTPClient = reader(a.env, a.roots, costAndUsage)
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	})
	day := func(t time.Time) *string { return aws.String(t.Format(time.DateOnly)) }
	a.obs.Command = fmt.Sprintf("aws ce get-cost-and-usage --time-period Start=%s,End=%s --granularity DAILY --metrics UnblendedCost --group-by Type=DIMENSION,Key=USAGE_TYPE", *day(begin), *day(end))
	ask := &costexplorer.GetCostAndUsageInput{TimePeriod: &types.DateInterval{Start: day(begin), End: day(end)}, Granularity: types.GranularityDaily, Metrics: []string{"UnblendedCost"},
		GroupBy: []types.GroupDefinition{{Type: types.GroupDefinitionTypeDimension, Key: aws.String("USAGE_TYPE")}}}
	b := bill{begin: begin, days: n, by: map[string][]float64{}, read: map[string]bool{}}
	for page := 0; ; page++ {
		if page == mostCost {
			return fmt.Errorf("the answer has more than %d pages: ask for fewer days", mostCost)
		}
		got, err := client.GetCostAndUsage(ctx, ask)
		if err != nil {
			return why("the cost by usage type", "ce:GetCostAndUsage", err)
		}
		if err := b.add(got.ResultsByTime); err != nil {
			return err
		}
		if aws.ToString(got.NextPageToken) == "" {
			break
		}
		ask.NextPageToken = got.NextPageToken
	}
	a.keep("cost", b.by)
	return a.tellCost(b)
}

// bill is what each usage type cost on each day.
type bill struct {
	begin     time.Time
	days      int
	by        map[string][]float64
	read      map[string]bool // days that were answered
	currency  string
	estimated bool // of the newest days
}

func (b *bill) add(list []types.ResultByTime) error {
	for _, r := range list {
		if r.TimePeriod == nil {
			return errors.New("the answer of Cost Explorer has no day")
		}
		at, err := time.Parse(time.DateOnly, aws.ToString(r.TimePeriod.Start))
		i := int(at.Sub(b.begin) / (24 * time.Hour))
		if err != nil || i < 0 || i >= b.days {
			return fmt.Errorf("the answer of Cost Explorer has the day %q, which was not asked for", clean(aws.ToString(r.TimePeriod.Start)))
		}
		b.read[aws.ToString(r.TimePeriod.Start)] = true
		b.estimated = b.estimated || r.Estimated && i >= b.days-recentDays
		for _, g := range r.Groups {
			m := g.Metrics["UnblendedCost"]
			amount, err := strconv.ParseFloat(aws.ToString(m.Amount), 64)
			if err != nil || len(g.Keys) != 1 || math.Abs(amount) > 1e12 {
				return errors.New("the answer of Cost Explorer has a cost that cannot be read")
			}
			if unit := aws.ToString(m.Unit); b.currency == "" {
				b.currency = unit
			} else if unit != b.currency {
				return errors.New("the answer of Cost Explorer has two currencies")
			}
			if b.by[g.Keys[0]] == nil {
				b.by[g.Keys[0]] = make([]float64, b.days)
			}
			b.by[g.Keys[0]][i] += amount
		}
	}
	return nil
}

// rise is how one series went: its middle day of the first half, the mean of its newest days, and since when.
func rise(days []float64) (before, now float64, began int) {
	first := slices.Clone(days[:len(days)/2])
	slices.Sort(first)
	before = first[len(first)/2]
	for _, v := range days[len(days)-recentDays:] {
		now += v / recentDays
	}
	began = len(days)
	for began > 0 && days[began-1] > (before+now)/2 {
		began--
	}
	return before, now, began
}

func (a asked) tellCost(b bill) error {
	if len(b.read) != b.days {
		return fmt.Errorf("the answer of Cost Explorer is for %d of %d days", len(b.read), b.days)
	}
	a.f.Set("days", steps.IntOf(int64(b.days)))
	a.f.Set("estimated", steps.BoolOf(b.estimated))
	a.f.Set("currency", steps.StringOf(clean(b.currency)))
	type row struct {
		name        string
		before, now float64
		began       int
	}
	total := make([]float64, b.days)
	var rows []row
	for name, days := range b.by {
		for i, v := range days {
			total[i] += v
		}
		if before, now, began := rise(days); now > before {
			rows = append(rows, row{clean(name), before, now, began})
		}
	}
	slices.SortFunc(rows, func(x, y row) int {
		if d := (y.now - y.before) - (x.now - x.before); d != 0 {
			return int(math.Copysign(1, d))
		}
		return strings.Compare(x.name, y.name)
	})
	before, now, _ := rise(total)
	a.f.Set("before", steps.IntOf(int64(math.Round(before*1000))))
	a.f.Set("now", steps.IntOf(int64(math.Round(now*1000))))
	var risen []string
	for i, r := range rows {
		if i == mostRisen {
			break
		}
		risen = append(risen, fmt.Sprintf("%s: %.2f, now %.2f a day", r.name, r.before, r.now))
	}
	a.f.Set("risen", steps.StringsOf(risen))
	a.obs.Summary = fmt.Sprintf("All cost %.2f %s a day, now %.2f.", before, clean(b.currency), now)
	if len(rows) == 0 {
		a.f.Unknown("no usage type costs more than before", "top", "began")
		return nil
	}
	a.f.Set("top", steps.StringOf(rows[0].name))
	a.obs.Summary += fmt.Sprintf(" %s rose most, from %.2f to %.2f.", rows[0].name, rows[0].before, rows[0].now)
	if rows[0].began == b.days {
		a.f.Unknown("its newest day is not above the middle of its rise", "began")
		return nil
	}
	a.f.Set("began", steps.TimeOf(b.begin.AddDate(0, 0, rows[0].began)))
	return nil
}
