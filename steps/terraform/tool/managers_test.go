package tool

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

// TestVersionManagersReachTofu: what chooses a version passes, what downloads or runs code
// does not, and nothing is installed on the way.
func TestVersionManagersReachTofu(t *testing.T) {
	t.Parallel()
	for kv, passes := range map[string]bool{
		"TENV_ROOT=/opt/tenv": true, "TOFUENV_TOFU_VERSION=1.9.0": true, "TFENV_TERRAFORM_VERSION=1.5.7": true, "TFENV_CONFIG_DIR=/opt/tfenv": true,
		"ASDF_DATA_DIR=/opt/asdf": true, "ASDF_TERRAFORM_VERSION=1.5.7": true, "MISE_DATA_DIR=/opt/mise": true, "MISE_OPENTOFU_VERSION=1.9.0": true,
		"TENV_REMOTE_CONF=/tmp/r.yaml": false, "TENV_VALIDATION=none": false, "TOFUENV_REMOTE=http://127.0.0.1": false, "TFENV_REMOTE=http://127.0.0.1": false,
		"BASHLOG_I_PROMISE_TO_BE_CAREFUL_CUSTOM_EVAL_PREFIX=id": false, "TENV_AUTO_INSTALL=true": false, "TFENV_AUTO_INSTALL=true": false,
		"MISE_NOT_FOUND_AUTO_INSTALL=1": false, "MISE_ENV_FILE=.env": false, "MISE_TRUSTED_CONFIG_PATHS=/": false, "TENV_GITHUB_TOKEN=x": false,
		"TF_CLI_ARGS=-auto-approve": false, "TF_LOG=trace": false,
	} {
		if got := slices.Contains(Env(steps.Env{Environ: []string{kv}}), kv); got != passes {
			t.Errorf("%s reaches tofu: %t, want %t", kv, got, passes)
		}
	}
}

// TestProxyRunsTheVersionThatWasChosen, as the environment of a tofu says it, and is told
// to install none.
func TestProxyRunsTheVersionThatWasChosen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	proxy := filepath.Join(dir, "tofu")
	script := "#!/bin/sh\nif [ \"$TENV_AUTO_INSTALL$TFENV_AUTO_INSTALL$MISE_NOT_FOUND_AUTO_INSTALL\" != falsefalsefalse ]; then echo installs; fi\nexec \"$TENV_ROOT/OpenTofu/$TOFUENV_TOFU_VERSION/tofu\"\n"
	real := filepath.Join(dir, "root", "OpenTofu", "1.9.0", "tofu")
	if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{proxy: script, real: "#!/bin/sh\necho OpenTofu v1.9.0\n"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.Background(), "/bin/sh", proxy)
	cmd.Env = Env(steps.Env{Environ: []string{"PATH=" + os.Getenv("PATH"), "TENV_ROOT=" + filepath.Join(dir, "root"), "TOFUENV_TOFU_VERSION=1.9.0", "TENV_AUTO_INSTALL=true"}})
	out, err := cmd.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "OpenTofu v1.9.0" {
		t.Errorf("the proxy ran %q, %v", got, err)
	}
}
