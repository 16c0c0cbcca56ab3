package cloud

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"handrail/steps"
)

const (
	tagPages = 50 // of 100 instances each
	mostTold = 100
)

func tagsFacts() []steps.Field {
	return []steps.Field{
		{Name: "complete", Type: steps.Bool, Doc: "whether the list was read to its end; what is counted is unknown where it was not"},
		{Name: "at_least", Type: steps.Int, Doc: "instances that were read"},
		{Name: "instances", Type: steps.Int, Doc: "instances that there are"},
		{Name: "untagged", Type: steps.Int, Doc: "those that lack a wanted tag, or have it empty"},
		{Name: "expired", Type: steps.Int, Doc: "those whose day has passed"},
		{Name: "undated", Type: steps.Int, Doc: "those whose tag for the day holds none"},
		{Name: "found", Type: steps.Strings, Doc: "each of the three, with what is wrong and its owner, at most 100 of what was read"},
	}
}

func tagsKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/tags", Class: steps.Probe, Facts: tagsFacts(),
		Doc: "Lists the database instances of Amazon RDS in a region whose tags lack an owner, a purpose or a day on which they end, and those whose day has passed.",
		Params: []steps.Field{
			{Name: "region", Type: steps.String, Pattern: `[a-z0-9-]{1,40}`, Doc: "region that is listed, that of the AWS tools where none is given"},
			{Name: "wanted", Type: steps.String, Default: "Owner,Purpose,ExpiresAt", Pattern: `[^,\n]{1,128}(,[^,\n]{1,128})*`, Doc: "tags that each instance must have, whatever their case"},
			{Name: "ends", Type: steps.String, Default: "ExpiresAt", Pattern: `[^,\n]{1,128}`, Doc: "tag that holds the day, as 2026-03-31 or with a time; a day lasts until its end in UTC"},
			{Name: "owner", Type: steps.String, Default: "Owner", Pattern: `[^,\n]{1,128}`, Doc: "tag that holds the owner"},
		},
		Touches: []string{"asks RDS to list the instances of the region, and can ask nothing else", "keeps the answers"},
		Reads:   func(e steps.Env) steps.Prober { return probe{env: e, facts: tagsFacts(), read: readTags} },
	}
}

// readTags is cloud/tags.
func readTags(ctx context.Context, a asked) error {
	client, err := a.rds()
	if err != nil {
		return err
	}
	a.obs.Command = "aws rds describe-db-instances --region " + a.cfg.Region
	var all []types.DBInstance
	pages := rds.NewDescribeDBInstancesPaginator(client, &rds.DescribeDBInstancesInput{MaxRecords: aws.Int32(100)}, func(o *rds.DescribeDBInstancesPaginatorOptions) { o.StopOnDuplicateToken = true })
	for n := 0; pages.HasMorePages() && n < tagPages; n++ {
		page, err := pages.NextPage(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && n == 0 {
			return why("listing the instances", "rds:DescribeDBInstances", err)
		}
		if err != nil {
			a.obs.Gaps = append(a.obs.Gaps, fmt.Sprintf("the instances after the first %d: %v", len(all), why("listing the instances", "rds:DescribeDBInstances", err)))
			break
		}
		a.keep("instances", page.DBInstances)
		all = append(all, page.DBInstances...)
	}
	whole := !pages.HasMorePages()
	if !whole && len(a.obs.Gaps) == 0 {
		a.obs.Gaps = append(a.obs.Gaps, fmt.Sprintf("the instances after the first %d", len(all)))
	}
	var untagged, expired, undated int64
	found := []string{}
	for _, one := range all {
		wrong := a.wrong(one.TagList, &untagged, &expired, &undated)
		if len(wrong) > 0 && len(found) < mostTold {
			found = append(found, clean(aws.ToString(one.DBInstanceIdentifier))+": "+strings.Join(wrong, "; "))
		}
	}
	slices.Sort(found)
	a.f.Set("complete", steps.BoolOf(whole))
	a.f.Set("at_least", steps.IntOf(int64(len(all))))
	a.f.Set("found", steps.StringsOf(found))
	a.absent = "the list was not read to its end"
	if whole {
		for name, n := range map[string]int64{"instances": int64(len(all)), "untagged": untagged, "expired": expired, "undated": undated} {
			a.f.Set(name, steps.IntOf(n))
		}
	}
	a.obs.Summary = fmt.Sprintf("%d instances in %s: %d lack a tag, %d are past their day, %d have no day in it.", len(all), a.cfg.Region, untagged, expired, undated)
	if untagged+expired+undated > 0 {
		a.obs.Say(steps.Warning, "%s", steps.OneLine(strings.Join(found, ", "), 1000))
	}
	return nil
}

// wrong says what the tags of one instance lack, and counts it.
func (a asked) wrong(list []types.Tag, untagged, expired, undated *int64) []string {
	tags := map[string]string{}
	for _, t := range list {
		tags[strings.ToLower(aws.ToString(t.Key))] = strings.TrimSpace(aws.ToString(t.Value))
	}
	var out, lacks []string
	for name := range strings.SplitSeq(a.in.Text("wanted"), ",") {
		if name = strings.TrimSpace(name); name != "" && tags[strings.ToLower(name)] == "" {
			lacks = append(lacks, name)
		}
	}
	if len(lacks) > 0 {
		*untagged++
		out = append(out, "lacks "+strings.Join(lacks, ", "))
	}
	if text := tags[strings.ToLower(a.in.Text("ends"))]; text != "" {
		switch end, ok := endOf(text); {
		case !ok:
			*undated++
			out = append(out, clean(a.in.Text("ends")+" is no day: "+steps.Clip(text, 60)))
		case a.now.After(end):
			*expired++
			out = append(out, "past its day, "+end.UTC().Format(time.DateOnly))
		}
	}
	if owner := tags[strings.ToLower(a.in.Text("owner"))]; owner != "" && len(out) > 0 {
		out = append(out, "owner "+clean(steps.Clip(owner, 60)))
	}
	return out
}

// endOf is when a day ends, or a time.
func endOf(text string) (time.Time, bool) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at.Add(24*time.Hour - time.Nanosecond), true
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
