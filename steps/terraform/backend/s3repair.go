package backend

import (
	"bytes"
	"context"
	"crypto/md5" // it is the digest that the backend keeps
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ditems "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/transport"
)

// Repair implements Repairer: a new version of the object where the state cannot
// be read, if the object is still the one that was read, and the digest in the
// table where it is another than that of the object.
func (b *s3Store) Repair(ctx context.Context, _ module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	var put *s3.PutObjectInput
	stored := now.Raw
	if now.Broken {
		head, err := b.openState(ctx, "")
		if err != nil {
			return Repair{}, err
		}
		defer head.Body.Close()
		if err := still(head.Body, now); err != nil {
			return Repair{}, fmt.Errorf("%s: %w", b.where(), err)
		}
		put, stored = b.put(content, aws.ToString(head.ETag)), content
	}
	set, old, err := b.setDigest(ctx, stored)
	if err != nil {
		return Repair{}, err
	}
	if put == nil && set == nil {
		return Repair{}, errors.New("neither the object nor a digest is broken")
	}
	var looked capture
	if err := b.write(ctx, looked.guard, put, set); err != nil && !errors.Is(err, errCaught) {
		return Repair{}, err
	}
	m := Repair{Do: func(ctx context.Context) (string, error) {
		guard := func(next http.RoundTripper, server string, opts ...transport.Option) http.RoundTripper {
			return transport.Store(next, server, looked.seen, opts...)
		}
		if err := b.write(ctx, guard, put, set); err != nil {
			return "", err
		}
		return "The object and its digest fit again.", nil
	}}
	var requests, commands []string
	if put != nil {
		requests = append(requests, fmt.Sprintf("PUT %s, a new version of %d bytes (SHA-256 %s), if its ETag is still %s", b.where(), len(content), sumOfBytes(content), aws.ToString(put.IfMatch)))
		commands = append(commands, fmt.Sprintf("aws s3api put-object --bucket %s --key %s --if-match %s --body FILE", steps.Quote(b.bucket), steps.Quote(b.key), steps.Quote(aws.ToString(put.IfMatch))))
	}
	if set != nil {
		digest := md5.Sum(stored)
		key := fmt.Sprintf(`{"LockID":{"S":%q}}`, b.lockID()+"-md5")
		requests = append(requests, fmt.Sprintf("UpdateItem %s in %s: Digest %s, if it is still %s", b.lockID()+"-md5", b.table, hex.EncodeToString(digest[:]), old))
		commands = append(commands, fmt.Sprintf("aws dynamodb update-item --table-name %s --key %s --update-expression 'SET Digest = :new' --expression-attribute-values %s", steps.Quote(b.table), steps.Quote(key),
			steps.Quote(fmt.Sprintf(`{":new":{"S":"%x"}}`, digest))))
	}
	m.Request, m.Command = strings.Join(requests, "; then "), strings.Join(commands, " && ")
	return m, nil
}

// put is a new version of the state, stored as the backend would.
func (b *s3Store) put(content []byte, etag string) *s3.PutObjectInput {
	in := &s3.PutObjectInput{Bucket: &b.bucket, Key: &b.key, ContentType: aws.String("application/json"), ContentLength: aws.Int64(int64(len(content))), IfMatch: &etag, ACL: types.ObjectCannedACL(b.encryption.acl)}
	in.SSECustomerKey, in.SSECustomerAlgorithm, in.SSECustomerKeyMD5 = b.sse()
	switch {
	case b.encryption.kms != "":
		in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryptionAwsKms, &b.encryption.kms
	case b.encryption.encrypt && b.customerKey == nil:
		in.ServerSideEncryption = types.ServerSideEncryptionAes256
	}
	in.Body = bytes.NewReader(content)
	return in
}

// setDigest is the digest of what is stored, nil where the table has it or there
// is none.
func (b *s3Store) setDigest(ctx context.Context, stored []byte) (set *dynamodb.UpdateItemInput, old string, err error) {
	if b.items == nil {
		return nil, "", nil
	}
	id := b.lockID() + "-md5"
	old, found, err := b.item(ctx, id, "Digest")
	digest := md5.Sum(stored)
	sum := hex.EncodeToString(digest[:])
	if err != nil || !found || old == sum {
		return nil, old, err
	}
	// Of maps with one key each: what is sent must be what was caught, to the byte.
	text := func(s string) ditems.AttributeValue { return &ditems.AttributeValueMemberS{Value: s} }
	return &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: map[string]ditems.AttributeValue{"LockID": text(id)},
		AttributeUpdates: map[string]ditems.AttributeValueUpdate{"Digest": {Action: ditems.AttributeActionPut, Value: text(sum)}},
		Expected:         map[string]ditems.ExpectedAttributeValue{"Digest": {Value: text(old)}},
	}, old, nil
}

// write sends both through a guard, each once. What a catcher caught counts as
// sent, so that both are seen.
func (b *s3Store) write(ctx context.Context, guard guardOf, put *s3.PutObjectInput, set *dynamodb.UpdateItemInput) error {
	objects, items, err := b.writers(guard)
	if err != nil {
		return err
	}
	var unsent error
	if put != nil {
		if _, err := put.Body.(io.Seeker).Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := objects.PutObject(ctx, put, func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
		if unsent = err; err != nil && !errors.Is(err, errCaught) {
			return fmt.Errorf("the new version of %s: %w", b.where(), b.why(ctx, b.where(), err))
		}
	}
	if set != nil {
		_, err := items.UpdateItem(ctx, set, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil && !errors.Is(err, errCaught) {
			return fmt.Errorf("the digest of %s: %w", b.where(), err)
		}
		unsent = errors.Join(unsent, err)
	}
	return unsent
}

// errCaught ends a request that is only looked at.
var errCaught = errors.New("the request was not sent")

// capture sees what would be sent and sends nothing.
type capture struct{ seen []transport.Request }

func (c *capture) guard(_ http.RoundTripper, server string, _ ...transport.Option) http.RoundTripper {
	prefix := ""
	if u, err := url.Parse(server); err == nil {
		prefix = strings.TrimSuffix(u.Path, "/")
	}
	return captureTransport{c, prefix}
}

// captureTransport is a way to one server, below its prefix.
type captureTransport struct {
	c      *capture
	prefix string
}

// RoundTrip implements http.RoundTripper.
func (c captureTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if err := errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
	}
	path := "/" + strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, c.prefix), "/")
	if req.URL.RawQuery != "" {
		path += "?" + req.URL.RawQuery
	}
	c.c.seen = append(c.c.seen, transport.Request{Method: req.Method, Path: path, SHA256: transport.Sum(body)})
	return nil, errCaught
}
