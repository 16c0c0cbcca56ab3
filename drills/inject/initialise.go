package inject

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

// initialise is the verb tofu.init.
type initialise struct {
	fails    bool // a run on a new machine that must not get through
	registry bool // from a registry that nobody can reach, instead of the mirror
	refused  bool // with an account that the backend does not know
}

func readInit(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.init", "fails", "from", "credentials")
	i := initialise{fails: p.Flag(f["fails"], "fails")}
	if f["from"] != nil {
		i.registry = p.OneOf(f["from"], "from", []string{"mirror", "registry"}) == "registry"
	}
	if f["credentials"] != nil {
		i.refused = p.OneOf(f["credentials"], "credentials", []string{"refused"}) != ""
	}
	if (i.registry || i.refused) && !i.fails {
		p.Fail(n, "add fails: true", "such an init cannot get through")
	}
	return i
}

// unreachable has providers come from a registry at port 1 of this machine, where
// nobody listens.
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
	if !i.fails {
		return st.Initialise(ctx)
	}
	st.Say("an init runs on a new runner")
	if i.registry {
		if err := os.WriteFile(st.CLIConfig(), []byte(unreachable), 0o600); err != nil {
			return err
		}
	}
	runner := filepath.Join(st.Home, "runner-data")
	if err := os.RemoveAll(runner); err != nil {
		return err
	}
	kubeconfig := st.Rec.Namespace.RobotKubeconfig
	if i.refused {
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

// stranger is a kubeconfig whose token nobody knows.
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
