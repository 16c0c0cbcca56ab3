//go:build unix

package minio

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/drills/lab"
)

// TestStore makes an account of a real MinIO, and changes what it may do.
func TestStore(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	at, err := lab.Listeners(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range at {
		if !a.IsLoopback() {
			t.Errorf("it listens on %s", a)
		}
	}
	client := func(access, secret string) *s3.Client {
		return s3.New(s3.Options{BaseEndpoint: &s.URL, UsePathStyle: true, Region: "us-east-1", RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider(access, secret, "")})
	}
	if _, err := client(s.Access, s.Secret).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("media")}); err != nil {
		t.Fatal(err)
	}
	const lets = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:PutObject"],"Resource":["arn:aws:s3:::media/*"]}]}`
	for _, err := range []error{s.User("writer", "writer-of-the-lab"), s.Policy("write", lets), s.Attach("writer", "write")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func() error {
		_, err := client("writer", "writer-of-the-lab").PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("media"), Key: aws.String("a"), Body: strings.NewReader("x")})
		return err
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	if err := s.Policy("write", strings.Replace(lets, "Allow", "Deny", 1)); err != nil {
		t.Fatal(err)
	}
	if err := put(); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("after a Deny: %v", err)
	}
	if err := s.Policy("write", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotPrincipal":"*","Action":["s3:PutObject"]}]}`); err == nil {
		t.Error("a policy of another form was taken")
	}
	if settings, err := s.Get("audit_webhook"); err != nil || !strings.HasPrefix(settings, "audit_webhook ") {
		t.Errorf("settings: %q, %v", settings, err)
	}
}
