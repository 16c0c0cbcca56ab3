package cloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"

	"handrail/steps"
	"handrail/steps/references"
)

// What has to hold before a replica is deleted.

type needing func(of, cure, why string, args ...any)

// deletable are the floors of what the instance is.
func deletable(one *types.DBInstance, wanted string, need needing) {
	status, resource := aws.ToString(one.DBInstanceStatus), aws.ToString(one.DbiResourceId)
	if resource == "" || resource != wanted {
		need("resource_id", "read it again, and see what this one is", "Another instance has this name now: its resource id is %s, and that of %s was read.", orUnknown(clean(resource)), steps.Clip(wanted, 60))
	}
	switch {
	case status == "deleting":
		need("", "wait for its end", "It is being deleted already.")
	case !slices.Contains([]string{"available", "stopped", "storage-full", "failed", "incompatible-network", "incompatible-restore", "incompatible-parameters"}, status):
		need("", "wait until it is at rest", "Its status is %s: something is in flight on it.", orUnknown(clean(status)))
	}
	if aws.ToString(one.ReadReplicaSourceDBInstanceIdentifier) == "" {
		need("", "delete a database that is no replica by its own change", "It is no read replica of an instance: what it holds may stand nowhere else.")
	}
	if replicas := slices.Concat(one.ReadReplicaDBInstanceIdentifiers, one.ReadReplicaDBClusterIdentifiers); len(replicas) > 0 {
		need("", "see what they are for first", "%s replicates from it.", clean(strings.Join(replicas, ", ")))
	}
	if id := aws.ToString(one.DBClusterIdentifier); id != "" {
		need("", "change the cluster", "It is a member of the cluster %s.", clean(id))
	}
	switch {
	case one.DeletionProtection == nil:
		need("", "read it with rds:DescribeDBInstances", "Whether its deletion protection is on is not told.")
	case *one.DeletionProtection:
		need("", "let its owner take it off, with a reason", "Its deletion protection is on.")
	}
}

func (a asked) sourceOf(ctx context.Context, client *rds.Client, source string) (*types.DBInstance, error) {
	if source == "" || strings.HasPrefix(source, "arn:") { // of another region
		return nil, nil
	}
	return a.instance(ctx, client, source)
}

// quiet is the floor of its connections.
func (g deleter) quiet(ctx context.Context, a asked, id string, p *steps.Preview, need needing) error {
	back := a.in.Duration("quiet")
	if back < leastQuiet {
		need("quiet", "ask for three weeks at least", "%s without a connection is less than the three weeks that are asked for.", back)
		return nil
	}
	for _, span := range []time.Duration{back, newestQuiet} {
		m, err := a.measure(ctx, question{"AWS/RDS", "DatabaseConnections", "DBInstanceIdentifier", id, "Maximum", span})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		zero, known := m.zero()
		switch {
		case err != nil:
			need("", "ask for cloudwatch:GetMetricData", "Its connections over %s are not known: %s.", span, err)
		case !known && len(m.points) == 0:
			need("", "find out why nothing is recorded", "Its connections over %s are not known: the metric has no point.", span)
		case !known:
			need("", "wait until the range has no gap", "Its connections over %s are not known: %d points are missing.", span, m.missing)
		case !zero:
			last := m.points[0].At
			for _, d := range m.points {
				if d.Value != 0 {
					last = d.At
				}
			}
			need("", "find who it was", "Something connected to it, last at %s.", last.Format("2006-01-02 15:04"))
		default:
			p.Shown = append(p.Shown, steps.KV{Key: "connected", Value: fmt.Sprintf("not once in %s (%s)", plural(int(span.Hours()), "hour"), plural(len(m.points), "point"))})
		}
	}
	return nil
}

