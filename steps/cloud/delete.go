package cloud

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"handrail/steps"
	"handrail/steps/references"
	"handrail/steps/transport"
)

const (
	describeSnapshots = "Action=DescribeDBSnapshots"
	leastQuiet        = 21 * 24 * time.Hour // three weeks without a connection
	newestQuiet       = time.Hour           // whose minutes are read as well: the newest hours of the long range are not in it yet
	lookAgain         = 2 * time.Second
	looks             = 10

	keyInstance = "instance"
	keyARN      = "ARN"
	keyResource = "resource id"
	keySource   = "replica of"
	keyRegion   = "region"
	keyServer   = "server"
	keyStatus   = "status"
)

func deleteKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/delete", Class: steps.Repair,
		Doc: "Deletes one read replica of Amazon RDS that nothing uses. It searches the places for its names and asks for its connections itself, each time that it is shown, and stays shut where any of it is found or unknown. RDS takes no final snapshot of a read replica: one that you took before is checked.",
		Params: append([]steps.Field{
			{Name: "instance", Type: steps.String, Required: true, Pattern: `[A-Za-z][A-Za-z0-9-]{0,62}`, Doc: "its identifier"},
			{Name: "resource_id", Type: steps.Ident, Required: true, Pattern: `[A-Za-z0-9-]{1,100}`, Doc: "its resource id as cloud/database read it: another instance of the same name has another"},
			{Name: "region", Type: steps.String, Pattern: `[a-z0-9-]{1,40}`, Doc: "region that it is in, that of the AWS tools where none is given"},
			{Name: "approval", Type: steps.Enum, Required: true, Values: []string{"owner", "platform"}, Doc: "who approved it: its owner, or the platform where it has none"},
			{Name: "unique", Type: steps.Enum, Required: true, Values: []string{"no", "yes"}, Doc: "whether it holds data that its source does not"},
			{Name: "snapshot", Type: steps.String, Pattern: `[A-Za-z][A-Za-z0-9-]{0,254}`, Doc: "snapshot that was taken of it by hand, needed where it holds data of its own"},
			{Name: "cost", Type: steps.String, Pattern: `[^\n]{1,100}`, Doc: "what it costs, shown beside it"},
			{Name: "quiet", Type: steps.Duration, Default: "504h", Doc: "how long nothing may have connected, three weeks at least and 63 days at most"},
		}, references.PlaceFields()...),
		Touches: []string{"asks RDS for the instance, its source and the snapshot, and CloudWatch for its connections", "reads the places that are named", "sends one DeleteDBInstance, once, as it was shown"},
		Changes: func(e steps.Env) steps.Gater { return deleter{env: e} },
	}
}

