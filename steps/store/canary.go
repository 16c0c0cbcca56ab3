package store

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
	"handrail/steps/transport"
)

const keyCanary = "object"

// canaryBody is all that a canary has.
var canaryBody = []byte("A canary of handrail. It may be deleted.\n")

// canaryWriter is the gate that writes one small object and lists it.
type canaryWriter struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

type canaryArgs struct {
	writer, reader place
	bucket, key    string
	order          order
}

// Preview implements steps.Gater.
func (g canaryWriter) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	writer, err := placeOf(ctx, g.env, g.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Preview{}, fmt.Errorf("writer: %w", err)
	}
	reader, err := placeOf(ctx, g.env, g.roots, in.Text("reader"), out)
	if err != nil {
		return steps.Preview{}, fmt.Errorf("reader: %w", err)
	}
	bucket, key := in.Text("bucket"), in.Text("key")
	there, _, err := g.there(ctx, reader, bucket, key)
	if err != nil {
		return steps.Preview{}, err
	}
	o := order{path: "/" + bucket + "/" + key, media: "text/plain", only: true, body: canaryBody}
	p := steps.Preview{
		Target:  []steps.KV{{Key: keyStore, Value: writer.server.String()}, {Key: keyBucket, Value: bucket}, {Key: keyCanary, Value: key}, {Key: "as", Value: writer.as}},
		Shown:   []steps.KV{{Key: "listed as", Value: reader.as}},
		Diff:    []string{"+ " + strings.TrimSpace(string(canaryBody))},
		Effect:  fmt.Sprintf("write one object of %d bytes to %s as %s. A notification of it may go out, as of each upload.", len(canaryBody), key, writer.as),
		Request: o.String(),
		Command: writer.command("put-object --bucket " + steps.Quote(bucket) + " --key " + steps.Quote(key) + " --if-none-match '*' --body FILE"),
		Phrase:  steps.Phrase("write store", "canary/"+bucket),
		Undo:    "Delete the object.",
		Args:    canaryArgs{writer, reader, bucket, key, o},
	}
	switch {
	case there:
		p.Unmet = append(p.Unmet, steps.Need{Why: key + " is in " + bucket + " already, so that a new one would prove nothing.", Cure: "name another key", Of: "key"})
	case strings.Contains(key, "//") || strings.Contains("/"+key+"/", "/./") || strings.Contains("/"+key+"/", "/../"):
		p.Unmet = append(p.Unmet, steps.Need{Why: "The key " + key + " can be read in two ways.", Cure: "name another key", Of: "key"})
	}
	return p, nil
}

// there reports whether the list of a bucket has a key, and of how many bytes.
func (g canaryWriter) there(ctx context.Context, p place, bucket, key string) (bool, int64, error) {
	client, done := p.reader()
	defer done()
	one, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	page, err := client.ListObjectsV2(one, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &key, MaxKeys: aws.Int32(1)}) // the key itself comes first
	if stop := ctx.Err(); stop != nil {
		return false, 0, stop
	}
	if err != nil {
		return false, 0, p.why("listing "+bucket, err)
	}
	if len(page.Contents) == 0 || aws.ToString(page.Contents[0].Key) != key {
		return false, 0, nil
	}
	return true, aws.ToInt64(page.Contents[0].Size), nil
}

// Act implements steps.Gater.
func (g canaryWriter) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	args, err := steps.ArgsOf[canaryArgs](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	out.Secret(args.writer.who.SecretAccessKey)
	return transport.Settled(args.writer.send(ctx, args.order), func() (steps.Outcome, error) { return g.look(ctx, args.reader, args.bucket, args.key) })
}

// look lists the bucket for the canary.
func (g canaryWriter) look(ctx context.Context, p place, bucket, key string) (steps.Outcome, error) {
	there, size, err := g.there(ctx, p, bucket, key)
	o := steps.Outcome{Result: steps.Failed}
	switch {
	case err != nil:
		return o, err
	case !there:
		o.Response, o.After = "The list of "+bucket+" does not have "+key+": what was answered was not stored.", []steps.KV{{Key: keyCanary, Value: "not listed"}}
	case size != int64(len(canaryBody)):
		o.Response, o.After = fmt.Sprintf("%s has %d bytes, and the canary has %d.", key, size, len(canaryBody)), []steps.KV{{Key: keyCanary, Value: key}}
	default:
		o.Result, o.Response, o.After = steps.Done, "The list of "+bucket+" has "+key+".", []steps.KV{{Key: keyCanary, Value: key}, {Key: "bytes", Value: fmt.Sprint(size)}}
	}
	return o, nil
}

// Find implements steps.Finder.
func (g canaryWriter) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	reader, err := placeOf(ctx, g.env, g.roots, in.Text("reader"), out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if at := steps.Find(before, keyStore); at != reader.server.String() {
		return steps.Outcome{}, fmt.Errorf("the act was on %s, and the environment names %s", at, reader.server)
	}
	return g.look(ctx, reader, in.Text("bucket"), in.Text("key"))
}
