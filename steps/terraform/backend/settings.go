package backend

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tool"
)

// settings answers what a backend would use: its saved configuration first,
// then its own environment variables.
type settings struct {
	env steps.Env
	w   module.Workdir
}

func (s settings) get(key string, variables ...string) string {
	if v := s.w.Setting(key); v != "" {
		return v
	}
	return s.variable(variables...)
}

func (s settings) variable(names ...string) string {
	for _, name := range names {
		if v := s.env.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func (s settings) flag(key string, variables ...string) bool {
	if v, ok := s.w.Config[key].(bool); ok {
		return v
	}
	v, _ := strconv.ParseBool(s.variable(variables...))
	return v
}

func (s settings) list(key string) []string {
	var out []string
	values, _ := s.w.Config[key].([]any)
	for _, v := range values {
		if text, ok := v.(string); ok && text != "" {
			out = append(out, text)
		}
	}
	return out
}

// block returns a nested block, which is an object or a list of one.
func (s settings) block(key string) settings {
	v := s.w.Config[key]
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	inner, _ := v.(map[string]any)
	w := s.w
	w.Config = inner
	return settings{env: s.env, w: w}
}

// path is a file that a setting names, from the directory or the home.
func (s settings) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(s.env.Home, rest)
	}
	if name != "" && !filepath.IsAbs(name) {
		return filepath.Join(s.w.Dir, name)
	}
	return name
}

func (s settings) trusted() bool { return s.env.Trusted != nil && s.env.Trusted(s.w.Dir) == nil }

// trustFirst is what to do about a loan that was refused. It says why the trust
// does not hold, with what changed since it was given.
func (s settings) trustFirst() string {
	const cure = "trust the directory first if that is meant"
	if s.env.Trusted == nil {
		return cure
	}
	if err := s.env.Trusted(s.w.Dir); err != nil {
		return cure + ": " + err.Error()
	}
	return cure
}

// refuseLoan keeps credentials that the directory does not bring from a server
// that it names by itself, or does not want checked: any author can write the
// settings of a clone. Trust lends them to the servers that it has shown.
func (s settings) refuseLoan(named, unchecked string, lent ...string) error {
	lent = compact(lent)
	server := cmp.Or(named, unchecked)
	if server == "" || len(lent) == 0 || s.trusted() && (named == "" || slices.Contains(s.servers(), named)) {
		return nil
	}
	return fmt.Errorf("%s backend: %s would send credentials of yours (%s) to the server %q that it names itself or does not want checked; %s",
		s.w.Backend, s.w.Dir, strings.Join(lent, ", "), server, s.trustFirst())
}

// lend names a variable whose value would be used for a setting that the
// directory does not have.
func (s settings) lend(key, variable string) string {
	if s.w.Setting(key) == "" && s.env.Getenv(variable) != "" {
		return variable
	}
	return ""
}

func compact(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// secretSettings are the settings of all backends that hold secrets, wherever
// they stand in the configuration.
var secretSettings = []string{
	"access_key", "access_token", "client_certificate_password", "client_key", "client_private_key_pem", "client_secret",
	"credentials", "customer_provided_key", "encryption_key", "http_auth", "key_pem", "oidc_request_token", "oidc_token",
	"password", "sas_token", "secret_id", "secret_key", "sse_customer_key", "token", "web_identity_token",
}

// hide names the secrets among the settings before anything else is done with
// them, and those of the environment that a backend may use.
func (s settings) hide(out steps.Sink) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			for key, inner := range v {
				text, ok := inner.(string)
				if !ok {
					walk(inner)
					continue
				}
				for _, name := range secretSettings {
					// The id of an access key of AWS is no secret, the key of a storage account is.
					if key == name && text != "" && (name != "access_key" || s.w.Backend != "s3") {
						out.Secret(text)
					}
				}
			}
		}
	}
	walk(s.w.Config)
	for _, v := range tool.Secrets(s.env) {
		out.Secret(v)
	}
	if _, password, ok := strings.Cut(cmp.Or(s.w.Setting("http_auth"), s.env.Getenv("CONSUL_HTTP_AUTH")), ":"); ok && password != "" {
		out.Secret(password)
	}
}