// deleter is cloud/delete.
type deleter struct {
	env   steps.Env
	pause time.Duration  // between two looks at what was taken, 0 for lookAgain
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

type deleteArgs struct {
	id, form string
	resource string
	in       steps.Params
}

// Preview implements steps.Gater.
func (g deleter) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	a, err := begin(ctx, g.env, g.roots, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	client, err := a.rds()
	if err != nil {
		return steps.Preview{}, err
	}
	id := in.Text("instance")
	one, err := a.instance(ctx, client, id)
	if err != nil {
		return steps.Preview{}, err
	}
	if one == nil {
		return steps.Preview{}, fmt.Errorf("there is no instance %s in %s", id, a.cfg.Region)
	}
	a.keep("instance-before", one)
	source, host := aws.ToString(one.ReadReplicaSourceDBInstanceIdentifier), ""
	if one.Endpoint != nil {
		host = aws.ToString(one.Endpoint.Address)
	}
	form := url.Values{"Action": {"DeleteDBInstance"}, "DBInstanceIdentifier": {id}, "SkipFinalSnapshot": {"true"}, "Version": {"2014-10-31"}}.Encode()
	p := steps.Preview{
		Target: []steps.KV{{Key: keyServer, Value: a.server()}, {Key: keyRegion, Value: a.cfg.Region}, {Key: keyInstance, Value: id}, {Key: keyARN, Value: clean(aws.ToString(one.DBInstanceArn))},
			{Key: keyResource, Value: clean(aws.ToString(one.DbiResourceId))}, {Key: keySource, Value: clean(source)}},
		Shown: []steps.KV{{Key: keyStatus, Value: clean(aws.ToString(one.DBInstanceStatus))}, {Key: "zone", Value: clean(aws.ToString(one.AvailabilityZone))},
			{Key: "class", Value: clean(aws.ToString(one.DBInstanceClass))}, {Key: "tags", Value: tagText(one.TagList)}, {Key: "cost", Value: orUnknown(in.Text("cost"))},
			{Key: "approved by", Value: in.Text("approval")}},
		Request: "POST / " + form,
		Command: "aws rds delete-db-instance --region " + a.cfg.Region + " --db-instance-identifier " + steps.Quote(id) + " --skip-final-snapshot",
		Phrase:  steps.Phrase("delete", "db/"+id),
		Effect:  "delete the database instance " + id + " and all that it holds. RDS takes no final snapshot of a read replica",
		Undo:    "None. A new replica can be made of " + orUnknown(clean(source)) + "; what this one holds beside it is gone.",
		Args:    deleteArgs{id, form, aws.ToString(one.DbiResourceId), in},
	}
	need := func(of, cure, why string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure, Of: of})
	}
	for _, gap := range a.obs.Gaps {
		need("", "see why, then look again", "The evidence lacks a part: %s", gap)
	}
	deletable(one, in.Text("resource_id"), need)
	switch from, err := a.sourceOf(ctx, client, source); {
	case ctx.Err() != nil:
		return steps.Preview{}, ctx.Err()
	case err != nil:
		need("", "look again once it can be read", "Its source cannot be read: %s.", err)
	case strings.HasPrefix(source, "arn:"):
		need("", "delete it by its own change, once its source was looked at there", "Its source %s is in another region, and is not read from here.", clean(source))
	case source != "" && from == nil:
		need("", "find out where its data stands now", "Its source %s is not there: this may be the last copy.", source)
	}
	if err := g.quiet(ctx, a, id, &p, need); err != nil {
		return steps.Preview{}, err
	}
	if err := g.copied(ctx, a, client, one, &p, need); err != nil {
		return steps.Preview{}, err
	}
	return p, g.named(ctx, a, host, &p, need)
}

