package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"handrail/steps"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
)

// profiles are the files in which the AWS tools keep profiles.
type profiles struct {
	credentials []string // nil for the usual ones
	config      []string
	own         bool // the directory names none that the operator does not use anyway
}

// awsFiles are the settings that name files of profiles.
var awsFiles = []struct{ old, key, variable, usual string }{
	{"shared_credentials_file", "shared_credentials_files", "AWS_SHARED_CREDENTIALS_FILE", "credentials"},
	{"", "shared_config_files", "AWS_CONFIG_FILE", "config"},
}

// namedProfiles returns the files that the directory names for one of awsFiles.
func namedProfiles(set settings, i int) []string {
	list := set.list(awsFiles[i].key)
	if name := set.w.Setting(awsFiles[i].old); len(list) == 0 && name != "" {
		list = []string{name}
	}
	for j, name := range list {
		list[j] = set.path(name)
	}
	return list
}

// ownProfiles are the files that the AWS tools use for the operator anyway.
func ownProfiles(set settings) []string {
	var mine []string
	for _, f := range awsFiles {
		if name := set.env.Getenv(f.variable); name != "" {
			mine = append(mine, name)
		}
		if set.env.Home != "" {
			mine = append(mine, filepath.Join(set.env.Home, ".aws", f.usual))
		}
	}
	return mine
}

func profilesOf(set settings) (profiles, error) {
	p := profiles{own: true}
	for i, to := range []*[]string{&p.credentials, &p.config} {
		*to = namedProfiles(set, i)
		for _, name := range *to {
			p.own = p.own && containsFile(ownProfiles(set), name)
		}
		if name := set.env.Getenv(awsFiles[i].variable); len(*to) == 0 && name != "" {
			*to = []string{set.path(name)}
		}
	}
	if !p.own && !set.trusted() {
		return p, fmt.Errorf("s3 backend: %s names the files %s of profiles, which name servers and programs; %s",
			set.w.Dir, strings.Join(append(namedProfiles(set, 0), namedProfiles(set, 1)...), ", "), set.trustFirst())
	}
	return p, nil
}

func (p profiles) options() []func(*config.LoadOptions) error {
	var opts []func(*config.LoadOptions) error
	if len(p.credentials) > 0 {
		opts = append(opts, config.WithSharedCredentialsFiles(p.credentials))
	}
	if len(p.config) > 0 {
		opts = append(opts, config.WithSharedConfigFiles(p.config))
	}
	return opts
}

// runNothing refuses profiles that name a program, unless all their files are the
// operator's own: no trust lends a directory a program of its choice to a read.
func (p profiles) runNothing(ctx context.Context, set settings) error {
	if p.own {
		return nil
	}
	name := cmp.Or(set.w.Setting("profile"), set.env.Getenv("AWS_PROFILE"), "default")
	shared, err := config.LoadSharedConfigProfile(ctx, name, func(o *config.LoadSharedConfigOptions) {
		o.CredentialsFiles, o.ConfigFiles, o.Logger = p.credentials, p.config, logging.Nop{}
	})
	var absent config.SharedConfigProfileNotExistError
	if err != nil && !errors.As(err, &absent) {
		return fmt.Errorf("s3 backend: the profiles that %s names: %w", set.w.Dir, err)
	}
	for from := &shared; from != nil; from = from.Source {
		if from.CredentialProcess != "" {
			return fmt.Errorf("s3 backend: the profile %q runs the program %q (credential_process), which handrail does for files of your own only, whether the directory is trusted or not; put the profile into ~/.aws/config, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
				steps.Clip(from.Profile, 100), steps.Clip(from.CredentialProcess, 200))
		}
	}
	return nil
}
