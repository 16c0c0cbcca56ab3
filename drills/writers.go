package drills

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

	"handrail/drills/lab"
	"handrail/steps/fault"
)

// program is the one that plays those who write into a cluster.
func (st *stage) writers(ctx context.Context) (string, error) {
	if st.world == nil {
		return "", errors.New("this drill has no lab")
	}
	return st.world.Writers(ctx)
}

// serves starts a role of that program, in a session of its own as a service that
// is not the trainee's, and returns its address and certificate when it listens.
func (st *stage) serves(ctx context.Context, role, dir string) (addr string, ca []byte, err error) {
	program, err := st.writers(ctx)
	if err != nil {
		return "", nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, role+".log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", nil, err
	}
	defer out.Close()
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(program, role, "--dir", dir)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, []string{"HOME=" + st.home, "PATH=" + os.Getenv("PATH"), marker + st.rec.Nonce}, out, out
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("starting the %s of the drill: %w", role, err)
	}
	// Before the others: the newest process of a drill is its apply.
	st.rec.Processes = slices.Insert(st.rec.Processes, 0, process{PID: cmd.Process.Pid, Start: startMark(cmd.Process.Pid)})
	ended := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { ended <- err })
		ended <- cmd.Wait() // reaps it; ends with it, and Stop ends that
	}()
	if err := st.save(); err != nil {
		return "", nil, err
	}
	err = st.wait(ctx, "the "+role+" of the drill does not listen", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(out.Name())
			return false, fmt.Errorf("the %s of the drill ended at once: %w: %s", role, err, last(raw))
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

// place makes a directory of the drill and writes into it what its program is to do.
func (st *stage) place(name, plan string, content any) (string, error) {
	dir := filepath.Join(st.home, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, writeJSON(filepath.Join(dir, plan), content)
}

func writeJSON(path string, content any) error {
	raw, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o600)
}

// account returns the kubeconfig of an account that the drill has made.
func (st *stage) account(name string) (string, error) {
	path, ok := st.rec.Accounts[name]
	if !ok {
		return "", fmt.Errorf("the drill has no account %q: begin with kube.account", name)
	}
	return path, nil
}

// admit makes an account of the drill.
func (st *stage) admit(ctx context.Context, name string, inside, wide []lab.Rule) error {
	if name != nameRobot && name != nameOperator && st.rec.Accounts[name] == "" {
		_, file, err := st.world.Account(ctx, st.rec.Namespace.Name, name)
		if err != nil {
			return err
		}
		if st.rec.Accounts == nil {
			st.rec.Accounts = map[string]string{}
		}
		st.rec.Accounts[name] = file
		if err := st.save(); err != nil {
			return err
		}
	}
	for _, grant := range []struct {
		wide  bool
		rules []lab.Rule
	}{{false, inside}, {true, wide}} {
		if len(grant.rules) == 0 {
			continue
		}
		title, err := randomHex(3) // several grants to one account
		if err != nil {
			return err
		}
		if err := st.world.Allow(ctx, st.rec.Namespace.Name, name, title, grant.wide, grant.rules); err != nil {
			return err
		}
	}
	return nil
}
