package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"handrail/drills/lab"
)

// start serves a folder until the test ends.
func start(t *testing.T) (dir, url string) {
	t.Helper()
	dir = t.TempDir()
	if err := Prepare(dir, "team", "robot", "operator"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, dir) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if addr, err := Address(dir); err == nil {
			return dir, "http://" + addr
		}
		select {
		case err := <-ended:
			t.Fatalf("Serve() = %v", err)
		case <-tick.C:
		}
	}
}

func client(url string, key Key) *s3.Client {
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(key.Access, key.Secret, "")}
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle, o.RetryMaxAttempts = &url, true, 1 })
}

func keyOf(t *testing.T, dir, who string) Key {
	t.Helper()
	key, err := KeyOf(dir, who)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// outcome is what of an answer a client goes by.
func outcome(err error, said ...any) string {
	var answer *awshttp.ResponseError
	var api smithy.APIError
	switch {
	case err == nil:
		return fmt.Sprint(append([]any{"ok"}, said...)...)
	case errors.As(err, &api) && errors.As(err, &answer):
		return fmt.Sprint(answer.HTTPStatusCode(), " ", api.ErrorCode())
	}
	return err.Error()
}

func read(body io.ReadCloser) string {
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// requests are what tofu, terraform and handrail ask of a bucket without versions, in an order in
// which each stands on those before it.
func requests(ctx context.Context, c *s3.Client) []string {
	var out []string
	say := func(what, got string) { out = append(out, what+": "+got) }
	team, key, lock := aws.String("team"), aws.String("shop/production.tfstate"), aws.String("shop/production.tfstate.tflock")
	get := func(what string, in *s3.GetObjectInput) {
		o, err := c.GetObject(ctx, in)
		if err != nil {
			say(what, outcome(err))
			return
		}
		say(what, outcome(nil, read(o.Body), " ", aws.ToString(o.ETag), " ", aws.ToString(o.ContentRange)))
	}
	put := func(what string, in *s3.PutObjectInput) string {
		o, err := c.PutObject(ctx, in)
		if err != nil {
			say(what, outcome(err))
			return ""
		}
		say(what, outcome(nil, aws.ToString(o.ETag)))
		return aws.ToString(o.ETag)
	}
	list := func(what, prefix, delimiter string) {
		o, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: team, Prefix: &prefix, Delimiter: &delimiter})
		if err != nil {
			say(what, outcome(err))
			return
		}
		text := ""
		for _, x := range o.Contents {
			text += fmt.Sprint(" ", *x.Key, " ", *x.Size, " ", *x.ETag)
		}
		for _, x := range o.CommonPrefixes {
			text += " " + *x.Prefix
		}
		say(what, outcome(nil, *o.KeyCount, text, *o.IsTruncated))
	}
	body := func(s string) io.Reader { return strings.NewReader(s) }

	_, err := c.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: team})
	say("the bucket", outcome(err))
	_, err = c.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String("other")})
	say("another bucket", outcome(err))
	v, err := c.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: team})
	if err == nil {
		say("versioning", outcome(nil, v.Status))
	}
	list("nothing in it", "", "")
	get("no state", &s3.GetObjectInput{Bucket: team, Key: key})
	_, err = c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: team, Key: key})
	say("no state, head", outcome(err))
	put("lock", &s3.PutObjectInput{Bucket: team, Key: lock, Body: body(`{"ID":"1"}`), IfNoneMatch: aws.String("*")})
	put("lock again", &s3.PutObjectInput{Bucket: team, Key: lock, Body: body(`{"ID":"2"}`), IfNoneMatch: aws.String("*")})
	get("whose lock", &s3.GetObjectInput{Bucket: team, Key: lock})
	tag := put("state", &s3.PutObjectInput{Bucket: team, Key: key, Body: body(`{"serial":1}`), ContentType: aws.String("application/json")})
	put("state over it", &s3.PutObjectInput{Bucket: team, Key: key, Body: body(`{"serial":22}`)})
	put("state over the first", &s3.PutObjectInput{Bucket: team, Key: key, Body: body(`{"serial":3}`), IfMatch: &tag})
	get("state now", &s3.GetObjectInput{Bucket: team, Key: key})
	get("state of before", &s3.GetObjectInput{Bucket: team, Key: key, IfMatch: &tag})
	get("a part of it", &s3.GetObjectInput{Bucket: team, Key: key, Range: aws.String("bytes=1-4")})
	h, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: team, Key: key})
	if err == nil {
		say("head", outcome(nil, *h.ContentLength, " ", *h.ETag, " ", time.Since(*h.LastModified) < time.Hour))
	}
	put("a name with signs", &s3.PutObjectInput{Bucket: team, Key: aws.String("env:/a b+c/x=1"), Body: body("x")})
	list("all", "", "")
	list("below shop", "shop/", "/")
	list("folders", "", "/")
	o, err := c.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: team, Prefix: key})
	if err == nil {
		text := ""
		for _, x := range o.Versions {
			text += fmt.Sprint(" ", *x.Key, " ", *x.VersionId, " ", *x.IsLatest, " ", *x.Size)
		}
		say("versions", outcome(nil, text))
	}
	_, err = c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: team, Key: lock})
	say("unlock", outcome(err))
	_, err = c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: team, Key: lock})
	say("unlock again", outcome(err))
	get("no lock", &s3.GetObjectInput{Bucket: team, Key: lock})
	return out
}

