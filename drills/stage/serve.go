package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"handrail/steps/fault"
)

// Writers is the program that plays those who write into a cluster.
func (st *Stage) Writers(ctx context.Context) (string, error) {
	if st.World == nil {
		return "", errors.New("this drill has no lab")
	}
	return st.World.Writers(ctx)
}

// Serve starts a role of that program, in a session of its own as a service that
// is not the trainee's, and returns its address and certificate when it listens.
func (st *Stage) Serve(ctx context.Context, role, dir string) (addr string, ca []byte, err error) {
	program, err := st.Writers(ctx)
	if err != nil {
		return "", nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, role+".log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = out.Close() }() // the program has it
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(program, role, "--dir", dir)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, []string{"HOME=" + st.Home, "PATH=" + os.Getenv("PATH"), Marker + st.Rec.Nonce}, out, out
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("starting the %s of the drill: %w", role, err)
	}
	// Before the others: the newest process of a drill is its apply.
	st.Rec.Processes = slices.Insert(st.Rec.Processes, 0, Process{PID: cmd.Process.Pid, Start: StartMark(cmd.Process.Pid)})
	ended := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { ended <- err })
		ended <- cmd.Wait() // reaps it; ends with it, and Stop ends that
	}()
	if err := st.Save(); err != nil {
		return "", nil, err
	}
	err = st.Wait(ctx, "the "+role+" of the drill does not listen", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(out.Name())
			return false, fmt.Errorf("the %s of the drill ended at once: %w: %s", role, err, Tail(raw))
		default:
		}
		raw, err := os.ReadFile(filepath.Join(dir, "address"))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		addr = string(raw)
		return err == nil, err
	})
	if err != nil {
		return "", nil, err
	}
	ca, err = os.ReadFile(filepath.Join(dir, "ca.crt"))
	return addr, ca, err
}

// Place makes a directory of the drill and writes into it what its program is to do.
func (st *Stage) Place(name, plan string, content any) (string, error) {
	dir := filepath.Join(st.Home, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, WriteJSON(filepath.Join(dir, plan), content)
}

// WriteJSON writes a file that only its owner reads.
func WriteJSON(path string, content any) error {
	raw, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o600)
}
