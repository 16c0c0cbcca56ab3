package backend

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"handrail/steps"
	"handrail/steps/transport"
)

// awsTries is how often the SDK asks for one thing.
const awsTries = 2

// s3Object is where the state is, without asking any server.
func s3Object(set settings) (*s3Store, error) {
	b := &s3Store{env: set.env, bucket: set.get("bucket"), table: set.get("dynamodb_table"), native: set.flag("use_lockfile")}
	b.key = set.get("key")
	if set.w.Space != "default" {
		b.key = path.Join(cmp.Or(set.w.Setting("workspace_key_prefix"), "env:"), set.w.Space, b.key)
	}
	if b.bucket == "" || b.key == "" {
		return nil, errors.New("s3 backend: its settings name no bucket or no key; run tofu init there yourself")
	}
	b.encryption = encryption{encrypt: set.flag("encrypt"), kms: set.get("kms_key_id"), acl: set.get("acl")}
	if key := set.get("sse_customer_key", "AWS_SSE_CUSTOMER_KEY"); key != "" {
		raw, err := base64.StdEncoding.DecodeString(key)
		if err != nil || len(raw) != 32 {
			return nil, errors.New("s3 backend: sse_customer_key is not 32 bytes in base64")
		}
		b.customerKey = raw
	}
	return b, nil
}

// newS3 builds the clients that the backend itself would use. It signs in, but
// does not speak to the bucket yet.
func newS3(ctx context.Context, set settings, out steps.Sink) (*s3Store, error) {
	b, err := s3Object(set)
	if err != nil {
		return nil, err
	}
	endpoints := set.block("endpoints")
	own := func(name, old string, variables ...string) (address, named string) {
		named = cmp.Or(endpoints.w.Setting(name), set.w.Setting(old))
		if address = cmp.Or(named, set.variable(variables...)); address != "" && !strings.Contains(address, "://") {
			address = "https://" + address
		}
		return address, named
	}
	at, named := own("s3", "endpoint", "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL")
	items, namedItems := own("dynamodb", "dynamodb_endpoint", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT", "AWS_ENDPOINT_URL")
	signIn, namedSignIn := own("sts", "sts_endpoint", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT", "AWS_ENDPOINT_URL")
	t := trust{insecure: set.flag("insecure"), named: named != "" || namedItems != "" || namedSignIn != ""}
	unchecked := ""
	if t.insecure || set.w.Setting("custom_ca_bundle") != "" {
		unchecked = "of AWS, unchecked"
	}
	if err := set.refuseLoan(serverOf(cmp.Or(named, namedItems, namedSignIn)), unchecked, awsLoan(set), set.lend("sse_customer_key", "AWS_SSE_CUSTOMER_KEY")); err != nil {
		return nil, err
	}
	if t.ca, err = readFile(set.path(set.get("custom_ca_bundle", "AWS_CA_BUNDLE"))); err != nil {
		return nil, fmt.Errorf("s3 backend: %w", err)
	}
	cfg, err := awsConfig(ctx, set, signIn, out)
	if err != nil {
		return nil, err
	}
	if b.http, err = newFetcher(set.env, t, transport.Fetch, at, out); err != nil {
		return nil, err
	}
	objects := func(http *fetcher) *s3.Client {
		return s3.NewFromConfig(cfg, func(o *s3.Options) {
			o.HTTPClient = http.client
			o.UsePathStyle = set.flag("use_path_style") || set.flag("force_path_style")
			// The state is judged by what stands in it, and sent as it was shown.
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			if o.BaseEndpoint = nil; at != "" {
				o.BaseEndpoint = &at
			}
		})
	}
	table := func(http *fetcher) *dynamodb.Client {
		return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
			o.HTTPClient = http.client
			// Looking for endpoints would be another request than a read of an item.
			o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryDisabled
			if o.BaseEndpoint = nil; items != "" {
				o.BaseEndpoint = &items
			}
		})
	}
	b.client = objects(b.http)
	b.writers = func(guard guardOf) (*s3.Client, *dynamodb.Client, error) {
		bucket, err := newFetcher(set.env, t, guard, at, out)
		if err != nil {
			return nil, nil, err
		}
		item, err := newFetcher(set.env, t, guard, items, out)
		if err != nil {
			return nil, nil, err
		}
		return objects(bucket), table(item), nil
	}
	if b.table == "" {
		return b, nil
	}
	itemHTTP, err := newFetcher(set.env, t, transport.Items, items, out)
	if err != nil {
		return nil, err
	}
	b.items = table(itemHTTP)
	return b, nil
}

// awsLoan says what of the operator's the backend would sign in with, "" where
// the directory brings all of it itself.
func awsLoan(set settings) string {
	web := set.block("assume_role_with_web_identity")
	switch role := assumedRole(set); {
	case set.w.Setting("access_key") == "" || set.w.Setting("secret_key") == "":
		return "those of the AWS tools"
	case role.tokenFile != "" || role.token != web.w.Setting("web_identity_token"):
		return "a token of the web identity"
	}
	return ""
}

