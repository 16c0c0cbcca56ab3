package cloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"

	"handrail/steps"
)

const describe = "Action=DescribeDBInstances"

func databaseFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the instance is there"},
		{Name: "arn", Type: steps.Ident, Doc: "its ARN"},
		{Name: "resource_id", Type: steps.Ident, Doc: "its id of the region, which an instance of the same name that is made later does not have"},
		{Name: "status", Type: steps.String, Doc: "its status, as RDS calls it"},
		{Name: "engine", Type: steps.String, Doc: "its engine and version"},
		{Name: "class", Type: steps.String, Doc: "its instance class"},
		{Name: "created", Type: steps.Time, Doc: "when it was made"},
		{Name: "zone", Type: steps.String, Doc: "its availability zone"},
		{Name: "endpoint", Type: steps.String, Doc: "host name that its clients use"},
		{Name: "replica", Type: steps.Bool, Doc: "whether it is a read replica"},
		{Name: "source", Type: steps.String, Doc: "the instance that it replicates, empty where it is none"},
		{Name: "source_zone", Type: steps.String, Doc: "availability zone of that instance"},
		{Name: "cross_zone", Type: steps.Bool, Doc: "whether the two are in different zones, between which transfer is billed"},
		{Name: "replication", Type: steps.String, Doc: "state of its replication, as RDS calls it: replicating, error, stopped; empty where it is no replica"},
		{Name: "replication_error", Type: steps.String, Doc: "what RDS says of an error of it"},
		{Name: "replicas", Type: steps.Strings, Doc: "read replicas of it"},
		{Name: "protected", Type: steps.Bool, Doc: "whether its deletion protection is on"},
		{Name: "cluster", Type: steps.String, Doc: "the cluster that it is a member of, empty for none"},
		{Name: "tags", Type: steps.Table, Doc: "its tags"},
		{Name: "untagged", Type: steps.Strings, Doc: "those of the wanted tags that it does not have, or that are empty"},
	}
}

func databaseKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/database", Class: steps.Probe, Facts: databaseFacts(),
		Doc: "Asks Amazon RDS what a database instance is: whether it is a replica and of what, in which zones the two are, how its replication does, who depends on it as a source, and which tags it lacks.",
		Params: []steps.Field{
			{Name: "instance", Type: steps.String, Required: true, Pattern: `[A-Za-z][A-Za-z0-9-]{0,62}`, Doc: "its identifier"},
			{Name: "region", Type: steps.String, Pattern: `[a-z0-9-]{1,40}`, Doc: "region that it is in, that of the AWS tools where none is given"},
			{Name: "wanted", Type: steps.String, Default: "Owner,Purpose,ExpiresAt", Pattern: `[^,\n]{1,128}(,[^,\n]{1,128})*`, Doc: "tags that each instance must have, whatever their case"},
		},
		Touches: []string{"asks RDS to describe the instance and its source, and can ask nothing else", "keeps the answer"},
		Reads:   func(e steps.Env) steps.Prober { return probe{env: e, facts: databaseFacts(), read: readDatabase} },
	}
}

// readDatabase is cloud/database.
func readDatabase(ctx context.Context, a asked) error {
	client, err := a.rds()
	if err != nil {
		return err
	}
	id := a.in.Text("instance")
	a.obs.Command = "aws rds describe-db-instances --region " + a.cfg.Region + " --db-instance-identifier " + steps.Quote(id)
	one, err := a.instance(ctx, client, id)
	if err != nil {
		return err
	}
	a.f.Set("exists", steps.BoolOf(one != nil))
	if one == nil {
		a.obs.Summary = fmt.Sprintf("There is no instance %s in %s.", id, a.cfg.Region)
		a.absent = id + " is not there"
		return nil
	}
	a.keep("instance", one)
	a.instanceFacts(one)
	a.tagged(one.TagList)
	source := aws.ToString(one.ReadReplicaSourceDBInstanceIdentifier)
	a.f.Set("replica", steps.BoolOf(source != "" || aws.ToString(one.ReadReplicaSourceDBClusterIdentifier) != ""))
	a.f.Set("source", steps.StringOf(clean(source)))
	a.obs.Summary = fmt.Sprintf("%s is %s, %s %s in %s.", id, clean(aws.ToString(one.DBInstanceStatus)), clean(aws.ToString(one.Engine)), clean(aws.ToString(one.DBInstanceClass)), clean(aws.ToString(one.AvailabilityZone)))
	switch {
	case source == "":
		a.f.Unknown("it replicates no instance", "source_zone", "cross_zone")
		return nil
	case strings.HasPrefix(source, "arn:"): // of another region ("DBInstance", ReadReplicaSourceDBInstanceIdentifier)
		a.f.Unknown("its source is in another region: "+clean(source), "source_zone", "cross_zone")
		return nil
	}
	from, err := a.instance(ctx, client, source)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		a.f.Unknown("the source was not read: "+err.Error(), "source_zone", "cross_zone")
		a.obs.Gaps = append(a.obs.Gaps, "the source "+source+": "+err.Error())
	case from == nil || aws.ToString(from.AvailabilityZone) == "" || aws.ToString(one.AvailabilityZone) == "":
		a.f.Unknown("the zone of "+clean(source)+" is not told", "source_zone", "cross_zone")
	default:
		a.f.Set("source_zone", steps.StringOf(clean(*from.AvailabilityZone)))
		a.f.Set("cross_zone", steps.BoolOf(*from.AvailabilityZone != *one.AvailabilityZone))
	}
	return nil
}

