package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"handrail/drills/lab"
	"handrail/steps/stepstest"
)

// awsWorld is a bucket with versions (team), one without (plain) and a table on
// real servers, with clients of an administrator. A lock file needs
// the plain one: versitygw takes the marker of a deleted object for an object
// (If-None-Match: * is refused), which S3 does not.
type awsWorld struct {
	s3      *lab.Server
	dir     string
	gate    *gateway
	bucket  *s3.Client
	table   *dynamodb.Client
	environ []string
}

func newAWS(t *testing.T) *awsWorld {
	t.Helper()
	a := &awsWorld{dir: t.TempDir()}
	a.s3 = service(t, "s3", a.dir)
	a.gate = newGateway(t, service(t, "dynamodb", t.TempDir()).URL)
	a.environ = append(a.s3.Env, "AWS_ENDPOINT_URL_DYNAMODB="+a.gate.URL, "AWS_EC2_METADATA_DISABLED=true")
	for _, d := range []string{"buckets/team", "buckets/plain"} {
		if err := os.Mkdir(filepath.Join(a.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(envOf(t, a.s3, "AWS_ACCESS_KEY_ID"), envOf(t, a.s3, "AWS_SECRET_ACCESS_KEY"), "")}
	a.bucket = s3.NewFromConfig(cfg, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &a.s3.URL, true })
	a.table = dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &a.gate.URL })
	if _, err := a.bucket.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String("team"), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.table.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: aws.String("locks"), BillingMode: dtypes.BillingModePayPerRequest,
		AttributeDefinitions: []dtypes.AttributeDefinition{{AttributeName: aws.String("LockID"), AttributeType: dtypes.ScalarAttributeTypeS}},
		KeySchema:            []dtypes.KeySchemaElement{{AttributeName: aws.String("LockID"), KeyType: dtypes.KeyTypeHash}}}); err != nil {
		t.Fatal(err)
	}
	return a
}

// block is a backend block with what a server of one's own needs.
func (a *awsWorld) block(more string) string {
	bucket := "team"
	if strings.Contains(more, "use_lockfile") {
		bucket = "plain"
	}
	// Without its address all tests would be taken for runs on one state.
	return "endpoints = { s3 = \"" + a.s3.URL + "\" }\nbucket = \"" + bucket + `"
key = "net/terraform.tfstate"
region = "us-east-1"
use_path_style = true
skip_credentials_validation = true
skip_requesting_account_id = true
skip_metadata_api_check = true
` + more
}

// onlyReads holds the logs of both servers to reads of handrail.
func (a *awsWorld) onlyReads(t *testing.T) {
	t.Helper()
	for _, r := range a.gate.ours(t) {
		if r.target != "DynamoDB_20120810.GetItem" {
			t.Errorf("handrail sent %+v", r)
		}
	}
	a.onlyReadsOfBucket(t)
}