// awsConfig finds region and credentials as the backend does, and signs in.
func awsConfig(ctx context.Context, set settings, signIn string, out steps.Sink) (aws.Config, error) {
	opts, err := awsOptions(set)
	if err != nil {
		return aws.Config{}, err
	}
	files, err := profilesOf(set)
	if err != nil {
		return aws.Config{}, err
	}
	if err := files.runNothing(ctx, set); err != nil {
		return aws.Config{}, err
	}
	opts = append(opts, files.options()...)
	guard := awsGuard(set.env)
	if !files.own {
		opts = append(opts, config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(guard))) // a profile names servers as well
	}
	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return cfg, fmt.Errorf("s3 backend: the settings of the AWS tools: %w", err)
	}
	if cfg.Region == "" {
		return cfg, errors.New("s3 backend: no region is known: set AWS_REGION, or region in the backend or the profile")
	}
	if role := assumedRole(set); role.arn != "" {
		client := sts.NewFromConfig(cfg, func(o *sts.Options) {
			if c, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
				o.HTTPClient = c.WithTransportOptions(guard)
			}
			if o.BaseEndpoint = nil; signIn != "" {
				o.BaseEndpoint = &signIn
			}
			o.Region = cmp.Or(set.w.Setting("sts_region"), cfg.Region)
		})
		cfg.Credentials = aws.NewCredentialsCache(role.provider(client))
	}
	if cfg.Credentials == nil {
		return cfg, errors.New("s3 backend: no credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	who, err := cfg.Credentials.Retrieve(ctx)
	if ctx.Err() != nil {
		return cfg, ctx.Err()
	}
	if err != nil {
		return cfg, denied("s3 backend: no credentials: %v; they may have expired: sign in again, as for the run that failed (those of the machine itself are asked for with %s=false only)", err, noMetadata)
	}
	for _, s := range []string{who.SecretAccessKey, who.SessionToken} {
		if s != "" {
			out.Secret(s)
		}
	}
	return cfg, nil
}

// awsGuard keeps a client of the SDK from the metadata of the machine.
func awsGuard(env steps.Env) func(*http.Transport) {
	return func(t *http.Transport) { t.Proxy, t.DialContext = transport.OffMetadataRoute(transport.ProxyOf(env)) }
}

var awsRegion = regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`)

const noMetadata = "AWS_EC2_METADATA_DISABLED"

func awsOptions(set settings) ([]func(*config.LoadOptions) error, error) {
	// A machine outside of that cloud would wait for an address that was not named.
	metadata := imds.ClientDisabled
	if set.env.Getenv(noMetadata) == "false" {
		metadata = imds.ClientEnabled
	}
	opts := []func(*config.LoadOptions) error{
		config.WithEC2IMDSClientEnableState(metadata),
		config.WithRetryMaxAttempts(awsTries),
		config.WithLogger(logging.Nop{}), // it would write past the screen's owner
	}
	for _, key := range []string{"region", "sts_region"} {
		// It becomes a part of the name of the server.
		if region := set.w.Setting(key); region != "" && !awsRegion.MatchString(region) {
			return nil, fmt.Errorf("s3 backend: %s is %q, which is not a region", key, steps.Clip(region, 100))
		}
	}
	if region := set.get("region", "AWS_REGION", "AWS_DEFAULT_REGION"); region != "" {
		opts = append(opts, config.WithRegion(region))
	}
	profile := set.w.Setting("profile")
	id, secret, token := set.w.Setting("access_key"), set.w.Setting("secret_key"), set.w.Setting("token")
	if id == "" && profile == "" {
		id, secret, token = set.env.Getenv("AWS_ACCESS_KEY_ID"), set.env.Getenv("AWS_SECRET_ACCESS_KEY"), set.env.Getenv("AWS_SESSION_TOKEN")
	}
	if id != "" && secret != "" {
		opts = append(opts, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, secret, token)))
	} else if name := cmp.Or(profile, set.env.Getenv("AWS_PROFILE")); name != "" {
		opts = append(opts, config.WithSharedConfigProfile(name))
	}
	return opts, nil
}

// awsRole is the role that the backend works in.
type awsRole struct {
	arn, session, external, policy, tokenFile, token string
	duration                                         time.Duration
}

func assumedRole(set settings) awsRole {
	if web := set.block("assume_role_with_web_identity"); web.w.Config != nil {
		d, _ := time.ParseDuration(web.w.Setting("duration"))
		return awsRole{
			arn: web.get("role_arn", "AWS_ROLE_ARN"), session: web.get("session_name", "AWS_ROLE_SESSION_NAME"), policy: web.w.Setting("policy"), duration: d,
			token: web.get("web_identity_token", "AWS_WEB_IDENTITY_TOKEN"), tokenFile: web.path(web.get("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE")),
		}
	}
	r := set.block("assume_role")
	if r.w.Setting("role_arn") == "" {
		return awsRole{arn: set.w.Setting("role_arn"), session: set.w.Setting("session_name"), external: set.w.Setting("external_id"), policy: set.w.Setting("assume_role_policy")}
	}
	d, _ := time.ParseDuration(r.w.Setting("duration"))
	return awsRole{arn: r.w.Setting("role_arn"), session: r.w.Setting("session_name"), external: r.w.Setting("external_id"), policy: r.w.Setting("policy"), duration: d}
}

// identity is a token that was given in words.
type identity string

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (i identity) GetIdentityToken() ([]byte, error) { return []byte(i), nil }

func (r awsRole) provider(client *sts.Client) aws.CredentialsProvider {
	if r.token != "" || r.tokenFile != "" {
		var from stscreds.IdentityTokenRetriever = stscreds.IdentityTokenFile(r.tokenFile)
		if r.token != "" {
			from = identity(r.token)
		}
		return stscreds.NewWebIdentityRoleProvider(client, r.arn, from, func(o *stscreds.WebIdentityRoleOptions) {
			o.RoleSessionName, o.Duration = r.session, r.duration
			if r.policy != "" {
				o.Policy = &r.policy
			}
		})
	}
	return stscreds.NewAssumeRoleProvider(client, r.arn, func(o *stscreds.AssumeRoleOptions) {
		if r.session != "" {
			o.RoleSessionName = r.session
		}
		if r.duration > 0 {
			o.Duration = r.duration
		}
		if r.external != "" {
			o.ExternalID = &r.external
		}
		if r.policy != "" {
			o.Policy = &r.policy
		}
	})
}
