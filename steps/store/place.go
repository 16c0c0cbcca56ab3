package store

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"handrail/steps"
	"handrail/steps/awsauth"
	"handrail/steps/transport"
)

const (
	askWithin  = 20 * time.Second
	mostAnswer = 16 << 20 // of one answer: a page of a list has 1,000 keys of 1,024 bytes at most
	mostTries  = 2
)

var regionName = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

// place is a server that speaks S3, and as whom it is asked.
type place struct {
	env    steps.Env
	server *url.URL
	region string
	who    aws.Credentials
	as     string // where the credentials come from, in words
	roots  *x509.CertPool
}

// placeOf finds server and credentials as the AWS tools do: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS; the keys of the
// environment, or a profile of the operator's own files. No runbook names a server.
func placeOf(ctx context.Context, env steps.Env, roots *x509.CertPool, profile string, out steps.Sink) (place, error) {
	l, err := awsauth.SignIn(ctx, env, profile, out)
	if err != nil {
		return place{}, err
	}
	p := place{env: env, roots: roots, region: l.Region, who: l.Who, as: l.As}
	address := cmp.Or(env.Getenv("AWS_ENDPOINT_URL_S3"), env.Getenv("AWS_ENDPOINT_URL"))
	if p.region == "" && (address != "" || !strings.HasPrefix(l.As, "profile ")) {
		p.region = "us-east-1" // a store of one's own has none
	}
	if !regionName.MatchString(p.region) {
		return place{}, fmt.Errorf("%q is no region: set AWS_REGION", steps.Clip(p.region, 100))
	}
	if address == "" {
		address = "https://s3." + p.region + ".amazonaws.com"
	}
	u, err := transport.AskAddress(strings.TrimSuffix(address, "/"))
	if err != nil {
		return place{}, fmt.Errorf("AWS_ENDPOINT_URL_S3: %w", err)
	}
	if u.RawQuery != "" {
		return place{}, errors.New("AWS_ENDPOINT_URL_S3 has a query, which no address of a store has")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	p.server = u
	return p, nil
}

func (p place) agent() transport.Option {
	if p.env.Version == "" {
		return transport.Agent("handrail")
	}
	return transport.Agent("handrail/" + p.env.Version)
}

// reader is a client that can read alone; done lets its connections go.
func (p place) reader() (*s3.Client, func()) {
	client, done := transport.FetchClient(p.env, p.server, p.roots, p.agent())
	client.Transport = shortAnswers{client.Transport}
	at := p.server.String()
	return s3.New(s3.Options{
		BaseEndpoint: &at, UsePathStyle: true, Region: p.region, HTTPClient: client, RetryMaxAttempts: mostTries, Logger: logging.Nop{},
		Credentials:                credentials.StaticCredentialsProvider{Value: p.who},
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}), done
}

// shortAnswers ends an answer that no page of a list and no policy comes to.
type shortAnswers struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s shortAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(req)
	if err == nil && resp.Body != nil {
		resp.Body = &shortBody{resp.Body, mostAnswer}
	}
	return resp, err
}

type shortBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *shortBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer has more than the %d MiB that are read", mostAnswer>>20)
	}
	return n, err
}

// codeOf is the code of an answer that is an error, and its status; "" and 0 where no server answered.
func codeOf(err error) (string, int) {
	code, status := "", 0
	if of := (smithy.APIError)(nil); errors.As(err, &of) {
		code = of.ErrorCode()
	}
	if of := (*awshttp.ResponseError)(nil); errors.As(err, &of) {
		status = of.HTTPStatusCode()
	}
	return code, status
}

// why is an error of the server in words that say what to do.
func (p place) why(what string, err error) error {
	code, status := codeOf(err)
	switch {
	case code == "NoSuchBucket":
		return fmt.Errorf("%s: %s has no such bucket: check its name and AWS_ENDPOINT_URL_S3", what, p.server.Host)
	case code == "ExpiredToken" || code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s: %s does not take %s (%s): sign in, then read again", steps.ErrDenied, what, p.server.Host, p.as, code)
	case code == "AccessDenied" || status == http.StatusForbidden:
		return fmt.Errorf("%w: %s: %s does not let %s do that (%s)", steps.ErrDenied, what, p.server.Host, p.as, cmp.Or(code, "403"))
	case code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed" || status == http.StatusMovedPermanently:
		return fmt.Errorf("%s: the bucket is in another region than %s: set AWS_REGION", what, p.region)
	case code != "":
		return fmt.Errorf("%s: %s answered %d %s", what, p.server.Host, status, steps.OneLine(code, 100))
	}
	if of := (*url.Error)(nil); errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s: asking %s: %w", what, p.server.Host, err)
}

// command is what a person could type for the same.
func (p place) command(args string) string {
	b := "aws s3api " + args
	if !strings.HasSuffix(p.server.Host, ".amazonaws.com") {
		b += " --endpoint-url " + steps.Quote(p.server.String())
	}
	if name, is := strings.CutPrefix(p.as, "profile "); is {
		b += " --profile " + steps.Quote(name)
	}
	return b
}
