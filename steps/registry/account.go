package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
)

const mostConfig = 1 << 20

// account is as whom a registry is asked. The zero account is none.
type account struct {
	user, password string
	token          string // of the registry itself, sent as it is
	none           string // why there is none, where docker's configuration has one that a probe cannot use
}

func (a account) empty() bool { return a.password == "" && a.token == "" }

// dockerConfig is what is read of docker's config.json.
type dockerConfig struct {
	Auths map[string]struct {
		Auth          string `json:"auth"`
		Username      string `json:"username"`
		Password      string `json:"password"`
		IdentityToken string `json:"identitytoken"`
		RegistryToken string `json:"registrytoken"`
	} `json:"auths"`
	CredsStore  string            `json:"credsStore"`
	CredHelpers map[string]string `json:"credHelpers"`
}

// accountFor looks the registry up in docker's configuration: DOCKER_CONFIG, else ~/.docker.
func accountFor(env steps.Env, domain string) (account, error) {
	dir := env.Getenv("DOCKER_CONFIG")
	if dir == "" {
		if env.Home == "" {
			return account{}, nil
		}
		dir = filepath.Join(env.Home, ".docker")
	}
	raw, err := steps.ReadFile(filepath.Join(dir, "config.json"), mostConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return account{}, nil
	}
	if err != nil {
		return account{}, fmt.Errorf("docker's configuration: %w", err)
	}
	return parseConfig(raw, domain)
}

// parseConfig takes the account of one registry out of a config.json. What is wrong with it is said without what stood in it.
func parseConfig(raw []byte, domain string) (account, error) {
	var c dockerConfig
	if json.Unmarshal(raw, &c) != nil {
		return account{}, errors.New("docker's configuration: config.json is no JSON of its form")
	}
	helper := c.CredsStore
	for _, name := range slices.Sorted(maps.Keys(c.CredHelpers)) {
		if configHost(name) == domain && c.CredHelpers[name] != "" {
			helper = c.CredHelpers[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Auths)) {
		if configHost(name) != domain {
			continue
		}
		in := c.Auths[name]
		a := account{user: in.Username, password: in.Password, token: in.RegistryToken}
		if in.Auth != "" {
			plain, err := base64.StdEncoding.DecodeString(in.Auth)
			user, password, ok := strings.Cut(string(plain), ":")
			if err != nil || !ok {
				return account{}, fmt.Errorf("docker's configuration: the entry of %s is no user and password", domain)
			}
			a.user, a.password = user, strings.TrimRight(password, "\x00")
		}
		if strings.ContainsFunc(a.token, outsideHeader) {
			return account{}, fmt.Errorf("docker's configuration: the token of %s has a character that no token has", domain)
		}
		if !a.empty() {
			return a, nil
		}
		if in.IdentityToken != "" {
			// It is spent by a POST, which no reader sends (distribution, spec/auth/oauth.md).
			return account{none: "docker's configuration has an identity token for " + domain + ", which is spent by a POST: sign in with user and password"}, nil
		}
	}
	if helper != "" {
		return account{none: fmt.Sprintf("docker's configuration leaves the password to the program docker-credential-%s, which a probe does not run: "+
			"sign in with a DOCKER_CONFIG of its own that keeps it", steps.OneLine(helper, 60))}, nil
	}
	return account{}, nil
}

// configHost is the registry that a key of docker's configuration means: older ones have a scheme and a path.
func configHost(key string) string {
	_, rest, ok := strings.Cut(key, "://")
	if !ok {
		rest = key
	}
	host, _, _ := strings.Cut(rest, "/")
	if host == "index."+hubName || host == hubHost {
		return hubName
	}
	return host
}

func outsideHeader(r rune) bool { return r <= ' ' || r >= 0x7f }
