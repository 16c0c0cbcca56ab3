// Package bucket keeps bundles in an S3 bucket, each as the object
// <prefix>/<id>.hrb.tar.gz.
//
// Credentials, region and endpoint come from where the AWS tools have them. Each
// part is sent with its SHA-256, to which the server holds it; the object appears
// whole, on the condition that there is none of its name. Of a push that broke
// off the parts stay in an unfinished upload, which the next one goes on with.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"handrail/session/index/depot"
	"handrail/steps/transport"
)

const (
	askWithin  = time.Minute      // for a request without contents, retries included
	sendWithin = 15 * time.Minute // for one part
	askIMDS    = "AWS_EC2_METADATA_DISABLED"
)

// Bucket is a depot.Store.
type Bucket struct {
	name, prefix string
	client       *s3.Client
	part         int64
	secrets      []string
	plain        string // the endpoint, where it is not encrypted
}

// Open finds out who we are to the bucket; it does not speak to the bucket yet.
func Open(ctx context.Context, place string, more ...func(*config.LoadOptions) error) (*Bucket, error) {
	b := &Bucket{part: depot.PartSize}
	var err error
	if b.name, b.prefix, err = split(place); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	// A machine outside of that cloud would wait for an address that was not named.
	asking := os.Getenv(askIMDS) == "false"
	state := imds.ClientDisabled
	if asking {
		state = imds.ClientEnabled
	}
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = depot.Quiet })
	cfg, err := config.LoadDefaultConfig(ctx, append([]func(*config.LoadOptions) error{
		config.WithEC2IMDSClientEnableState(state), config.WithHTTPClient(client),
		config.WithLogger(logging.Nop{})}, more...)...) // it would write over the screen
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	b.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if o.BaseEndpoint != nil { // a server of one's own seldom has a host name for each bucket
			o.UsePathStyle = true
			if o.Region == "" {
				o.Region = "us-east-1"
			}
			if strings.HasPrefix(*o.BaseEndpoint, "http:") {
				b.plain = *o.BaseEndpoint
			}
		}
		o.HTTPClient = &http.Client{Transport: transport.Limit(awsClient{o.HTTPClient}, contents),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		// Bundles prove themselves, by more than a checksum that lies beside them.
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	if b.client.Options().Region == "" {
		return nil, fmt.Errorf("unknown region of %s%s: set AWS_REGION, or region in the profile", Scheme, b.name)
	}
	return b, b.identify(ctx, cfg.Credentials, asking)
}

// awsClient is the client of the AWS settings, with its certificates and proxies.
type awsClient struct{ client s3.HTTPClient }

// RoundTrip implements http.RoundTripper.
func (s awsClient) RoundTrip(req *http.Request) (*http.Response, error) { return s.client.Do(req) }

// contents reports whether a request is for a part of a bundle, which is read as it
// comes: all others list, describe or acknowledge something.
func contents(req *http.Request) bool {
	q := req.URL.Query()
	return req.Method == http.MethodGet && !q.Has("list-type") && !q.Has("uploads") && !q.Has("uploadId")
}

func (b *Bucket) identify(ctx context.Context, from aws.CredentialsProvider, asking bool) error {
	if from == nil {
		return errors.New("no credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	who, err := from.Retrieve(ctx)
	if err != nil && !asking {
		return fmt.Errorf("no credentials in the environment or the profile of the AWS tools: %w; those of the machine itself (EC2) are asked for only with %s=false", err, askIMDS)
	}
	if err != nil {
		return fmt.Errorf("no credentials: %w", err)
	}
	b.secrets = []string{who.SecretAccessKey, who.SessionToken}
	return nil
}

// Secrets are the credentials in use.
func (b *Bucket) Secrets() []string { return b.secrets }

// Plain is the endpoint, where what is sent can be read on its way.
func (b *Bucket) Plain() string { return b.plain }

// Place names a bundle.
func (b *Bucket) Place(id string) string { return Scheme + b.name + "/" + b.key(id) }

func (b *Bucket) key(id string) string { return b.below() + id + depot.Suffix }

// below is what all names begin with.
func (b *Bucket) below() string {
	if b.prefix == "" {
		return ""
	}
	return b.prefix + "/"
}

// Find asks by a listing, whose errors say more than those of a look at one
// object.
func (b *Bucket) Find(ctx context.Context, id string) (depot.BundleInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	key := b.key(id)
	page, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &key, MaxKeys: aws.Int32(1)})
	if err != nil {
		return depot.BundleInfo{}, fmt.Errorf("looking for %q: %w", b.Place(id), err)
	}
	// The name itself comes before all that only begin with it.
	if len(page.Contents) == 0 || aws.ToString(page.Contents[0].Key) != key {
		return depot.BundleInfo{}, fmt.Errorf("%w: %q", depot.ErrNone, b.Place(id))
	}
	o := page.Contents[0]
	return depot.BundleInfo{ID: id, Place: b.Place(id), Size: aws.ToInt64(o.Size), When: aws.ToTime(o.LastModified), Version: aws.ToString(o.ETag)}, nil
}

// Open reads an object, as long as it is the one that was found.
func (b *Bucket) Open(ctx context.Context, s depot.BundleInfo, from int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: aws.String(b.key(s.ID)), IfMatch: &s.Version}
	if from > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, err
	}
	if from > 0 && !strings.HasPrefix(aws.ToString(out.ContentRange), fmt.Sprintf("bytes %d-", from)) {
		return nil, errors.Join(errors.New("the server does not support reading from the middle of an object"), out.Body.Close())
	}
	return out.Body, nil
}

// List names the objects right below the prefix.
func (b *Bucket) List(ctx context.Context) (depot.Listing, error) {
	var out depot.Listing
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Delimiter: aws.String("/")}
	if b.prefix != "" {
		in.Prefix = aws.String(b.below())
	}
	for pages, seen := s3.NewListObjectsV2Paginator(b.client, in), 0; pages.HasMorePages(); {
		page, err := b.page(ctx, pages)
		if err != nil {
			return out, fmt.Errorf("listing %s%s/%s: %w", Scheme, b.name, b.prefix, err)
		}
		for _, o := range page.Contents {
			base := strings.TrimPrefix(aws.ToString(o.Key), b.below())
			if base == "" {
				continue // the mark of an empty folder
			}
			id, ok := depot.IDOf(base)
			if !ok {
				out.Strangers = append(out.Strangers, base)
				continue
			}
			out.Bundles = append(out.Bundles, depot.BundleInfo{ID: id, Place: b.Place(id), Size: aws.ToInt64(o.Size), When: aws.ToTime(o.LastModified), Version: aws.ToString(o.ETag)})
		}
		// A page may be empty: then it counts as one name, so that no server can go on for ever.
		if seen += max(1, len(page.Contents)+len(page.CommonPrefixes)); seen >= depot.MaxListed && pages.HasMorePages() {
			out.More = true
			break
		}
	}
	return out, nil
}

func (b *Bucket) page(ctx context.Context, pages *s3.ListObjectsV2Paginator) (*s3.ListObjectsV2Output, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return pages.NextPage(ctx)
}

// answered tells whether the server gave one of these answers.
func answered(err error, codes ...string) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	for _, c := range codes {
		if api.ErrorCode() == c {
			return true
		}
	}
	return false
}
