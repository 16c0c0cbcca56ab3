package cloud

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"handrail/steps"
)

const (
	mostPages   = 100 // of the writes in a region, of 50 events each
	mostReads   = 20  // pages of its reads
	mostRegions = 20
	pageEvery   = 500 * time.Millisecond // LookupEvents is limited to two a second, an account and a region
	historyOf   = 90 * 24 * time.Hour
)

const (
	lookup   = "CloudTrail_20131101.LookupEvents"
	identity = "Action=GetCallerIdentity"
)

type writesProbe struct {
	env   steps.Env
	roots *x509.CertPool
}

// reading is one reading of the history, or of a file.
type reading struct {
	probe writesProbe
	in    steps.Params
	out   steps.Sink
	f     steps.Facts
	obs   steps.Observation
	now   time.Time
	since time.Time
}

// Probe implements steps.Prober.
func (p writesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	r := reading{probe: p, in: in, out: out, f: steps.NewFacts(writesFacts()), now: time.Now(), since: in["since"].Time()}
	if p.env.Now != nil {
		r.now = p.env.Now()
	}
	if r.since.Year() < 2000 {
		return steps.Observation{}, errors.New("since: say when the run began, as its CI shows it")
	}
	if r.since.After(r.now) {
		return steps.Observation{}, fmt.Errorf("since: %s has not come yet: check the date and the zone", r.since.Format(time.RFC3339))
	}
	var err error
	if name := in.Text("file"); name != "" {
		err = r.file(name)
	} else {
		err = r.history(ctx)
	}
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if err != nil {
		return steps.Observation{}, err
	}
	r.obs.Facts = r.f.Rest("not read")
	return r.obs, nil
}

