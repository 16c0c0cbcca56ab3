package drills

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/drills/lab"
)

// cliConfig keeps tofu from asking anybody for a provider or a newer version:
// there is only what the drill put into its mirror.
const cliConfig = "disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n"

// marker names the drill in the environment of what it started: a provisioner
// that outlived its tofu is found by it.
const marker = "HANDRAIL_DRILL="

// stage is what injection and judging work with: the lab as robot, and the
// directory of one running drill.
type stage struct {
	rec   record
	home  string // of the drill, holds drill.json
	tofu  string
	now   func() time.Time
	robot *robot
	world *lab.Lab // for what no account of the drill may do: accounts, webhooks, nodes

	provider func(context.Context) (string, error) // program of the bad provider, built when it is needed
	say      func(format string, args ...any)
}

func (st *stage) connect(ctx context.Context, l *lab.Lab) (err error) {
	st.robot, err = newRobot(ctx, l, st.rec.Namespace.RobotKubeconfig, st.rec.Cluster)
	return err
}

// lease is what is read of the Lease that is the lock of the state.
type lease struct {
	Metadata struct {
		ResourceVersion string
		Annotations     map[string]string
	}
	Spec struct{ HolderIdentity string }
}

func (st *stage) leasePath() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + st.rec.Namespace.Name + "/leases/lock-tfstate-default-" + st.rec.Suffix
}

func (st *stage) lock(ctx context.Context) (lease, error) {
	var l lease
	if err := st.robot.get(ctx, st.leasePath(), &l); err != nil {
		return l, fmt.Errorf("lock of the state: %w", err)
	}
	return l, nil
}

func (st *stage) holder(ctx context.Context) (string, error) {
	l, err := st.lock(ctx)
	if err == nil && l.Spec.HolderIdentity == "" {
		err = fmt.Errorf("the lock of the state in namespace %s has no holder", st.rec.Namespace.Name)
	}
	return l.Spec.HolderIdentity, err
}

// held reports whether the lock is there to be seen; what cannot be read is not.
func (st *stage) held(ctx context.Context) bool {
	_, err := st.holder(ctx)
	return err == nil
}

// recorded is what a drill needs to know of a state.
type recorded struct {
	Serial  int64
	Lineage string
}

func (st *stage) state(ctx context.Context) (recorded, error) {
	var r recorded
	raw, err := st.rawState(ctx)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("state of the drill: %w", err)
	}
	return r, nil
}

func (st *stage) cliConfig() string { return filepath.Join(st.home, "tofu.rc") }

// robotEnviron is all that an injected tofu sees: nothing of the operator's
// environment may lead it elsewhere.
func (st *stage) robotEnviron() []string {
	return append(append(append(st.plain(), st.apiEnviron(nameRobot)...),
		"PATH="+os.Getenv("PATH"), "HOME="+st.home,
		"TF_DATA_DIR="+filepath.Join(st.home, "robot-data"),
		"KUBECONFIG="+st.rec.Namespace.RobotKubeconfig,
		"KUBE_CONFIG_PATH="+st.rec.Namespace.RobotKubeconfig,
		marker+st.rec.Nonce), st.brokerEnviron(nameRobot)...)
}

// operatorEnviron is the trainee's environment: theirs, with whatever would
// lead kubectl or tofu to another cluster taken out.
func (st *stage) operatorEnviron(base []string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == "KUBECONFIG" || key == brokersVariable || strings.HasPrefix(key, "RECORDS_") || strings.HasPrefix(key, "KUBE_") || strings.HasPrefix(key, "TF_") || key == "PATH"
	})
	search := os.Getenv("PATH")
	for _, kv := range base {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = p
		}
	}
	if base == nil {
		env = append(env, "HOME="+st.home)
	}
	if st.tofu != "" {
		search = filepath.Dir(st.tofu) + string(os.PathListSeparator) + search
	}
	env = append(append(env, st.apiEnviron(nameOperator)...), st.brokerEnviron(nameOperator)...)
	return append(append(env, st.plain()...),
		"PATH="+search,
		"KUBECONFIG="+st.rec.Namespace.OperatorKubeconfig,
		"KUBE_CONFIG_PATH="+st.rec.Namespace.OperatorKubeconfig)
}

func (st *stage) plain() []string {
	env := []string{"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0"}
	if st.rec.Dir == "" {
		return env
	}
	return append(env, "TF_CLI_CONFIG_FILE="+st.cliConfig())
}
