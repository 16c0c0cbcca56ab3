package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"handrail/drills/lab"
	"handrail/drills/lab/minio"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// shop is a real store with a bucket and accounts of its own.
type shop struct {
	t   *testing.T
	s   *lab.Server
	dir string
	env steps.Env
}

const accountSecret = "0123456789abcdef-of-the-lab"

// openShop starts a store whose accounts are those that are named, each with a profile of its name.
func openShop(t *testing.T, accounts ...string) *shop {
	t.Helper()
	s, err := lab.StartService(t.Context(), lab.Options{}, "s3", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &shop{t: t, s: s, dir: t.TempDir()}
	type account struct {
		Access string `json:"access"`
		Secret string `json:"secret"`
		Role   string `json:"role"`
	}
	all, profiles := map[string]account{}, ""
	for _, name := range accounts {
		all[name] = account{name, accountSecret, "user"}
		profiles += fmt.Sprintf("[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", name, name, accountSecret)
	}
	raw, err := json.Marshal(map[string]any{"accessAccounts": all})
	if err != nil {
		t.Fatal(err)
	}
	h.write(filepath.Join(s.Dir, "iam", "users.json"), string(raw))
	h.write(filepath.Join(h.dir, "credentials"), profiles)
	h.env = steps.Env{Dir: h.dir, Home: h.dir, Environ: append([]string{"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(h.dir, "credentials"), "AWS_CONFIG_FILE=" + filepath.Join(h.dir, "none")}, s.Env...)}
	if err := os.Mkdir(filepath.Join(s.Dir, "buckets", "media"), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *shop) write(name, text string) {
	h.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(h.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// client signs in as an account, "" for the owner of the store.
func (h *shop) client(who string) *s3.Client {
	secret := accountSecret
	if who == "" {
		who, secret = h.env.Getenv("AWS_ACCESS_KEY_ID"), h.env.Getenv("AWS_SECRET_ACCESS_KEY")
	}
	return s3.New(s3.Options{BaseEndpoint: &h.s.URL, UsePathStyle: true, Region: "us-east-1", RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider(who, secret, "")})
}

func (h *shop) put(who, key string) error {
	_, err := h.client(who).PutObject(h.t.Context(), &s3.PutObjectInput{Bucket: aws.String("media"), Key: &key, Body: strings.NewReader("x")})
	return err
}

func (h *shop) setPolicy(text string) error {
	_, err := h.client("").PutBucketPolicy(h.t.Context(), &s3.PutBucketPolicyInput{Bucket: aws.String("media"), Policy: &text})
	return err
}

func (h *shop) look(name string, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	h.t.Helper()
	k, out := kindOf(h.t, name), stepstest.NewSink()
	for _, f := range k.Params {
		if _, is := in[f.Name]; is || f.Default == "" {
			continue
		}
		switch f.Type {
		case steps.Bool:
			in[f.Name] = steps.BoolOf(f.Default == "true")
		case steps.Int:
			in[f.Name] = steps.IntOf(100000)
		case steps.Duration:
			in[f.Name] = steps.DurationOf(3600e9)
		default:
			in[f.Name] = steps.StringOf(f.Default)
		}
	}
	obs, err := stepstest.Observe(h.t.Context(), k.Reads(h.env), k.Facts, in, out)
	return obs, out, err
}

// says holds facts to what they must be; "?" is unknown, "*" any value.
func says(t *testing.T, what string, obs steps.Observation, want map[string]string) {
	t.Helper()
	for name, text := range want {
		v := obs.Facts[name]
		switch {
		case text == "?" && v.Known(), text != "?" && !v.Known(), text != "?" && text != "*" && v.Text() != text:
			t.Errorf("%s: %s = %q (%s), want %s", what, name, v.Text(), v.Why(), text)
		}
	}
}

const (
	lets   = `{"Sid":"Services","Effect":"Allow","Principal":{"AWS":["upload-writer","warehouse-reader","backup-agent","media-resizer","report-exporter"]},"Action":["s3:PutObject","s3:GetObject","s3:DeleteObject"],"Resource":["arn:aws:s3:::media/*"]}`
	locked = `{"Sid":"WarehouseOnly","Effect":"Deny","Principal":"*","Action":["s3:PutObject"],"Resource":["arn:aws:s3:::media/*"],"Condition":{"StringNotEquals":{"aws:username":"warehouse-reader"}}}`
	right  = `{"Sid":"DenyWarehouse","Effect":"Deny","Principal":{"AWS":["warehouse-reader"]},"Action":["s3:PutObject","s3:DeleteObject"],"Resource":["arn:aws:s3:::media/*"]}`
	others = `{"Sid":"Tightened","Effect":"Deny","Principal":{"AWS":["backup-agent","media-resizer","report-exporter"]},"Action":["s3:PutObject"],"Resource":["arn:aws:s3:::media/*"]}`
	notWho = `{"Sid":"NotWho","Effect":"Deny","NotPrincipal":{"AWS":["warehouse-reader"]},"Action":["s3:PutObject"],"Resource":["arn:aws:s3:::media/*"]}`
)

func doc(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
}

var accounts = []string{"upload-writer", "warehouse-reader", "backup-agent", "media-resizer", "report-exporter"}

// TestWhatTheStoreOfTheLabDenies says which forms of a policy bind an account there: docs/store.md has it.
func TestWhatTheStoreOfTheLabDenies(t *testing.T) {
	t.Parallel()
	h := openShop(t, accounts...)
	for name, tc := range map[string]struct {
		policy, denied string // denied are those that may not put
	}{
		"none but the Allow":            {doc(lets), ""},
		"a Deny by name":                {doc(lets, right), "warehouse-reader"},
		"NotPrincipal denies none":      {doc(lets, notWho), ""},
		"a condition on who denies all": {doc(lets, locked), strings.Join(accounts, " ")},
		"three by name":                 {doc(lets, others), "backup-agent media-resizer report-exporter"},
	} {
		if err := h.setPolicy(tc.policy); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var denied []string
		for _, who := range accounts {
			if err := h.put(who, "x"); err != nil {
				if code, _ := codeOf(err); code != "AccessDenied" {
					t.Errorf("%s: %s: %v", name, who, err)
				}
				denied = append(denied, who)
			}
		}
		if got := strings.Join(denied, " "); got != tc.denied {
			t.Errorf("%s: denied are %q, want %q", name, got, tc.denied)
		}
	}
}

// TestWhatMinioDenies: a policy of a bucket binds none who signs in there, and NotPrincipal is refused. docs/store.md has it.
func TestWhatMinioDenies(t *testing.T) {
	t.Parallel()
	s, err := minio.Start(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const secret = "writer-of-the-lab"
	client := func(who aws.CredentialsProvider) *s3.Client {
		return s3.New(s3.Options{BaseEndpoint: &s.URL, UsePathStyle: true, Region: "us-east-1", RetryMaxAttempts: 1, Credentials: who})
	}
	owner, writer := client(credentials.NewStaticCredentialsProvider(s.Access, s.Secret, "")), client(credentials.NewStaticCredentialsProvider("writer", secret, ""))
	_, err = owner.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("media")})
	for _, err := range []error{err, s.User("writer", secret), s.Policy("write", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:PutObject"],"Resource":["arn:aws:s3:::media/*"]}]}`), s.Attach("writer", "write")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	set := func(text string) error {
		_, err := owner.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: aws.String("media"), Policy: &text})
		return err
	}
	put := func(c *s3.Client) error {
		_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("media"), Key: aws.String("x"), Body: strings.NewReader("x")})
		return err
	}
	everyone := `{"Effect":"%s","Principal":{"AWS":["*"]},"Action":["s3:PutObject"],"Resource":["arn:aws:s3:::media/*"]}`
	if err := set(doc(fmt.Sprintf(everyone, "Allow"))); err != nil {
		t.Fatal(err)
	}
	if err := put(client(aws.AnonymousCredentials{})); err != nil {
		t.Errorf("an anonymous put that the bucket allows: %v", err)
	}
	if err := set(doc(fmt.Sprintf(everyone, "Deny"))); err != nil {
		t.Fatal(err)
	}
	if err := put(client(aws.AnonymousCredentials{})); err == nil {
		t.Error("an anonymous put passes a Deny")
	}
	if err := put(writer); err != nil {
		t.Errorf("a Deny of the bucket binds a user: %v", err)
	}
	for what, text := range map[string]string{"NotPrincipal": strings.Replace(fmt.Sprintf(everyone, "Deny"), "Principal", "NotPrincipal", 1), "a principal by name": strings.Replace(fmt.Sprintf(everyone, "Deny"), "*", "arn:aws:iam::000000000000:user/writer", 1)} {
		if err := set(doc(text)); (err == nil) != (what != "NotPrincipal") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func media() steps.Params { return steps.Params{"bucket": steps.StringOf("media")} }

// TestListing lists a real bucket.
func TestListing(t *testing.T) {
	t.Parallel()
	h := openShop(t)
	obs, _, err := h.look("store/listing", media())
	if err != nil {
		t.Fatal(err)
	}
	says(t, "nothing in it", obs, map[string]string{"objects": "0", "gained": "0", "bytes": "0", "newest": "?", "newest_at": "?", "quiet": "?", "complete": "true", "versioning": "off", "markers": "0"})
	for i := range 1003 { // more than one page
		if err := h.put("", fmt.Sprintf("a/%04d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.put("", "b c+d/ä"); err != nil {
		t.Fatal(err)
	}
	obs, out, err := h.look("store/listing", media())
	if err != nil {
		t.Fatal(err)
	}
	says(t, "all", obs, map[string]string{"objects": "1004", "gained": "1004", "bytes": "1004", "newest": "*", "newest_at": "*", "complete": "true", "listed": "1004"})
	if n := bytes.Count(out.Artifacts["listing"].Bytes(), []byte("\n")); n != 1004 {
		t.Errorf("%d lines are kept", n)
	}
	if !slices.Contains(out.Secrets, h.env.Getenv("AWS_SECRET_ACCESS_KEY")) {
		t.Error("the secret is not told")
	}
	in := media()
	in["prefix"], in["most"] = steps.StringOf("b c+d/"), steps.IntOf(1)
	if obs, _, err = h.look("store/listing", in); err != nil {
		t.Fatal(err)
	}
	says(t, "a prefix", obs, map[string]string{"objects": "1", "newest": "b c+d/ä", "complete": "true"})
	in = media()
	in["most"] = steps.IntOf(1000)
	if obs, _, err = h.look("store/listing", in); err != nil {
		t.Fatal(err)
	}
	says(t, "a part", obs, map[string]string{"objects": "?", "gained": "?", "bytes": "?", "newest_at": "?", "quiet": "?", "complete": "false", "listed": "1000"})
	if len(obs.Gaps) != 1 {
		t.Errorf("gaps: %v", obs.Gaps)
	}
	if _, err := h.client("").PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String("media"), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.client("").DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String("media"), Key: aws.String("a/0001")}); err != nil {
		t.Fatal(err)
	}
	if obs, _, err = h.look("store/listing", media()); err != nil {
		t.Fatal(err)
	}
	says(t, "with versions", obs, map[string]string{"objects": "1003", "versioning": "enabled", "markers": "1"})
	in = media()
	in["from"] = steps.TimeOf(clock(h.env).AddDate(1, 0, 0))
	if _, _, err := h.look("store/listing", in); err == nil {
		t.Error("a window of the future is read")
	}
	for bucket, want := range map[string]string{"absent": "no such bucket"} {
		if _, _, err := h.look("store/listing", steps.Params{"bucket": steps.StringOf(bucket)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bucket, err)
		}
	}
	in = media()
	in["profile"] = steps.StringOf("missing")
	if _, _, err := h.look("store/listing", in); err == nil || !strings.Contains(err.Error(), "profile missing") {
		t.Errorf("no profile: %v", err)
	}
}
