package backend

import (
	"context"
	"crypto/md5" // it is the digest that the backend keeps
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// maxDigested bounds a state that is read whole for its digest alone.
const maxDigested = 64 << 20

const (
	inFile  = "file"
	inTable = "table"
)

// Lock reads both places where a lock can be, whichever the backend takes: the
// writers of one state need not agree on one of them.
func (b *s3Store) Lock(ctx context.Context) (Lock, error) {
	r := Lock{Where: "s3://" + b.bucket + "/" + b.lockFile(), Media: steps.MediaJSON}
	file, err := b.fileLock(ctx)
	switch {
	case err == nil:
	case b.native || b.items == nil || ctx.Err() != nil:
		return Lock{}, fmt.Errorf("lock: %w", err)
	default:
		r.note(steps.Info, "Whether there is a lock file beside the table was not read: %v", err)
	}
	r.at, r.noClock = b.http.clock(b.env)
	if b.items == nil {
		r.take(file)
		if !b.native && file.held {
			r.foreign()
		}
		if !b.native && !file.held {
			r.note(steps.Warning, "This backend has neither use_lockfile nor dynamodb_table: its runs take no lock at all.")
		}
		return r, nil
	}
	table, err := b.tableLock(ctx)
	if err != nil {
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	r.join(file, table, b.native)
	r.Where = "table " + b.table + ", " + b.lockID()
	if b.native {
		r.Where += ", and s3://" + b.bucket + "/" + b.lockFile()
	}
	b.compareDigest(ctx, &r)
	return r, ctx.Err()
}

// take makes one system's lock that of the state.
func (l *Lock) take(p Part) {
	l.Held, l.ID, l.Info, l.InfoWhy, l.Raw, l.wrote = p.held, p.id, p.info, p.why, p.Raw, p.wrote
}

// join makes one lock of two systems. Whichever of them is held, the state is
// locked for the writers that look at it.
func (l *Lock) join(file, table Part, native bool) {
	if !native && !file.held {
		l.take(table) // the backend takes the item alone, and no more was taken
		return
	}
	l.take(table)
	if !table.held {
		l.take(file)
	}
	l.Raw = nil // each is kept under its own name
	l.Parts = []Part{file, table}
	if file.held && table.held && file.id == table.id {
		l.wrote = file.wrote // DynamoDB keeps no time of an item
	}
	l.Agree = file.held == table.held && file.id == table.id
	switch {
	case l.Agree:
	case file.held && table.held:
		l.Stuck, l.StuckCure = "Two runs hold this state, one in each system, and force-unlock would release one of them.", "find both runs and let them end"
		l.note(steps.Critical, "Two runs hold this state: the lock file says %s of %s, the table says %s of %s. Each of them sees its own lock only.",
			prose.OrUnknown(file.id), file.by(), prose.OrUnknown(table.id), table.by())
	case !native:
		l.foreign()
		l.note(steps.Critical, "The lock file is held as %s by %s, but this backend looks at the table alone: a run from here would not see it. One writer uses use_lockfile, the other does not.",
			prose.OrUnknown(file.id), file.by())
	case file.held:
		l.note(steps.Warning, "The lock file is there, the item of the table is not: a run is just taking or releasing them, or the item was deleted by hand. Read it again.")
	default:
		l.note(steps.Warning, "The item of the table is there, the lock file is not: a run is just taking or releasing them, or the file was deleted by hand. Read it again; force-unlock then releases the item and exits 1 all the same.")
	}
}

// foreign marks a lock that a run from this directory would not look at.
func (l *Lock) foreign() {
	l.Stuck = "The lock file is that of a backend with use_lockfile, which this directory does not have: force-unlock from here would leave it."
	l.StuckCure = "unlock from a directory with the settings of the run that took it"
}

func (p Part) by() string {
	if p.info == nil {
		return "an unknown holder"
	}
	return prose.OrUnknown(p.info.Who)
}

// describe parses what a system says of a lock that is held.
func (p *Part) describe(raw []byte) {
	p.held, p.Raw = true, raw
	info, err := parseLockInfo(raw)
	if err != nil {
		p.why = "the description of the lock cannot be read: " + err.Error()
		return
	}
	p.info, p.id = info, info.ID
}

func (b *s3Store) fileLock(ctx context.Context) (Part, error) {
	p := Part{Name: inFile}
	out, err := b.getObject(ctx, b.lockFile(), "", "", "")
	if err != nil {
		if err = b.why(ctx, "s3://"+b.bucket+"/"+b.lockFile(), err); errors.Is(err, errAbsent) {
			return p, nil
		}
		return p, err
	}
	defer out.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(out.Body, module.MaxSmall))
	if err != nil {
		return p, fmt.Errorf("lock file: %w", err)
	}
	p.describe(raw)
	if p.wrote.at = aws.ToTime(out.LastModified); p.wrote.at.IsZero() {
		p.wrote.why = "the store does not say when the lock file was written"
	}
	return p, nil
}

func (b *s3Store) tableLock(ctx context.Context) (Part, error) {
	p := Part{Name: inTable}
	text, found, err := b.item(ctx, b.lockID(), "Info")
	if err == nil && found {
		p.describe([]byte(text))
	}
	return p, err
}

// item reads one attribute of an item, found even where it lacks the attribute.
func (b *s3Store) item(ctx context.Context, id, attribute string) (text string, found bool, err error) {
	out, err := b.items.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &b.table, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"LockID": &types.AttributeValueMemberS{Value: id}},
	})
	if err != nil {
		var none *types.ResourceNotFoundException
		if errors.As(err, &none) {
			return "", false, fmt.Errorf("the table %q does not exist: check dynamodb_table, region and endpoints", b.table)
		}
		return "", false, b.why(ctx, "table "+b.table, err)
	}
	if v, ok := out.Item[attribute].(*types.AttributeValueMemberS); ok {
		text = v.Value
	}
	return text, len(out.Item) > 0, nil
}