// copied is the floor of data of its own: a snapshot that was taken by hand, of this very instance.
func (g deleter) copied(ctx context.Context, a asked, client *rds.Client, one *types.DBInstance, p *steps.Preview, need needing) error {
	name := a.in.Text("snapshot")
	if name == "" {
		p.Shown = append(p.Shown, steps.KV{Key: "snapshot", Value: "none: its source holds all that it does, by the word of a person"})
		if a.in.Text("unique") != "no" {
			need("snapshot", "take a snapshot of it by hand, and name it", "It holds data that its source does not, and no snapshot of it is named. RDS takes no final one of a read replica.")
		}
		return nil
	}
	got, err := a.snapshots().DescribeDBSnapshots(ctx, &rds.DescribeDBSnapshotsInput{DBSnapshotIdentifier: &name})
	var api smithy.APIError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &api) && strings.HasPrefix(api.ErrorCode(), "DBSnapshotNotFound"):
		need("snapshot", "name one that is there", "There is no snapshot %s.", name)
		return nil
	case err != nil:
		need("snapshot", "ask for rds:DescribeDBSnapshots", "The snapshot cannot be read: %s.", why("describing "+name, "rds:DescribeDBSnapshots", err))
		return nil
	case len(got.DBSnapshots) != 1 || !strings.EqualFold(aws.ToString(got.DBSnapshots[0].DBSnapshotIdentifier), name):
		need("snapshot", "name one that is there", "RDS does not answer with the one snapshot %s.", name)
		return nil
	}
	s := got.DBSnapshots[0]
	taken := "at an unknown time"
	if s.SnapshotCreateTime != nil {
		taken = s.SnapshotCreateTime.UTC().Format("2006-01-02 15:04")
	}
	switch {
	case aws.ToString(s.DbiResourceId) != aws.ToString(one.DbiResourceId):
		need("snapshot", "name one of this instance", "The snapshot %s is of another instance (%s).", name, orUnknown(clean(aws.ToString(s.DbiResourceId))))
	case aws.ToString(s.Status) != "available":
		need("snapshot", "wait until it is available", "The snapshot %s is %s.", name, orUnknown(clean(aws.ToString(s.Status))))
	case aws.ToString(s.SnapshotType) != "manual": // automated ones go with the instance
		need("snapshot", "take one by hand", "The snapshot %s is %s, and goes with the instance.", name, orUnknown(clean(aws.ToString(s.SnapshotType))))
	}
	p.Shown = append(p.Shown, steps.KV{Key: "snapshot", Value: name + ", taken " + taken})
	p.Undo = "None for the instance. Another can be restored from the snapshot " + name + ", taken " + taken + "; it will be no replica."
	return nil
}

func (a asked) snapshots() *rds.Client {
	at, _ := endpoint(a.env, "RDS") // its error was told by rds
	return rds.NewFromConfig(a.cfg, func(o *rds.Options) {
		o.HTTPClient = reader(a.env, a.roots, describeSnapshots)
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	})
}

// named is the floor of what names it, and says what would make it again.
func (g deleter) named(ctx context.Context, a asked, host string, p *steps.Preview, need needing) error {
	ask := references.AskOf(a.env, a.in)
	ask.Host, ask.ID, ask.Now = host, a.in.Text("instance"), a.now
	r, err := references.Search(ctx, ask)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		need("", "name the places again", "What names it was not searched: %s.", err)
		return nil
	}
	if gap := references.Keep(a.out, r); gap != "" {
		need("", "see why, then look again", "The evidence lacks a part: %s", gap)
	}
	for _, place := range r.Places {
		switch {
		case place.Hits > 0:
			need("", "keep it, and ask who that is", "%s names it: %s.", capital(place.Name), steps.OneLine(strings.Join(place.Where[:min(3, len(place.Where))], ", "), 300))
		case !place.Known:
			need("", "let it be read, then look again", "Whether %s names it is not known: %s.", place.Name, steps.OneLine(place.Why, 300))
		case place.Said:
			p.Shown = append(p.Shown, steps.KV{Key: place.Name, Value: "not searched: a person says that there are none"})
		default:
			p.Shown = append(p.Shown, steps.KV{Key: place.Name, Value: fmt.Sprintf("not named, %s searched", plural(place.Files, "file"))})
		}
	}
	for _, owner := range r.Owners {
		p.Shown = append(p.Shown, steps.KV{Key: "made again", Value: "by an apply of " + clean(owner)})
		p.Owes = append(p.Owes, steps.Debt{Kind: "reconcile", Text: "the state and the configuration still have " + clean(owner) + ": take both out"})
	}
	return nil
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func tagText(list []types.Tag) string {
	var out []string
	for _, t := range list {
		out = append(out, clean(aws.ToString(t.Key))+"="+clean(aws.ToString(t.Value)))
	}
	if len(out) == 0 {
		return "none"
	}
	return steps.OneLine(strings.Join(out, " "), 300)
}
