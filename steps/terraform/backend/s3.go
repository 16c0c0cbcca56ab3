package backend

import (
	"context"
	"crypto/md5" // it is the digest that the backend keeps
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"handrail/steps"
)

// s3Store is the backend that keeps the state as an object and the lock as an
// object beside it, as an item of a DynamoDB table, or as both.
type s3Store struct {
	env         steps.Env
	client      *s3.Client
	items       *dynamodb.Client // nil without a table
	http        *fetcher
	bucket, key string
	table       string
	native      bool // use_lockfile: the backend takes the lock file
	customerKey []byte
	// writers are clients through another guard, for the one gate that writes.
	writers    func(guard guardOf) (*s3.Client, *dynamodb.Client, error)
	encryption encryption
}

// encryption is how the backend stores what it writes.
type encryption struct {
	encrypt  bool
	kms, acl string
}

func (b *s3Store) Name() string { return "s3" }

func (b *s3Store) Cluster(context.Context) (string, string, error) { return b.http.server(), "", nil }

func (b *s3Store) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockByID, Grammar: lockGrammar, ByHand: "delete the lock file and the item of the table by hand if the lock must go"}
}

func (b *s3Store) lockFile() string { return b.key + ".tflock" }

// lockID is the key of the lock in the table; that of the digest ends in -md5.
func (b *s3Store) lockID() string { return b.bucket + "/" + b.key }

func (b *s3Store) where() string { return "s3://" + b.bucket + "/" + b.key }

func (b *s3Store) Command(what string) string {
	at := " --endpoint-url " + steps.Quote(b.http.server())
	if b.http.server() == "" {
		at = ""
	}
	switch what {
	case "lock":
		var out []string
		if b.native || b.items == nil {
			out = append(out, "aws s3 cp"+at+" "+steps.Quote("s3://"+b.bucket+"/"+b.lockFile())+" -")
		}
		if b.items != nil {
			out = append(out, fmt.Sprintf("aws dynamodb get-item --consistent-read --table-name %s --key %s", steps.Quote(b.table), steps.Quote(fmt.Sprintf(`{"LockID":{"S":%q}}`, b.lockID()))))
		}
		return strings.Join(out, "; ")
	case "versions":
		return fmt.Sprintf("aws s3api list-object-versions%s --bucket %s --prefix %s", at, steps.Quote(b.bucket), steps.Quote(b.key))
	}
	return "aws s3 cp" + at + " " + steps.Quote(b.where()) + " -"
}

// sse are the headers of an object that is encrypted with a key of the customer.
func (b *s3Store) sse() (key, algorithm, sum *string) {
	if b.customerKey == nil {
		return nil, nil, nil
	}
	digest := md5.Sum(b.customerKey)
	return aws.String(base64.StdEncoding.EncodeToString(b.customerKey)), aws.String("AES256"), aws.String(base64.StdEncoding.EncodeToString(digest[:]))
}

func (b *s3Store) getObject(ctx context.Context, key, version, etag, span string) (*s3.GetObjectOutput, error) {
	in := &s3.GetObjectInput{Bucket: &b.bucket, Key: &key}
	in.SSECustomerKey, in.SSECustomerAlgorithm, in.SSECustomerKeyMD5 = b.sse()
	for _, set := range []struct {
		to   **string
		from string
	}{{&in.VersionId, version}, {&in.IfMatch, etag}, {&in.Range, span}} {
		if set.from != "" {
			*set.to = &set.from
		}
	}
	return b.client.GetObject(ctx, in)
}

// why tells an absent object, an absent bucket, a refused read and a server that
// cannot be reached apart, each with what to do next.
func (b *s3Store) why(ctx context.Context, key string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var api smithy.APIError
	var answer *awshttp.ResponseError
	code, status := "", 0
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	if errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	at := b.http.server()
	switch {
	case code == "NoSuchBucket":
		return fmt.Errorf("the bucket %q does not exist on %s: check bucket, region and endpoints", b.bucket, at)
	case code == "NoSuchKey" || code == "NotFound" || status == 404:
		return errAbsent
	case code == "ExpiredToken" || code == "ExpiredTokenException" || code == "TokenRefreshRequired":
		return denied("%s says that the credentials have expired (%s): sign in again", at, code)
	case code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "UnrecognizedClientException" || status == 401:
		return denied("%s does not accept the credentials (%s): check the profile and the keys", at, code)
	case code == "AccessDenied" || code == "AccessDeniedException" || status == 403:
		return denied("forbidden: the credentials may not read %s on %s; ask for s3:GetObject on it and s3:ListBucket on the bucket, without which an absent object looks the same", key, at)
	case status == 301 || code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed":
		return fmt.Errorf("the bucket %q is in another region than %s: set region", b.bucket, b.client.Options().Region)
	case code != "":
		return fmt.Errorf("%s: %s answered %d %s: %q", key, at, status, code, steps.Clip(api.ErrorMessage(), 300))
	}
	return fmt.Errorf("%s: %w", key, unreachable(ctx, at, err))
}

// openState asks for the state as it stands, or as etag says it did.
func (b *s3Store) openState(ctx context.Context, etag string) (*s3.GetObjectOutput, error) {
	out, err := b.getObject(ctx, b.key, "", etag, "")
	if err != nil {
		return nil, b.why(ctx, b.where(), err)
	}
	return out, nil
}

func (b *s3Store) State(ctx context.Context) (State, error) {
	r := State{Where: b.where()}
	first, err := b.openState(ctx, "")
	if errors.Is(err, errAbsent) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("state: %w", err)
	}
	etag := aws.ToString(first.ETag)
	r.Exists, r.Written, r.Version = true, aws.ToTime(first.LastModified), aws.ToString(first.VersionId)
	r.size = aws.ToInt64(first.ContentLength)
	r.Body = newStateReader(ctx, first.Body, func(ctx context.Context) (io.ReadCloser, error) {
		again, err := b.openState(ctx, etag)
		if err != nil {
			return nil, fmt.Errorf("the state, a second time: %w", err)
		}
		return again.Body, nil
	})
	return r, nil
}

// plainETag reports whether an ETag can be the md5 of what is stored: those of
// parts and of encrypted objects are none.
func plainETag(etag string) (string, bool) {
	sum := strings.ToLower(strings.Trim(etag, `"`))
	raw, err := hex.DecodeString(sum)
	return sum, err == nil && len(raw) == md5.Size
}