// TestAnswersAsTheRealServer sends the same requests to the bucket of a drill and to the S3 server
// of the lab, and wants the same answers.
func TestAnswersAsTheRealServer(t *testing.T) {
	t.Parallel()
	o, err := lab.ForTests("bucket")
	if err != nil {
		t.Fatal(err)
	}
	real, err := lab.StartService(t.Context(), o, "s3", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(filepath.Join(real.Dir, "buckets", "team"), 0o700); err != nil {
		t.Fatal(err)
	}
	var key Key
	for _, kv := range real.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "AWS_ACCESS_KEY_ID":
			key.Access = value
		case "AWS_SECRET_ACCESS_KEY":
			key.Secret = value
		}
	}
	dir, url := start(t)
	got, want := requests(t.Context(), client(url, keyOf(t, dir, "robot"))), requests(t.Context(), client(real.URL, key))
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("answer %d differs\nhere:\n%s\nthere:\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if len(got) != 24 {
		t.Errorf("%d answers, want 24", len(got))
	}
}

// TestWhoMayNot: a stranger on loopback gets nothing, and changes nothing.
func TestWhoMayNot(t *testing.T) {
	t.Parallel()
	dir, url := start(t)
	right := keyOf(t, dir, "operator")
	put := func(k Key) string {
		_, err := client(url, k).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("team"), Key: aws.String("x"), Body: strings.NewReader("x")})
		return outcome(err)
	}
	for _, tc := range []struct {
		name string
		key  Key
		want string
	}{
		{"no such account", Key{"DRILL0", right.Secret}, "403 InvalidAccessKeyId"},
		{"another secret", Key{right.Access, right.Secret + "0"}, "403 SignatureDoesNotMatch"},
	} {
		if got := put(tc.key); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	// A request that was signed for another body, and one that was not signed.
	for _, tc := range []struct {
		sign bool
		want string
	}{{true, "XAmzContentSHA256Mismatch"}, {false, "AccessDenied"}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/team/x", strings.NewReader("another body"))
		if err != nil {
			t.Fatal(err)
		}
		if tc.sign {
			signLike(t, req, right, strings.Repeat("0", 64))
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if said := read(res.Body); !strings.Contains(said, "<Code>"+tc.want+"</Code>") {
			t.Errorf("signed %v: %d %s, want %s", tc.sign, res.StatusCode, said, tc.want)
		}
	}
	if _, err := os.Stat(ObjectFile(dir, "team", "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was stored: %v", err)
	}
	if got := put(right); !strings.HasPrefix(got, "ok") {
		t.Errorf("the right key: %s", got)
	}
	log, err := Requests(dir)
	if err != nil {
		t.Fatal(err)
	}
	wrote := 0
	for _, r := range log {
		if r.Writes() {
			wrote++
			if r.Who != "operator" || r.Object != "team/x" {
				t.Errorf("a write of %+v", r)
			}
		}
	}
	if wrote != 1 || len(log) != 5 {
		t.Errorf("the log has %d requests and %d writes, want 5 and 1: %+v", len(log), wrote, log)
	}
}

// signLike signs a request for a body of this hash.
func signLike(t *testing.T, req *http.Request, key Key, hash string) {
	t.Helper()
	signed := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	cred := aws.Credentials{AccessKeyID: key.Access, SecretAccessKey: key.Secret}
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if err := signed.SignHTTP(t.Context(), cred, req, hash, "s3", "us-east-1", time.Now()); err != nil {
		t.Fatal(err)
	}
}

// TestStaysInItsFolder: no name of an object leads out of the bucket.
func TestStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir, url := start(t)
	key := keyOf(t, dir, "robot")
	for _, path := range []string{"/team/..%2f..%2fkeys", "/..%2fkeys/x", "/team/a/../../../keys", "/team/a/", "/"} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			req, err := http.NewRequestWithContext(t.Context(), method, url+path, bytes.NewReader(nil))
			if err != nil {
				t.Fatal(err)
			}
			const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
			signLike(t, req, key, empty)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if said := read(res.Body); res.StatusCode < 400 || strings.Contains(said, "DRILL") {
				t.Errorf("%s %s: %d %s", method, path, res.StatusCode, said)
			}
		}
	}
	if _, err := KeyOf(dir, "robot"); err != nil {
		t.Errorf("the keys are gone: %v", err)
	}
}

// TestEndsWithItsFolder: files that were removed by hand leave no server behind.
func TestEndsWithItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bucket")
	if err := Prepare(dir, "team", "robot"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), dir) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for _, err := Address(dir); err != nil; _, err = Address(dir) {
		<-tick.C
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}
