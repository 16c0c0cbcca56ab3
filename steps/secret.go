package steps

import (
	"context"
	"net/url"
	"regexp"
	"strings"
)

type secretKey struct{}

// WithSecret gives what runs under ctx, outside of a step, a function to name
// secrets to.
func WithSecret(ctx context.Context, tell func(value string)) context.Context {
	return context.WithValue(ctx, secretKey{}, tell)
}

// TellSecret names a value that must not be stored or shown, where a function
// listens.
func TellSecret(ctx context.Context, value string) {
	if tell, ok := ctx.Value(secretKey{}).(func(string)); ok {
		tell(value)
	}
}

var (
	secretVariable = regexp.MustCompile(`(?i)passw|passphrase|(^|_)(pass|pwd|auth|sas|pat|psk|dsn|jwt|cookie)$|secret|token|credential|client_certificate|connection_?string` +
		`|(private|api|app|access|account|storage|master|shared|encryption|signing|service|client|deploy|license)_?key|^TF_ENCRYPTION$`)
	// notSecretTail are names of what stands beside a secret and may identify a target.
	notSecretTail = regexp.MustCompile(`(?i)_(id|file|path|dir|name|url|uri|ttl|type|host|port|addr|endpoint|region|user|username|email|sock|socket|proto|mode|methods?)$|_port_`)
)

// SecretVariables are the values of an environment that are secret: by the
// name of the variable, or as the password in an address.
func SecretVariables(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if secretVariable.MatchString(name) && !notSecretTail.MatchString(name) {
			out = append(out, SecretValues([]string{kv})...)
			continue
		}
		if short(value) {
			continue
		}
		if u, err := url.Parse(value); err == nil && u.User != nil && u.Host != "" {
			if password, ok := u.User.Password(); ok {
				out = append(out, password)
			}
		}
	}
	return out
}

// SecretValues are the values of variables that are secret whatever their names say.
func SecretValues(environ []string) []string {
	var out []string
	for _, kv := range environ {
		if _, value, _ := strings.Cut(kv, "="); !short(value) {
			out = append(out, value)
		}
	}
	return out
}

// short reports whether a value is too short to be looked for in what is printed, or a path.
func short(value string) bool { return len(value) < 8 || strings.HasPrefix(value, "/") }