// file reads records that were saved.
func (r *reading) file(name string) error {
	raw, err := steps.ReadFile(steps.Below(r.probe.env.Dir, name), mostFile)
	if err != nil {
		return fmt.Errorf("the saved records: %w", err)
	}
	records, odd, err := saved(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	open := "a file does not say that it has all of the log"
	if odd > 0 {
		open = fmt.Sprintf("%d records of the file cannot be read", odd)
	}
	r.obs.Command = "less " + steps.Quote(name)
	r.sum(records, open, "")
	r.f.Unknown("a file was read, and no account asked", "account")
	r.f.Unknown("a file was read", "regions", "counts_at")
	return nil
}

// history asks CloudTrail.
func (r *reading) history(ctx context.Context) error {
	principal := r.in.Text("principal")
	if accountOf(principal) == "" {
		return fmt.Errorf("principal: %q is no ARN of AWS, and which account to ask stands in the ARN; for another cloud save its records and name the file", steps.Clip(principal, 200))
	}
	cfg, err := signIn(ctx, r.probe.env, r.out)
	if err != nil {
		return err
	}
	regions, err := r.regions(cfg, strings.Split(principal, ":")[1])
	if err != nil {
		return err
	}
	account, err := r.account(ctx, cfg, regions[0])
	if err != nil {
		return err
	}
	r.f.Set("account", steps.StringOf(account))
	if own := accountOf(principal); account != own {
		return fmt.Errorf("these credentials are of account %s, and the principal is of %s: sign in there, or an empty answer would say nothing", account, own)
	}
	delay := max(r.in["delay"].Duration(), leastDelay)
	none := "without the time of its last line an empty answer proves nothing: say when the run ended"
	if ended := r.in["ended"]; ended.Known() && ended.Time().Year() >= 2000 {
		at := ended.Time().Add(delay)
		r.f.Set("counts_at", steps.TimeOf(at.UTC()))
		if none = ""; r.now.Before(at) {
			none = fmt.Sprintf("the log may show a call until %s: read again then", at.UTC().Format(time.RFC3339))
		}
		if ended.Time().Before(r.since) {
			return errors.New("ended: the run cannot end before it began")
		}
	} else {
		r.f.Unknown("it is not said when the run ended", "counts_at")
	}
	var all []record
	var read, open []string
	for _, at := range regions {
		records, gap, err := r.events(ctx, cfg, at, "false", mostPages, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, records...)
		switch {
		case err != nil && len(regions) == 1:
			return err
		case err != nil:
			open = append(open, err.Error())
		case gap != "":
			open = append(open, at+": "+gap)
		default:
			read = append(read, at)
		}
	}
	if len(read) == 0 && len(all) == 0 {
		return errors.New(strings.Join(open, "; "))
	}
	if r.since.Before(r.now.Add(-historyOf)) {
		open = append(open, "the history holds 90 days, and the run began before them")
	}
	if none == "" && len(open) == 0 {
		if none = r.unheard(ctx, cfg, regions, all); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.obs.Gaps = append(r.obs.Gaps, open...)
	r.f.Set("regions", steps.StringsOf(read))
	r.obs.Command = fmt.Sprintf("aws cloudtrail lookup-events --region %s --lookup-attributes AttributeKey=ReadOnly,AttributeValue=false --start-time %s",
		strings.Join(regions, " # and "), r.since.UTC().Format(time.RFC3339))
	r.sum(all, strings.Join(open, "; "), none)
	return nil
}

// globalRegions are where services without a region record ("Working with CloudTrail event history"), by partition.
var globalRegions = map[string]string{"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}

// regions are those that were named, or that of the AWS tools, and the one of global services.
func (r *reading) regions(cfg aws.Config, partition string) ([]string, error) {
	list := strings.FieldsFunc(r.in.Text("regions"), func(c rune) bool { return c == ' ' || c == ',' })
	if len(list) == 0 && cfg.Region != "" {
		list = []string{cfg.Region}
	}
	if len(list) == 0 {
		return nil, errors.New("no region is known: give the parameter regions, or set AWS_REGION")
	}
	global, ok := globalRegions[partition]
	if !ok {
		return nil, fmt.Errorf("the partition %q of the principal is not known", steps.Clip(partition, 40))
	}
	var out []string
	for _, at := range append(list, global) {
		if !region.MatchString(at) { // it becomes a part of the name of the server
			return nil, fmt.Errorf("%q is no region", steps.Clip(at, 60))
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	if len(out) > mostRegions {
		return nil, fmt.Errorf("%d regions are named, and %d are read", len(out), mostRegions)
	}
	return out, nil
}

func (r *reading) account(ctx context.Context, cfg aws.Config, in string) (string, error) {
	at, err := endpoint(r.probe.env, "STS")
	if err != nil {
		return "", err
	}
	client := sts.NewFromConfig(cfg, func(o *sts.Options) {
		o.HTTPClient, o.Region = reader(r.probe.env, r.probe.roots, identity), in
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	})
	who, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", why("asking AWS who these credentials are of", "sts:GetCallerIdentity", err)
	}
	if who.Account == nil || *who.Account == "" {
		return "", errors.New("AWS does not say which account these credentials are of")
	}
	return *who.Account, nil
}

// unheard says why an empty answer would prove nothing although all was read: not one call of the principal is recorded, a
// read either. A run reads before it writes, so its name is another then, or it never came so far.
func (r *reading) unheard(ctx context.Context, cfg aws.Config, regions []string, written []record) string {
	principal, session := r.in.Text("principal"), r.in.Text("session")
	own := func(one record) bool {
		return !one.at.Before(r.since.UTC().Truncate(time.Second)) && one.of(principal, session)
	}
	if slices.ContainsFunc(written, own) {
		return ""
	}
	for _, at := range regions {
		read, _, err := r.events(ctx, cfg, at, "true", mostReads, own)
		if err != nil { // what was read of the writes stands
			return "whether it is in the log at all was not read: " + err.Error()
		}
		if slices.ContainsFunc(read, own) {
			return ""
		}
	}
	return fmt.Sprintf("no call of it since %s was found, a read either: check the name of the role and of its session", r.since.UTC().Format(time.RFC3339))
}

// events reads the events of one region since the run began, newest first: those that write where readOnly is "false", and until
// one is enough. gap says why they are not all.
func (r *reading) events(ctx context.Context, cfg aws.Config, in, readOnly string, most int, enough func(record) bool) (records []record, gap string, err error) {
	at, err := endpoint(r.probe.env, "CLOUDTRAIL")
	if err != nil {
		return nil, "", err
	}
	client := cloudtrail.NewFromConfig(cfg, func(o *cloudtrail.Options) {
		o.HTTPClient, o.Region = reader(r.probe.env, r.probe.roots, lookup), in
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	})
	ask := &cloudtrail.LookupEventsInput{
		StartTime:        aws.Time(r.since.UTC().Truncate(time.Second)),
		EndTime:          aws.Time(r.now.UTC().Add(time.Minute)),
		MaxResults:       aws.Int32(50),
		LookupAttributes: []types.LookupAttribute{{AttributeKey: types.LookupAttributeKeyReadOnly, AttributeValue: &readOnly}},
	}
	odd := 0
	for page := 0; ; page++ {
		if page == most {
			return records, fmt.Sprintf("there are more than the %d events that are read", most*50), nil
		}
		if page > 0 {
			if err := pause(ctx, pageEvery); err != nil {
				return nil, "", err
			}
		}
		got, err := client.LookupEvents(ctx, ask)
		if err != nil {
			err = why("the event history of "+in, "cloudtrail:LookupEvents", err)
			if page == 0 {
				return nil, "", err
			}
			return records, fmt.Sprintf("after %d pages: %v", page, err), nil
		}
		for _, e := range got.Events {
			one, ok := record{}, false
			if e.CloudTrailEvent != nil {
				one, ok = ofTrail(json.RawMessage(*e.CloudTrailEvent))
			}
			if !ok {
				odd++
				continue
			}
			for _, o := range e.Resources {
				if o.ResourceName != nil && *o.ResourceName != "" && !slices.Contains(one.resources, *o.ResourceName) {
					one.resources = append(one.resources, *o.ResourceName)
				}
			}
			records = append(records, one)
			if enough != nil && enough(one) {
				return records, "", nil
			}
		}
		if got.NextToken == nil || *got.NextToken == "" {
			break
		}
		ask.NextToken = got.NextToken
	}
	if odd > 0 {
		gap = fmt.Sprintf("%d events cannot be read", odd)
	}
	return records, gap, nil
}

// pause waits, as the limit of the service wants it.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sum keeps the records of the principal and says what they come to.
func (r *reading) sum(records []record, open, none string) {
	t := count(records, r.in.Text("principal"), r.in.Text("session"), r.since)
	t.tell(r.f, open, none)
	kept := make([]json.RawMessage, 0, len(t.writes)+len(t.unclear))
	for _, one := range append(slices.Clone(t.writes), t.unclear...) {
		kept = append(kept, one.raw)
	}
	gap := steps.Keep(r.out, "records", steps.MediaJSON, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(kept)
	})
	if gap != "" {
		r.obs.Gaps = append(r.obs.Gaps, gap)
	}
	mutated := r.f.Got("mutated")
	switch {
	case len(t.writes) > 0:
		r.obs.Summary = fmt.Sprintf("%s of it wrote, the first %s.", plural(len(t.writes), "call"), t.writes[0].name())
	case mutated.Known():
		r.obs.Summary = fmt.Sprintf("No call of it wrote; %s refused.", plural(t.refused, "call"))
	default:
		r.obs.Summary = "No write of it was seen, which proves nothing yet: " + mutated.Why() + "."
	}
	if len(t.writes) > 0 && t.writes[0].session != "" && r.in.Text("session") == "" {
		if by := r.f.Got("sessions"); strings.Contains(by.Text(), ",") {
			r.obs.Say(steps.Warning, "Several sessions of the role wrote. Name the one of this run with session, or its writes are not told from theirs.")
		}
	}
	if t.throttled > 0 {
		r.obs.Say(steps.Warning, "%s refused for the rate.", plural(t.throttled, "call"))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
