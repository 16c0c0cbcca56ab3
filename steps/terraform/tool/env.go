package tool

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

// Env builds the environment of a tofu from scratch: what it needs to run,
// the credentials of providers and backends, what the operator's settings add, and nothing that
// changes its arguments, its log or the servers that it talks to.
func Env(env steps.Env) []string {
	more, _ := passed(env) // Withheld says what is wrong with it, where that matters
	var out []string
	for _, kv := range env.Environ {
		if name, _, ok := strings.Cut(kv, "="); ok && passes(name, more) {
			out = append(out, kv)
		}
	}
	return append(append(out, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1"), noInstall()...)
}

func passes(name string, more []steps.Passed) bool {
	exact := []string{
		"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "TZ",
		"KUBECONFIG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"TF_WORKSPACE", "TF_DATA_DIR", "TF_PLUGIN_CACHE_DIR", "TF_CLI_CONFIG_FILE", "TF_ENCRYPTION",
		"STORAGE_EMULATOR_HOST",
		"GOGC", "GOMEMLIMIT", "GOMAXPROCS", // what keeps a large plan within a runner's memory
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
	return slices.ContainsFunc(more, func(p steps.Passed) bool { return p.Name == name })
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
// it may print them in a form that no pattern knows. What the operator's settings add is one,
// unless they say that it may be shown.
func Secrets(env steps.Env) []string {
	more, _ := passed(env)
	var by, own []string
	for _, kv := range env.Environ {
		name, _, ok := strings.Cut(kv, "=")
		switch {
		case !ok:
		case slices.ContainsFunc(more, func(p steps.Passed) bool { return p.Name == name && !p.Shown }):
			own = append(own, kv)
		case passes(name, more):
			by = append(by, kv)
		}
	}
	return append(steps.SecretVariables(by), steps.SecretValues(own)...)
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
