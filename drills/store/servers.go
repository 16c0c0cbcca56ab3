package store

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// The names that the servers know.
const (
	bucketName = "team-states"
	tableName  = "state-locks"
	region     = "us-east-1" // what is asked for: the servers have none
)

func word() string {
	key := make([]byte, 16)
	_, _ = rand.Read(key) // it never fails
	return hex.EncodeToString(key)
}

// valueOf finds a variable in an environment.
func valueOf(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// table is a bucket that keeps versions, and a table for locks and digests beside it.
func (s *server) table() error {
	objects, err := s.start("s3")
	if err != nil {
		return err
	}
	items, err := s.start("dynamodb")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(objects.Dir, "buckets", bucketName), 0o700); err != nil {
		return err
	}
	access, secret := valueOf(objects.Env, "AWS_ACCESS_KEY_ID"), valueOf(objects.Env, "AWS_SECRET_ACCESS_KEY")
	s.Type, s.Secrets = "s3", []string{secret}
	s.Server = map[string]string{"s3": objects.URL, "dynamodb": items.URL, "access": access, "secret": secret}
	if _, err := s.Place.bucket().PutBucketVersioning(s.ctx, &s3.PutBucketVersioningInput{Bucket: aws.String(bucketName),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
		return err
	}
	if _, err := s.Place.items().CreateTable(s.ctx, &dynamodb.CreateTableInput{TableName: aws.String(tableName), BillingMode: dtypes.BillingModePayPerRequest,
		AttributeDefinitions: []dtypes.AttributeDefinition{{AttributeName: aws.String("LockID"), AttributeType: dtypes.ScalarAttributeTypeS}},
		KeySchema:            []dtypes.KeySchemaElement{{AttributeName: aws.String("LockID"), KeyType: dtypes.KeyTypeHash}}}); err != nil {
		return err
	}
	s.Block = fmt.Sprintf(`bucket         = %q
key            = %q
region         = %q
dynamodb_table = %q

# The servers of the drill, on this machine.
use_path_style              = true
skip_credentials_validation = true
skip_requesting_account_id  = true
skip_metadata_api_check     = true
skip_region_validation      = true
`, bucketName, s.Place.key(), region, tableName)
	s.give("AWS_ACCESS_KEY_ID="+access, "AWS_SECRET_ACCESS_KEY="+secret, "AWS_REGION="+region, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	if err := s.before(objects.URL, true, func(who, addr string) {
		s.Environ[who] = append(s.Environ[who], "AWS_ENDPOINT_URL_S3=http://"+addr)
	}); err != nil {
		return err
	}
	return s.before(items.URL, true, func(who, addr string) {
		s.Environ[who] = append(s.Environ[who], "AWS_ENDPOINT_URL_DYNAMODB=http://"+addr)
	})
}

// key is that of the object which is the state.
func (p *Place) key() string { return p.Plan.Unit + "/terraform.tfstate" }

func (p *Place) aws() aws.Config {
	return aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider(p.Server["access"], p.Server["secret"], "")}
}

func (p *Place) bucket() *s3.Client {
	at := p.Server["s3"]
	return s3.NewFromConfig(p.aws(), func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &at, true })
}

func (p *Place) items() *dynamodb.Client {
	at := p.Server["dynamodb"]
	return dynamodb.NewFromConfig(p.aws(), func(o *dynamodb.Options) { o.BaseEndpoint = &at })
}

// consul is an agent that is a cluster by itself.
func (s *server) consul() error {
	agent, err := s.start("consul")
	if err != nil {
		return err
	}
	s.Type, s.Block, s.Server["url"] = "consul", fmt.Sprintf("path = %q\n", s.Plan.Unit), agent.URL
	return s.before(agent.URL, false, func(who, addr string) {
		s.Environ[who] = append(s.Environ[who], "CONSUL_HTTP_ADDR="+addr)
	})
}

// gcs is a bucket with generations.
func (s *server) gcs() error {
	emulator, err := s.start("gcs")
	if err != nil {
		return err
	}
	s.Type, s.Server["url"] = "gcs", emulator.URL
	if _, err := s.ask(http.MethodPost, emulator.URL+"/storage/v1/b?project=lab", []byte(`{"name":"`+bucketName+`","versioning":{"enabled":true}}`)); err != nil {
		return err
	}
	s.Block = fmt.Sprintf("bucket = %q\nprefix = %q\n", bucketName, s.Plan.Unit)
	return s.before(emulator.URL, false, func(who, addr string) {
		s.Environ[who] = append(s.Environ[who], "STORAGE_EMULATOR_HOST="+addr)
	})
}

// pg is a database behind a line for each identity. The line of one whose machine is taken away stays open on
// the side of the server, as it does until TCP gives it up.
func (s *server) pg() error {
	base, err := s.start("postgres")
	if err != nil {
		return err
	}
	if out := base.Outside(); out != "" {
		s.Folders = append(s.Folders, out)
	}
	s.Type, s.Block = "pg", fmt.Sprintf("schema_name = %q\n", s.schema())
	s.Server["log"], s.Secrets = base.Log(), []string{valueOf(base.Env, "PGPASSWORD")}
	var given []string
	for _, kv := range base.Env {
		name, v, _ := strings.Cut(kv, "=")
		if name != "PGHOST" && name != "PGPORT" {
			given = append(given, kv)
		}
		s.Server[name] = v
	}
	for _, who := range s.Plan.People {
		host, port, err := s.line(base.Addr)
		if err != nil {
			return err
		}
		// The name stands before each statement in the log of the server.
		s.Environ[who] = append(append(s.Environ[who], given...), "PGHOST="+host, "PGPORT="+port, "PGAPPNAME="+who)
	}
	return nil
}

func (p *Place) schema() string { return strings.ReplaceAll(p.Plan.Unit, "-", "_") }

func (s *server) ask(method, url string, body []byte) ([]byte, error) {
	return ask(s.ctx, method, url, body)
}