// onlyReadsOfBucket looks at the log of the S3 server alone.
func (a *awsWorld) onlyReadsOfBucket(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(a.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	ours, others := 0, 0
	for line := range strings.Lines(string(raw)) {
		if !strings.Contains(line, " handrail/test ") {
			others++
			continue
		}
		ours++
		// Owner, bucket, time in two fields, address, requester, id, operation.
		switch operation := strings.Fields(line)[7]; operation {
		case "s3_GetObject", "s3_HeadObject", "s3_ListObjectVersions", "s3_ListObjectsV2", "s3_GetBucketVersioning":
		default:
			t.Errorf("the log of the server has %s: %s", operation, line)
		}
	}
	if ours == 0 || others == 0 {
		t.Errorf("the log has %d requests of handrail and %d others", ours, others)
	}
}

func TestS3(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	for _, tc := range []struct {
		name, more string
		systems    int64
	}{
		{"lockfile", `use_lockfile = true`, 1},
		{"table", `dynamodb_table = "locks"`, 1},
		{"both", "use_lockfile = true\ndynamodb_table = \"locks\"", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			block := strings.Replace(a.block(tc.more), "net/", tc.name+"/", 1)
			w := newBackend(t, "s3", block, quick, a.environ...)
			w.look().wantFree(t, false)
			w.run("apply", "-auto-approve", "-input=false")
			free := w.look()
			free.wantFree(t, true)
			if f := free.state.Facts; f["serial"].Int() != 1 || !f["lineage"].Known() || f["resources"].Int() != 1 || !f["written"].Known() {
				t.Errorf("state = %v", f)
			}
			if d := free.lock.Facts["digest"]; (tc.systems == 2 || tc.name == "table") && d.Text() != "match" {
				t.Errorf("digest = %s (%s)", d.Text(), d.Why())
			}

			w.write("s3", block, sixSlow)
			cmd, _ := w.apply()
			live := w.look()
			id := live.wantHeld(t, w)
			if f := live.lock.Facts; f["systems"].Int() != tc.systems || (tc.systems == 2 && !f["agree"].Bool()) || f["unlock"].Text() != "by-id" {
				t.Errorf("lock = %v %v", f, live.lock.Findings)
			}
			if h := w.probe("terraform/holder", w.holderParams(live.lock)); h.Facts["alive"].Text() != "alive" {
				t.Errorf("holder = %v", h.Facts)
			}
			w.kill(cmd)
			killed := w.look()
			if got := killed.wantHeld(t, w); got != id {
				t.Errorf("the lock of a killed run is %s, it was %s", got, id)
			}
			if h := w.probe("terraform/holder", w.holderParams(killed.lock)); h.Facts["alive"].Text() != "dead" {
				t.Errorf("holder of a killed run = %v", h.Facts)
			}
			w.run("force-unlock", "-force", id)
			w.look().wantFree(t, true)
		})
	}
	a.onlyReads(t)
}

// TestS3Workspace looks where a named workspace has its state and its lock.
func TestS3Workspace(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	for _, prefix := range []string{"", "spaces/of team"} {
		more := "use_lockfile = true\n"
		if prefix != "" {
			more += fmt.Sprintf("workspace_key_prefix = %q\n", prefix)
		}
		w := newBackend(t, "s3", a.block(more), quick, a.environ...)
		w.run("workspace", "new", "prod")
		w.run("apply", "-auto-approve", "-input=false")
		d := w.look()
		d.wantFree(t, true)
		want := "s3://plain/env:/prod/net/terraform.tfstate.tflock"
		if prefix != "" {
			want = "s3://plain/" + prefix + "/prod/net/terraform.tfstate.tflock"
		}
		if got := d.lock.Facts["path"].Text(); got != want {
			t.Errorf("path = %s, want %s", got, want)
		}
	}
}

// TestS3TwoSystems lets the two lock systems and the digest disagree.
func TestS3TwoSystems(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	both := newBackend(t, "s3", a.block("use_lockfile = true\ndynamodb_table = \"locks\""), quick, a.environ...)
	both.run("apply", "-auto-approve", "-input=false")
	table := newBackend(t, "s3", strings.Replace(a.block(`dynamodb_table = "locks"`), "team", "plain", 1), quick, a.environ...)
	file := newBackend(t, "s3", a.block(`use_lockfile = true`), sixSlow, a.environ...)
	cmd, _ := file.apply()

	seen := both.look().lock
	if f := seen.Facts; !f["held"].Bool() || f["agree"].Bool() || !f["agree"].Known() || !says(seen, "the item of the table is not") {
		t.Errorf("a lock file alone = %v %v", f, seen.Findings)
	}
	seen = table.look().lock
	if f := seen.Facts; !f["held"].Bool() || f["systems"].Int() != 2 || !says(seen, "a run from here would not see it") {
		t.Errorf("a lock file that the backend does not look at = %v %v", f, seen.Findings)
	}
	file.kill(cmd)
	id := both.look().wantHeld(t, both)
	file.run("force-unlock", "-force", id)

	// A writer without the table leaves the digest as it was.
	file.write("s3", a.block(`use_lockfile = true`), quick)
	file.run("apply", "-auto-approve", "-input=false", "-var=v=2")
	seen = both.look().lock
	if f := seen.Facts; f["digest"].Text() != "mismatch" || !says(seen, "does not have the expected content") {
		t.Errorf("the digest of an older state = %v %v", f, seen.Findings)
	}
	if _, err := a.table.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("locks"), Key: map[string]dtypes.AttributeValue{"LockID": &dtypes.AttributeValueMemberS{Value: "plain/net/terraform.tfstate-md5"}}}); err != nil {
		t.Fatal(err)
	}
	if f := both.look().lock.Facts; f["digest"].Text() != "absent" {
		t.Errorf("no digest = %s (%s)", f["digest"].Text(), f["digest"].Why())
	}
}

