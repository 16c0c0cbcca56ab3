package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
)

// Env builds the environment of a tofu from scratch: what it needs to run,
// the credentials of providers and backends, and nothing that changes its
// arguments, its log or the servers that it talks to.
func Env(env steps.Env) []string {
	var out []string
	for _, kv := range env.Environ {
		if name, _, ok := strings.Cut(kv, "="); ok && passes(name) {
			out = append(out, kv)
		}
	}
	return append(append(out, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1"), noInstall()...)
}

func passes(name string) bool {
	exact := []string{
		"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "TZ",
		"KUBECONFIG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"TF_WORKSPACE", "TF_DATA_DIR", "TF_PLUGIN_CACHE_DIR", "TF_CLI_CONFIG_FILE", "TF_ENCRYPTION",
		"STORAGE_EMULATOR_HOST",
	}
	if slices.Contains(exact, name) || slices.Contains(Choosing(), name) {
		return true
	}
	for _, prefix := range []string{
		"LC_", "XDG_", "KUBE_", "KUBERNETES_", "TF_VAR_", "TF_TOKEN_", "TF_HTTP_",
		"AWS_", "GOOGLE_", "GCLOUD_", "GCP_", "CLOUDSDK_", "ARM_", "AZURE_", "OCI_", "ALICLOUD_", "OS_", "HCLOUD_",
		"DIGITALOCEAN_", "SPACES_", "CLOUDFLARE_", "GITHUB_", "GITLAB_", "VAULT_", "CONSUL_", "NOMAD_", "PG", "DD_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// variable is the name of one of the environment, as an error of a provider writes it.
var variable = regexp.MustCompile(`\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b`)

// Withheld says of the variables that an error names and that are set here which of them are
// not handed on to a program, and how it gets them all the same; "" for none.
func Withheld(env steps.Env, said []byte) string {
	var names []string
	for _, name := range variable.FindAllString(string(said), -1) {
		set := slices.ContainsFunc(env.Environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if set && !passes(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is set here, and handrail does not hand it on: a program gets the variables of the known clouds and backends, and TF_VAR_NAME of any name. "+
		"Give the provider the value in its configuration, by a variable of the module that TF_VAR_NAME sets; docs/settings.md lists what is handed on.", strings.Join(names, ", "))
}

// FirstErrorOf is [FirstError] of a program that Env started, with what was kept from it.
func FirstErrorOf(env steps.Env, stderr []byte) string {
	why := FirstError(stderr)
	if kept := Withheld(env, stderr); kept != "" {
		why += " (" + kept + ")"
	}
	return why
}

// Secrets returns the values in the environment of a tofu that are secret:
// it may print them in a form that no pattern knows.
func Secrets(env steps.Env) []string {
	var passed []string
	for _, kv := range env.Environ {
		if name, _, ok := strings.Cut(kv, "="); ok && passes(name) {
			passed = append(passed, kv)
		}
	}
	return steps.SecretVariables(passed)
}

// Trusted says why no program may run in dir, nil where a person trusted it.
func Trusted(env steps.Env, dir string) error {
	if env.Trusted == nil {
		return fmt.Errorf("directory %s is not trusted: programs run in trusted directories only", dir)
	}
	if err := env.Trusted(dir); err != nil {
		return fmt.Errorf("directory %s is not trusted: %w", dir, err)
	}
	return nil
}
