package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"handrail/steps/fault"
)

// beside starts what keeps the state, a role of this binary, in a session of its own, and returns when it is
// ready: fs.ErrNotExist says not yet.
func (st *Stage) beside(ctx context.Context, name string, args, environ []string, ready func() error) error {
	return st.run(ctx, name, st.role(args, environ), true, ready)
}

// serve starts another role of this binary, as beside does.
func (st *Stage) serve(ctx context.Context, name string, args, environ []string, ready func() error) error {
	return st.run(ctx, name, st.role(args, environ), false, ready)
}

func (st *Stage) role(args, environ []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Args[0] = "handrail"
	cmd.Dir, cmd.Env = st.Home, environ
	return cmd
}

// Bring starts a server of the drill in a session of its own, and returns when it is ready, as [Stage.beside] does.
func (st *Stage) Bring(ctx context.Context, name string, cmd *exec.Cmd, ready func() error) error {
	return st.run(ctx, name, cmd, false, ready)
}

// run starts a command, whose context must be none: it goes on when the drill has started.
func (st *Stage) run(ctx context.Context, name string, cmd *exec.Cmd, keeper bool, ready func() error) error {
	if StartMark(os.Getpid()) == "" {
		return errors.New("a drill starts and ends processes, which needs Linux or macOS; on Windows use WSL")
	}
	out, err := os.OpenFile(filepath.Join(st.Home, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the program has it
	cmd.Env, cmd.Stdout, cmd.Stderr = append(cmd.Env, Marker+st.Rec.Nonce), out, out
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the %s of the drill: %w", name, err)
	}
	// Before the others: the newest process of a drill is its apply.
	p := Process{PID: cmd.Process.Pid, Start: StartMark(cmd.Process.Pid)}
	if keeper {
		st.Rec.Keeper = &p
	}
	st.Rec.Processes = slices.Insert(st.Rec.Processes, 0, p)
	ended := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { ended <- err })
		ended <- cmd.Wait() // reaps it; ends with it, and Stop ends that
	}()
	if err := st.Save(); err != nil {
		return err
	}
	return st.Wait(ctx, "the "+name+" of the drill does not answer", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(out.Name())
			return false, fmt.Errorf("the %s of the drill ended at once: %v: %s", name, err, Tail(raw))
		default:
		}
		err := ready()
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
}
