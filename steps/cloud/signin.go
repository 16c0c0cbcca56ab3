package cloud

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	answerWithin = 20 * time.Second
	noMetadata   = "AWS_EC2_METADATA_DISABLED"
)

var region = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// signIn finds region and credentials as the AWS tools of the operator do.
func signIn(ctx context.Context, env steps.Env, out steps.Sink) (aws.Config, error) {
	metadata := imds.ClientDisabled // a machine outside of that cloud would wait for an address that was not named
	if env.Getenv(noMetadata) == "false" {
		metadata = imds.ClientEnabled
	}
	opts := []func(*config.LoadOptions) error{
		config.WithEC2IMDSClientEnableState(metadata),
		config.WithRetryMaxAttempts(4), // LookupEvents is limited to two a second
		config.WithLogger(logging.Nop{}),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.Proxy, t.DialContext = transport.OffMetadataRoute(transport.ProxyOf(env))
		})),
	}
	if at := cmp.Or(env.Getenv("AWS_REGION"), env.Getenv("AWS_DEFAULT_REGION")); at != "" {
		opts = append(opts, config.WithRegion(at))
	}
	if id, secret := env.Getenv("AWS_ACCESS_KEY_ID"), env.Getenv("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		opts = append(opts, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, secret, env.Getenv("AWS_SESSION_TOKEN"))))
	} else if name := env.Getenv("AWS_PROFILE"); name != "" {
		opts = append(opts, config.WithSharedConfigProfile(name))
	}
	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return cfg, fmt.Errorf("the settings of the AWS tools: %w", err)
	}
	if cfg.Credentials == nil {
		return cfg, errors.New("no credentials for AWS: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	who, err := cfg.Credentials.Retrieve(ctx)
	if ctx.Err() != nil {
		return cfg, ctx.Err()
	}
	if err != nil {
		return cfg, fmt.Errorf("%w: no credentials for AWS: %w; they may have expired: sign in again (those of the machine itself are asked for with %s=false only)", steps.ErrDenied, err, noMetadata)
	}
	for _, s := range []string{who.SecretAccessKey, who.SessionToken} {
		if s != "" {
			out.Secret(s)
		}
	}
	return cfg, nil
}

// endpoint is the address of a service that the operator names, "" for that of AWS ("Service-specific endpoints",
// AWS SDKs and Tools Reference Guide).
func endpoint(env steps.Env, service string) (string, error) {
	for _, name := range []string{"AWS_ENDPOINT_URL_" + service, "AWS_ENDPOINT_URL"} {
		if at := env.Getenv(name); at != "" {
			if _, err := transport.AskAddress(at); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			return strings.TrimSuffix(at, "/"), nil
		}
	}
	return "", nil
}

// reader is a client that sends the operations and nothing else, to the one server of its first request.
func reader(env steps.Env, roots *x509.CertPool, operations ...string) *http.Client {
	proxy, dial := transport.OffMetadataRoute(transport.ProxyOf(env))
	next := &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout: answerWithin, ResponseHeaderTimeout: answerWithin, ForceAttemptHTTP2: true, IdleConnTimeout: time.Second,
	}
	return &http.Client{
		Transport:     transport.Operations(next, "", operations, transport.Agent("handrail/"+cmp.Or(env.Version, "dev"))),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// why says what an answer of AWS means for the operator.
func why(what, right string, err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		if no := (net.Error)(nil); errors.As(err, &no) && no.Timeout() {
			return fmt.Errorf("%s: the server did not answer in time", what)
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	text := steps.OneLine(strings.ToValidUTF8(api.ErrorMessage(), "?"), 300)
	switch code := api.ErrorCode(); code {
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation":
		return fmt.Errorf("%w: %s: %s (%s): ask for %s", steps.ErrDenied, what, text, code, right)
	case "ExpiredToken", "ExpiredTokenException", "RequestExpired":
		return fmt.Errorf("%w: %s: the credentials have expired (%s): sign in again", steps.ErrDenied, what, code)
	case "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "IncompleteSignature":
		return fmt.Errorf("%w: %s: AWS does not take the credentials (%s): check the profile and the keys", steps.ErrDenied, what, code)
	default:
		return fmt.Errorf("%s: %s (%s)", what, text, steps.OneLine(code, 60))
	}
}