func (a asked) rds() (*rds.Client, error) {
	at, err := endpoint(a.env, "RDS")
	return rds.NewFromConfig(a.cfg, func(o *rds.Options) {
		o.HTTPClient = reader(a.env, a.roots, describe)
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	}), err
}

// instance is nil where there is none.
func (a asked) instance(ctx context.Context, client *rds.Client, id string) (*types.DBInstance, error) {
	got, err := client.DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{DBInstanceIdentifier: &id})
	var api smithy.APIError
	switch {
	case errors.As(err, &api) && strings.HasPrefix(api.ErrorCode(), "DBInstanceNotFound"):
		return nil, nil
	case err != nil:
		return nil, why("describing "+id, "rds:DescribeDBInstances", err)
	case len(got.DBInstances) != 1 || !strings.EqualFold(aws.ToString(got.DBInstances[0].DBInstanceIdentifier), id):
		return nil, fmt.Errorf("RDS does not answer with the one instance %s", id)
	}
	return &got.DBInstances[0], nil
}

func (a asked) instanceFacts(one *types.DBInstance) {
	text := func(fact, value string) {
		if value == "" {
			a.f.Unknown("RDS does not say it", fact)
			return
		}
		a.f.Set(fact, steps.StringOf(clean(value)))
	}
	for fact, value := range map[string]*string{"arn": one.DBInstanceArn, "resource_id": one.DbiResourceId} {
		if aws.ToString(value) != "" {
			a.f.Set(fact, steps.IdentOf(*value))
		}
	}
	text("status", aws.ToString(one.DBInstanceStatus))
	text("engine", strings.TrimSpace(aws.ToString(one.Engine)+" "+aws.ToString(one.EngineVersion)))
	text("class", aws.ToString(one.DBInstanceClass))
	text("zone", aws.ToString(one.AvailabilityZone))
	if one.Endpoint != nil {
		text("endpoint", aws.ToString(one.Endpoint.Address))
	}
	if one.InstanceCreateTime != nil {
		a.f.Set("created", steps.TimeOf(one.InstanceCreateTime.UTC()))
	}
	if one.DeletionProtection != nil {
		a.f.Set("protected", steps.BoolOf(*one.DeletionProtection))
	}
	a.f.Set("cluster", steps.StringOf(clean(aws.ToString(one.DBClusterIdentifier))))
	var replicas []string
	for _, id := range slices.Concat(one.ReadReplicaDBInstanceIdentifiers, one.ReadReplicaDBClusterIdentifiers) {
		replicas = append(replicas, clean(id))
	}
	a.f.Set("replicas", steps.StringsOf(replicas))
	state, says := "", ""
	for _, s := range one.StatusInfos {
		if aws.ToString(s.StatusType) == "read replication" { // "DBInstanceStatusInfo"
			state, says = aws.ToString(s.Status), aws.ToString(s.Message)
		}
	}
	a.f.Set("replication", steps.StringOf(clean(state)))
	a.f.Set("replication_error", steps.StringOf(clean(says)))
}

// tagged sets the tags, and those that are wanted and missing.
func (a asked) tagged(list []types.Tag) {
	tags, have := map[string]string{}, map[string]bool{}
	for _, t := range list {
		tags[clean(aws.ToString(t.Key))] = clean(aws.ToString(t.Value))
		if strings.TrimSpace(aws.ToString(t.Value)) != "" {
			have[strings.ToLower(aws.ToString(t.Key))] = true
		}
	}
	var lacks []string
	for name := range strings.SplitSeq(a.in.Text("wanted"), ",") {
		if name = strings.TrimSpace(name); name != "" && !have[strings.ToLower(name)] {
			lacks = append(lacks, name)
		}
	}
	a.f.Set("tags", steps.TableOf(tags))
	a.f.Set("untagged", steps.StringsOf(lacks))
}
