package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"handrail/drills/lab"
)

// applyLimit is for a machine under load; an apply reaches its point in seconds.
const applyLimit = 5 * time.Minute

// Launch starts tofu in a session of its own, with the log of the apply.
func (st *Stage) Launch(args ...string) (*exec.Cmd, <-chan error, error) {
	log, err := os.OpenFile(st.Rec.Log, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("log of the apply: %w", err)
	}
	defer func() { _ = log.Close() }() // the program has it
	if _, err := io.WriteString(log, st.EchoLine(args)); err != nil {
		return nil, nil, err
	}
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(st.Tofu, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.Rec.Dir, st.RobotEnviron(), log, log
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting the apply: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // reaps it; ends with the apply, which Stop ends
	st.Rec.Processes = append(st.Rec.Processes, Process{PID: cmd.Process.Pid, Start: StartMark(cmd.Process.Pid)})
	return cmd, ended, st.Save()
}

// EchoLine is the command as a pipeline prints it before its output: the log of a
// job shows where its run begins.
func (st *Stage) EchoLine(args []string) string {
	return "$ " + filepath.Base(st.Tofu) + " " + strings.Join(args, " ") + "\n"
}

// AwaitLog waits until the log of the apply shows what is wanted. An apply that
// ends before is an error with the end of its log.
func (st *Stage) AwaitLog(ctx context.Context, ended <-chan error, what string, seen func(log []byte) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, applyLimit, fmt.Errorf("the apply did not %s within %s: see %q", what, applyLimit, st.Rec.Log))
	defer cancel()
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		log, err := os.ReadFile(st.Rec.Log)
		if err != nil {
			return err
		}
		if seen(log) {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the apply ended before it could %s (%v): %s", what, err, Tail(log))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Initialise initialises the root module with the mirror of the drill.
func (st *Stage) Initialise(ctx context.Context) error {
	if err := os.WriteFile(st.CLIConfig(), fmt.Appendf(nil, cliConfig, st.Mirror()), 0o600); err != nil {
		return err
	}
	if err := st.init(ctx, st.Rec.Namespace.RobotKubeconfig, st.RobotEnviron()); err != nil {
		return fmt.Errorf("initialising as robot: %w", err)
	}
	// Elsewhere it makes none: the first apply does.
	if _, err := st.State(ctx); err != nil && st.inCluster() {
		return fmt.Errorf("the state that robot's init made: %w", err)
	}
	if err := st.firstState(ctx); err != nil {
		return err
	}
	if err := st.init(ctx, st.Rec.Namespace.OperatorKubeconfig, st.OperatorEnviron(nil)); err != nil {
		return fmt.Errorf("initialising as operator: %w", err)
	}
	return nil
}

// firstState writes an empty state where init makes none, as an earlier run would have left it: a drill is not about
// the first apply of a module, which takes another lock on some backends.
func (st *Stage) firstState(ctx context.Context) error {
	if st.Rec.Backend == "" || st.inCluster() {
		return nil
	}
	if _, err := st.State(ctx); err == nil {
		return nil
	}
	id, err := RandomHex(16)
	if err != nil {
		return err
	}
	lineage := strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-")
	return st.push(ctx, fmt.Appendf(nil, `{"version":4,"serial":1,"lineage":%q,"outputs":{},"resources":[]}`, lineage))
}

// Mirror is the directory that holds the only providers of the drill.
func (st *Stage) Mirror() string { return filepath.Join(st.Home, "mirror") }

// UsesKubernetes stands in a module that wants the provider of real objects.
const UsesKubernetes = `provider "kubernetes"`

// Provide puts the provider that the module wants into the mirror, and tells the
// module in which namespace its objects belong. Most modules want none.
func (st *Stage) Provide(ctx context.Context) error {
	src, err := os.ReadFile(filepath.Join(st.Rec.Dir, "main.tf"))
	if err != nil {
		return err
	}
	if st.Rec.API != "" {
		if err := os.WriteFile(filepath.Join(st.Rec.Dir, "records.auto.tfvars"), fmt.Appendf(nil, "records_api = %q\n", st.Rec.API), 0o600); err != nil {
			return err
		}
	}
	if !bytes.Contains(src, []byte(UsesKubernetes)) {
		return nil
	}
	st.Say("looking for the provider kubernetes, which is built once")
	program, err := st.World.KubernetesProvider(ctx, st.progress)
	if err != nil {
		return err
	}
	vars := fmt.Appendf(nil, "namespace = %q\n", st.Rec.Namespace.Name)
	return errors.Join(lab.MirrorKubernetes(st.Mirror(), program),
		os.WriteFile(filepath.Join(st.Rec.Dir, "place.auto.tfvars"), vars, 0o600))
}

// progress tells of a build, where there is anything to say.
func (st *Stage) progress(p lab.Progress) {
	if p.Stage == lab.StageWait {
		st.Say("%s", p.Text)
	}
}

func (st *Stage) init(ctx context.Context, kubeconfig string, env []string) error {
	if out, err := st.TryInit(ctx, kubeconfig, env); err != nil {
		return fmt.Errorf("%w: %s", err, Tail(out))
	}
	return nil
}

// TryInit runs tofu init against the state of the drill, and says what it said.
func (st *Stage) TryInit(ctx context.Context, kubeconfig string, env []string) ([]byte, error) {
	args := []string{"init", "-input=false", "-no-color"}
	if st.inCluster() {
		args = append(args,
			"-backend-config=namespace="+st.Rec.Namespace.Name,
			"-backend-config=secret_suffix="+st.Rec.Suffix,
			"-backend-config=config_path="+kubeconfig)
	}
	cmd := exec.CommandContext(ctx, st.Tofu, args...)
	cmd.Dir, cmd.Env = st.Rec.Dir, env
	return cmd.CombinedOutput()
}

// asRobot runs tofu in the root module to its end, and says what it said.
func (st *Stage) asRobot(ctx context.Context, args ...string) ([]byte, error) {
	return st.Run(ctx, st.RobotEnviron(), args...)
}

// Run runs tofu in the root module to its end, in this environment.
func (st *Stage) Run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, applyLimit, fmt.Errorf("tofu %s took more than %s", args[0], applyLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, st.Tofu, args...)
	cmd.Dir, cmd.Env = st.Rec.Dir, env
	return cmd.CombinedOutput()
}

// Must runs it where nothing may fail.
func (st *Stage) Must(ctx context.Context, args ...string) ([]byte, error) {
	out, err := st.asRobot(ctx, args...)
	if err != nil {
		return out, fmt.Errorf("tofu %s: %w: %s", args[0], err, Tail(out))
	}
	return out, nil
}

// push writes a state by the tool, over whatever is there.
func (st *Stage) push(ctx context.Context, raw []byte) error {
	cmd := exec.CommandContext(ctx, st.Tofu, "state", "push", "-force", "-")
	cmd.Dir, cmd.Env, cmd.Stdin = st.Rec.Dir, st.RobotEnviron(), bytes.NewReader(raw)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tofu state push: %w: %s", err, Tail(out))
	}
	return nil
}

// cliConfig keeps tofu from asking any server for a provider or a newer version:
// there is only what the drill put into its mirror.
const cliConfig = "disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n"
