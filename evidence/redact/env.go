package redact

import (
	"bytes"
	"slices"
)

// plainVariables are those whose values are evidence and no secret.
var plainVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "LANG", "LC_ALL", "TZ", "TERM", "HOSTNAME", "HOST", "SHLVL", "CI",
	"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "KUBECONFIG", "KUBE_CONTEXT", "NAMESPACE", "POD_NAME", "POD_NAMESPACE", "NODE_NAME",
	"TF_WORKSPACE", "TF_IN_AUTOMATION", "TF_INPUT", "TF_DATA_DIR", "TF_LOG", "TF_PLUGIN_CACHE_DIR", "GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT",
	"GITHUB_RUN_ID", "GITHUB_RUN_NUMBER", "GITHUB_RUN_ATTEMPT", "GITHUB_SHA", "GITHUB_REF", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW", "GITHUB_JOB",
	"GITHUB_ACTOR", "RUNNER_NAME", "RUNNER_OS", "CI_JOB_ID", "CI_PIPELINE_ID", "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME", "CI_PROJECT_PATH"}

// redactEnv keeps the names of an environment and the values of a few variables. A line that is no assignment belongs to
// the value before it.
func redactEnv(r *Redactor, in []byte, n Counts) ([]byte, bool) {
	var out []byte
	for _, v := range variables(in) {
		name, value, ok := bytes.Cut(v, []byte("="))
		switch {
		case !ok:
			out = append(r.token(out, "env", bytes.TrimSpace(v)), '\n')
			n.add("env")
		case len(value) == 0 || r.onlyTokens(value):
			out = append(append(out, v...), '\n')
		case slices.Contains(plainVariables, string(bytes.TrimPrefix(name, []byte("export ")))):
			out = append(append(append(append(out, name...), '='), r.Bytes(value, n)...), '\n')
		default:
			out = append(r.token(append(append(out, name...), '='), "env", bytes.Trim(value, "\"'\n")), '\n')
			n.add("env")
		}
	}
	return out, true
}

// variables splits an environment, as lines or parted by NUL, before each NAME=.
func variables(in []byte) [][]byte {
	sep := "\n"
	if bytes.IndexByte(in, 0) >= 0 {
		sep = "\x00"
	}
	var out [][]byte
	for line := range bytes.SplitSeq(bytes.TrimRight(in, sep), []byte(sep)) {
		name, _, ok := bytes.Cut(bytes.TrimPrefix(line, []byte("export ")), []byte("="))
		for i, c := range name {
			ok = ok && isWord(c) && (i > 0 || c < '0' || c > '9')
		}
		if ok && len(name) > 0 || len(out) == 0 {
			if len(line) > 0 {
				out = append(out, bytes.Clone(line))
			}
			continue
		}
		last := &out[len(out)-1]
		*last = append(append(*last, '\n'), line...)
	}
	return out
}