// Act implements steps.Gater.
func (g deleter) Act(ctx context.Context, approved *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := approved.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	args, err := steps.ArgsOf[deleteArgs](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	a, err := begin(ctx, g.env, g.roots, args.in, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if err := a.stands(p.Target); err != nil {
		return steps.Outcome{}, err
	}
	request, err := a.send(ctx, args)
	return transport.Settled(err, func() (steps.Outcome, error) {
		o, again := g.look(ctx, a, args.id, args.resource, err == nil)
		if request != "" {
			o.After = append(o.After, steps.KV{Key: "request id", Value: request})
		}
		return o, again
	})
}

// server is where RDS is asked.
func (a asked) server() string {
	at, err := endpoint(a.env, "RDS")
	if err != nil || at == "" {
		return "AWS"
	}
	return at
}

// stands says why the environment does not name what a target is in.
func (a asked) stands(target []steps.KV) error {
	if at := steps.Find(target, keyServer); at != a.server() {
		return fmt.Errorf("the act was on %s, and the environment names %s", at, a.server())
	}
	if at := steps.Find(target, keyRegion); at != a.cfg.Region {
		return fmt.Errorf("the act was in %s, and the environment names %s", at, a.cfg.Region)
	}
	return nil
}

// send sends the form once, and returns the id of the request. Its errors are those of [transport.Send].
func (a asked) send(ctx context.Context, args deleteArgs) (request string, err error) {
	at, err := endpoint(a.env, "RDS")
	if err != nil {
		return "", fmt.Errorf("%w: %w", transport.ErrNotTaken, err)
	}
	to := rds.NewFromConfig(a.cfg, func(o *rds.Options) {
		o.HTTPClient, o.RetryMaxAttempts = sender(a.env, a.roots, args.form), 1
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	})
	got, err := to.DeleteDBInstance(ctx, &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &args.id, SkipFinalSnapshot: aws.Bool(true)})
	if err == nil {
		request, _ = awsmiddleware.GetRequestIDMetadata(got.ResultMetadata)
		a.keep("deletion", got.DBInstance)
		return clean(request), nil
	}
	says := why("deleting "+args.id, "rds:DeleteDBInstance", err)
	if no := (*transport.RefusedError)(nil); errors.As(err, &no) {
		return "", fmt.Errorf("%w: %w", transport.ErrNotTaken, says)
	}
	if by := (interface{ ServiceRequestID() string })(nil); errors.As(err, &by) {
		request = clean(by.ServiceRequestID())
	}
	if answered := (*smithyhttp.ResponseError)(nil); errors.As(err, &answered) {
		switch answered.HTTPStatusCode() / 100 {
		case 2: // in words that RDS does not use: what is there counts
			return request, nil
		case 3, 4:
			return request, fmt.Errorf("%w: %w", transport.ErrNotTaken, says)
		}
	}
	return request, says
}

// look reads the instance again. Done means that it is being deleted, is gone, or that its name is another instance's. taken waits a
// little for the first of them.
func (g deleter) look(ctx context.Context, a asked, id, resource string, taken bool) (steps.Outcome, error) {
	client, err := a.rds()
	if err != nil {
		return steps.Outcome{}, err
	}
	for n := 1; ; n++ {
		one, err := a.instance(ctx, client, id)
		if stop := ctx.Err(); stop != nil {
			return steps.Outcome{}, stop
		}
		if err != nil {
			return steps.Outcome{}, err
		}
		o := steps.Outcome{Result: steps.Done, After: []steps.KV{{Key: keyInstance, Value: id}}}
		switch {
		case one == nil:
			o.Response, o.After = "There is no instance "+id+" any more.", append(o.After, steps.KV{Key: keyStatus, Value: "gone"})
			return o, nil
		case aws.ToString(one.DbiResourceId) != resource:
			o.Response, o.After = "The name "+id+" is another instance's now.", append(o.After, steps.KV{Key: keyResource, Value: clean(aws.ToString(one.DbiResourceId))})
			return o, nil
		}
		status := clean(aws.ToString(one.DBInstanceStatus))
		o.After = append(o.After, steps.KV{Key: keyResource, Value: clean(resource)}, steps.KV{Key: keyStatus, Value: status})
		if status == "deleting" {
			o.Response = id + " is being deleted."
			return o, nil
		}
		if o.Result, o.Response = steps.Failed, id+" is "+orUnknown(status)+"."; !taken || n == looks {
			return o, nil
		}
		select {
		case <-ctx.Done():
			return steps.Outcome{}, ctx.Err()
		case <-time.After(cmp.Or(g.pause, lookAgain)):
		}
	}
}

// Find implements steps.Finder.
func (g deleter) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	id, resource := steps.Find(before, keyInstance), steps.Find(before, keyResource)
	if id == "" || resource == "" {
		return steps.Outcome{}, errors.New("the journal does not name the instance")
	}
	a, err := begin(ctx, g.env, g.roots, in, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if err := a.stands(before); err != nil {
		return steps.Outcome{}, err
	}
	// Another account has no instance of that name either.
	if err := a.sameAccount(ctx, steps.Find(before, keyARN)); err != nil {
		return steps.Outcome{}, err
	}
	return g.look(ctx, a, id, resource, false)
}

// sameAccount says why the credentials are not those of the account of an ARN (arn:aws:rds:REGION:ACCOUNT:db:NAME).
func (a asked) sameAccount(ctx context.Context, arn string) error {
	at, err := endpoint(a.env, "STS")
	if err != nil {
		return err
	}
	who, err := sts.NewFromConfig(a.cfg, func(o *sts.Options) {
		o.HTTPClient = reader(a.env, a.roots, identity)
		if o.BaseEndpoint = nil; at != "" {
			o.BaseEndpoint = &at
		}
	}).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return why("asking AWS who these credentials are of", "sts:GetCallerIdentity", err)
	}
	if parts := strings.Split(arn, ":"); len(parts) < 5 || parts[4] != aws.ToString(who.Account) {
		return fmt.Errorf("the act was on %s, and the credentials are of the account %s", orUnknown(arn), clean(aws.ToString(who.Account)))
	}
	return nil
}
