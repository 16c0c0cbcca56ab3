// Package awsauth signs in as the AWS tools of the operator do: the keys in the environment, else a profile of the operator's own
// files. No runbook names credentials. Everything comes from the environment of the step and not from that of the process, the
// machine's own credentials are asked for with AWS_EC2_METADATA_DISABLED=false only, and no request leaves for an address at which
// machines get theirs otherwise.
package awsauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"

	"handrail/steps"
	"handrail/steps/transport"
)

// Login is who the operator is for AWS, and where.
type Login struct {
	Who    aws.Credentials
	As     string // where the credentials come from, in words
	Region string // "" where none is known
}

// noMetadata keeps the SDK from asking the machine for credentials unless it is false.
const noMetadata = "AWS_EC2_METADATA_DISABLED"

// tries is how often the SDK asks for a token.
const tries = 2

// SignIn finds credentials and region; profile "" is the one of AWS_PROFILE, or the keys in the environment. What must not be seen is
// told to out before it is used. The error wraps [steps.ErrDenied] where a profile gives no credentials now.
func SignIn(ctx context.Context, env steps.Env, profile string, out steps.Sink) (Login, error) {
	l := Login{Region: cmp.Or(env.Getenv("AWS_REGION"), env.Getenv("AWS_DEFAULT_REGION"))}
	defer func() {
		for _, s := range []string{l.Who.SecretAccessKey, l.Who.SessionToken} {
			if s != "" {
				out.Secret(s)
			}
		}
	}()
	if id, secret := env.Getenv("AWS_ACCESS_KEY_ID"), env.Getenv("AWS_SECRET_ACCESS_KEY"); profile == "" && id != "" && secret != "" {
		l.Who = aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: env.Getenv("AWS_SESSION_TOKEN")}
		l.As = "the keys in AWS_ACCESS_KEY_ID"
		return l, nil
	}
	metadata := imds.ClientDisabled // a machine outside of that cloud would wait for an address that was not named
	if env.Getenv(noMetadata) == "false" {
		metadata = imds.ClientEnabled
	}
	name := cmp.Or(profile, env.Getenv("AWS_PROFILE"), "default")
	file := func(variable, usual string) []string {
		return []string{cmp.Or(env.Getenv(variable), filepath.Join(env.Home, ".aws", usual))}
	}
	const next = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, then read again"
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithEC2IMDSClientEnableState(metadata), config.WithLogger(logging.Nop{}), // it would write past the screen's owner
		config.WithRetryMaxAttempts(tries), config.WithSharedConfigProfile(name),
		config.WithSharedCredentialsFiles(file("AWS_SHARED_CREDENTIALS_FILE", "credentials")),
		config.WithSharedConfigFiles(file("AWS_CONFIG_FILE", "config")),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.Proxy, t.DialContext = transport.OffMetadataRoute(transport.ProxyOf(env))
		})))
	switch {
	case ctx.Err() != nil:
		return l, ctx.Err()
	case err != nil:
		return l, fmt.Errorf("profile %s of the AWS tools: %w: %s", steps.Clip(name, 100), err, next)
	case cfg.Credentials == nil:
		return l, errors.New("profile " + steps.Clip(name, 100) + " of the AWS tools has no credentials: " + next)
	}
	if l.Who, err = cfg.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return l, ctx.Err()
		}
		return l, fmt.Errorf("%w: profile %s of the AWS tools gives no credentials: %w: sign in, then read again", steps.ErrDenied, steps.Clip(name, 100), err)
	}
	l.As, l.Region = "profile "+name, cmp.Or(l.Region, cfg.Region)
	return l, nil
}