// compareDigest holds the digest in the table against the stored bytes. It never
// makes a lock unreadable.
func (b *s3Store) compareDigest(ctx context.Context, r *Lock) {
	want, found, err := b.item(ctx, b.lockID()+"-md5", "Digest")
	if err != nil {
		r.DigestWhy = "the digest could not be read: " + err.Error()
		return
	}
	if !found {
		r.Digest = "absent"
		return
	}
	got, err := b.stateSum(ctx, want)
	switch {
	case errors.Is(err, errAbsent):
		r.Digest = "mismatch"
		r.note(steps.Critical, "The table has a digest (%s), but there is no state: it was deleted or moved by hand, and every run ends in \"state data in S3 does not have the expected content\".", steps.Clip(want, 40))
	case err != nil:
		r.DigestWhy = "the state could not be summed up: " + err.Error()
	case got == want:
		r.Digest = "match"
	case r.Held:
		// The state is written first, the digest after it.
		r.DigestWhy = fmt.Sprintf("the digest %s is not that of the state, %s, but a run holds the lock and may be between the two: read it again", steps.Clip(want, 40), got)
	default:
		r.Digest = "mismatch"
		r.note(steps.Critical, "The digest in the table (%s) is not that of the stored state (%s): every run ends in \"state data in S3 does not have the expected content\". A writer without dynamodb_table, or a state restored by hand, does this. Look at the state first, then set Digest of %s-md5.",
			steps.Clip(want, 40), got, b.lockID())
	}
}

// stateSum returns the md5 of the stored bytes; the ETag spares the reading
// where it is the digest that was expected.
func (b *s3Store) stateSum(ctx context.Context, want string) (string, error) {
	in := &s3.HeadObjectInput{Bucket: &b.bucket, Key: &b.key}
	in.SSECustomerKey, in.SSECustomerAlgorithm, in.SSECustomerKeyMD5 = b.sse()
	head, err := b.client.HeadObject(ctx, in)
	if err != nil {
		return "", b.why(ctx, b.where(), err)
	}
	if sum, plain := plainETag(aws.ToString(head.ETag)); plain && sum == want {
		return sum, nil
	}
	if n := aws.ToInt64(head.ContentLength); n > maxDigested {
		return "", fmt.Errorf("it has %d bytes, which are too many to read for this alone", n)
	}
	out, err := b.openState(ctx, aws.ToString(head.ETag))
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	sum := md5.New()
	if _, err := io.Copy(sum, out.Body); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
