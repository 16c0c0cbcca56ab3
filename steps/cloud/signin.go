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
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"handrail/steps"
	"handrail/steps/awsauth"
	"handrail/steps/transport"
)

const answerWithin = 20 * time.Second

var region = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// signIn is the configuration of the clients of one reading.
func signIn(ctx context.Context, env steps.Env, out steps.Sink) (aws.Config, error) {
	l, err := awsauth.SignIn(ctx, env, "", out)
	// LookupEvents is limited to two a second.
	return aws.Config{Region: l.Region, Credentials: credentials.StaticCredentialsProvider{Value: l.Who}, RetryMaxAttempts: 4, Logger: logging.Nop{}}, err
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
	return client(transport.Operations(route(env, roots), "", operations, agent(env)))
}

// sender is a client that sends one form once, and nothing else, to the one server of its first request.
func sender(env steps.Env, roots *x509.CertPool, form string) *http.Client {
	return client(transport.Store(route(env, roots), "", []transport.Request{{Method: http.MethodPost, Path: "/", SHA256: transport.Sum([]byte(form))}}, agent(env)))
}

func agent(env steps.Env) transport.Option {
	return transport.Agent("handrail/" + cmp.Or(env.Version, "dev"))
}

func route(env steps.Env, roots *x509.CertPool) *http.Transport {
	proxy, dial := transport.OffMetadataRoute(transport.ProxyOf(env))
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout: answerWithin, ResponseHeaderTimeout: answerWithin, ForceAttemptHTTP2: true, IdleConnTimeout: time.Second,
	}
}

func client(by http.RoundTripper) *http.Client {
	return &http.Client{Transport: by, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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
