package inject

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// initialise is the verb tofu.init.
type initialise struct {
	Fails       bool   `key:"fails"`                        // a run on a new machine that must not get through
	From        string `key:"from" oneof:"mirror registry"` // a registry that cannot be reached, or the mirror
	Credentials string `key:"credentials" oneof:"refused"`  // an account that the backend does not know
}

// Check: only the mirror and the account of the drill let an init through.
func (i *initialise) Check(r *strict.Reader, n *strict.Node) {
	if (i.From == "registry" || i.Credentials == "refused") && !i.Fails {
		r.Fail(n, "add fails: true", "such an init cannot get through")
	}
}

// unreachable has providers come from a registry at port 1 of this machine, where
// nothing listens.
const unreachable = `disable_checkpoint = true
host "lab.example" {
  services = { "providers.v1" = "http://127.0.0.1:1/v1/providers/" }
}
provider_installation {
  direct {}
}
`

// apply initialises the root module again. One that is to fail is a run on a new
// machine, and leaves a log.
func (i initialise) apply(ctx context.Context, st *stage.Stage) error {
	if !i.Fails {
		return st.Initialise(ctx)
	}
	st.Say("an init runs on a new runner")
	if i.From == "registry" {
		if err := os.WriteFile(st.CLIConfig(), []byte(unreachable), 0o600); err != nil {
			return err
		}
	}
	runner := filepath.Join(st.Home, "runner-data")
	if err := os.RemoveAll(runner); err != nil {
		return err
	}
	kubeconfig := st.Rec.Namespace.RobotKubeconfig
	if i.Credentials == "refused" {
		var err error
		if kubeconfig, err = stranger(st); err != nil {
			return err
		}
	}
	out, err := st.TryInit(ctx, kubeconfig, append(st.RobotEnviron(), "TF_DATA_DIR="+runner, "KUBE_CONFIG_PATH="+kubeconfig))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		return errors.New("the init was to fail, and went through: the drill would start with nothing wrong")
	}
	return os.WriteFile(st.Rec.Log, out, 0o600)
}

var tokenLine = regexp.MustCompile(`(?m)^(\s*token: ).*$`)

// stranger is a kubeconfig whose token is unknown.
func stranger(st *stage.Stage) (string, error) {
	raw, err := os.ReadFile(st.Rec.Namespace.RobotKubeconfig)
	if err != nil {
		return "", err
	}
	if !tokenLine.Match(raw) {
		return "", errors.New("the kubeconfig of robot names no token")
	}
	name := filepath.Join(st.Home, "stranger.kubeconfig")
	return name, os.WriteFile(name, tokenLine.ReplaceAll(raw, []byte("${1}a-token-that-has-expired")), 0o600)
}
