package stage

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/drills/lab"
)

// Marker names the drill in the environment of what it started: a provisioner
// that outlived its tofu is found by it.
const Marker = "HANDRAIL_DRILL="

// Stage is what injection and judging work with: the lab as robot, and the
// directory of one running drill.
type Stage struct {
	Rec   Record
	Home  string // of the drill, holds drill.json
	Tofu  string
	Now   func() time.Time
	Robot *robot   // nil in a drill that needs no cluster
	World *lab.Lab // for what no account of the drill may do: accounts, webhooks, nodes; nil likewise

	Provider func(context.Context) (string, error) // program of the bad provider, built when it is needed
	Bucket   []string                              // command that serves the folder which is appended to it, for a drill with a bucket
	Store    []string                              // command that keeps the state in the folder which is appended to it, for one on a server of a backend
	Source   string                                // clone that the servers of that command are built from, "" for the one that is found
	Say      func(format string, args ...any)
}

// Connect makes the client of robot; any cluster but the drill's lab is refused.
func (st *Stage) Connect(ctx context.Context, l *lab.Lab) (err error) {
	st.Robot, err = newRobot(ctx, l, st.Rec.Namespace.RobotKubeconfig, st.Rec.Cluster)
	return err
}

// RobotEnviron is all that an injected tofu sees: nothing of the operator's
// environment may lead it elsewhere.
func (st *Stage) RobotEnviron() []string {
	return append(append(append(st.PlainEnviron(), st.apiEnviron(NameRobot)...),
		"PATH="+os.Getenv("PATH"), "HOME="+st.Home,
		"TF_DATA_DIR="+filepath.Join(st.Home, "robot-data"),
		"KUBECONFIG="+kubeconfig(st.Rec.Namespace.RobotKubeconfig),
		"KUBE_CONFIG_PATH="+st.Rec.Namespace.RobotKubeconfig,
		Marker+st.Rec.Nonce), append(append(st.brokerEnviron(NameRobot), st.bucketEnviron(NameRobot)...), st.storeEnviron(NameRobot)...)...)
}

// OperatorEnviron is the trainee's environment: theirs, with whatever would
// lead kubectl or tofu to another cluster taken out.
func (st *Stage) OperatorEnviron(base []string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == "KUBECONFIG" || key == brokersVariable || strings.HasPrefix(key, "RECORDS_") || strings.HasPrefix(key, "KUBE_") || strings.HasPrefix(key, "TF_") || st.foreignCloud(key) || key == "PATH"
	})
	search := os.Getenv("PATH")
	for _, kv := range base {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = p
		}
	}
	if base == nil {
		env = append(env, "HOME="+st.Home)
	}
	if st.Tofu != "" {
		search = filepath.Dir(st.Tofu) + string(os.PathListSeparator) + search
	}
	env = append(append(append(env, st.apiEnviron(NameOperator)...), st.brokerEnviron(NameOperator)...), append(st.bucketEnviron(NameOperator), st.storeEnviron(NameOperator)...)...)
	return append(append(env, st.PlainEnviron()...),
		"PATH="+search,
		"KUBECONFIG="+kubeconfig(st.Rec.Namespace.OperatorKubeconfig),
		"KUBE_CONFIG_PATH="+st.Rec.Namespace.OperatorKubeconfig)
}

// kubeconfig keeps a drill without a cluster away from every cluster: an empty variable would
// mean the operator's own.
func kubeconfig(path string) string { return cmp.Or(path, os.DevNull) }

// PlainEnviron is what every tofu of the drill sees: no questions, no other registry.
func (st *Stage) PlainEnviron() []string {
	env := []string{"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0"}
	if st.Rec.Dir == "" {
		return env
	}
	return append(env, "TF_CLI_CONFIG_FILE="+st.CLIConfig())
}

// Tool is the lab's tofu, for a drill that has to do with it.
func (st *Stage) Tool(string) (string, error) {
	if st.Tofu == "" {
		return "", errors.New("this drill has no tofu")
	}
	return st.Tofu, nil
}

// CLIConfig is the file that tells tofu where providers come from.
func (st *Stage) CLIConfig() string { return filepath.Join(st.Home, "tofu.rc") }