// TestS3Trouble asks what cannot be had.
func TestS3Trouble(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	_, block, _ := strings.Cut(a.block("use_lockfile = true\ndynamodb_table = \"locks\""), "\n") // the server is named by the environment
	// Without a server in the settings, a run of it could be one of any state of that name.
	block = strings.Replace(block, "net/terraform.tfstate", "trouble/terraform.tfstate", 1)
	w := newBackend(t, "s3", block, quick, a.environ...)
	base := w.env.Environ
	for _, tc := range []struct {
		name    string
		environ []string
		config  [2]string // what the saved settings say, and should
		want    string
		denied  bool
		trust   error
	}{
		{name: "wrong secret", environ: []string{"AWS_SECRET_ACCESS_KEY=wrong"}, want: "does not accept the credentials", denied: true},
		{name: "no credentials", environ: []string{"AWS_ACCESS_KEY_ID="}, want: "no credentials", denied: true},
		{name: "no server", environ: []string{"AWS_ENDPOINT_URL_S3=http://127.0.0.1:1"}, want: "cannot be reached"},
		{name: "no bucket", config: [2]string{`"bucket": "plain"`, `"bucket": "nowhere"`}, want: `bucket "nowhere" does not exist`},
		{name: "no table", config: [2]string{`"dynamodb_table": "locks"`, `"dynamodb_table": "gone"`}, want: `table "gone" does not exist`},
		{name: "lent credentials", config: [2]string{`"endpoint": null`, `"endpoint": "http://127.0.0.1:1"`}, trust: os.ErrPermission, want: "trust the directory first"},
		{name: "profiles of a stranger", config: [2]string{`"shared_config_files": null`, `"shared_config_files": ["x"]`}, trust: os.ErrPermission, want: "trust the directory first"},
		{name: "bad customer key", config: [2]string{`"sse_customer_key": null`, `"sse_customer_key": "x"`}, want: "32 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(w.dir, ".terraform", "terraform.tfstate"))
			if err != nil {
				t.Fatal(err)
			}
			env := w.env
			env.Environ = append(base[:len(base):len(base)], tc.environ...)
			env.Dir = t.TempDir()
			env.Trusted = func(string) error { return tc.trust }
			if err := os.Mkdir(filepath.Join(env.Dir, ".terraform"), 0o700); err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(string(raw), tc.config[0], tc.config[1], 1)
			if tc.config[0] != "" && text == string(raw) {
				t.Fatalf("the settings have no %s: %s", tc.config[0], raw)
			}
			if err := os.WriteFile(filepath.Join(env.Dir, ".terraform", "terraform.tfstate"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = probe(t.Context(), env, "terraform/lock", nil, stepstest.NewSink())
			if err == nil || !strings.Contains(err.Error(), tc.want) || tc.denied != strings.Contains(fmt.Sprint(isDenied(err)), "true") {
				t.Errorf("lock = %v, denied %v; want %q, denied %v", err, isDenied(err), tc.want, tc.denied)
			}
		})
	}
	sink := stepstest.NewSink()
	if _, err := probe(t.Context(), w.env, "terraform/lock", nil, sink); err != nil {
		t.Fatal(err)
	}
	if !contains(sink.Secrets, envOf(t, a.s3, "AWS_SECRET_ACCESS_KEY")) {
		t.Error("the secret key was not named as a secret")
	}
}
