package inject

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"handrail/drills/stage"
)

// unitOf is the verb node.unit: a program on the node that Kubernetes knows
// nothing of, and that writes the same fields again and again.
type unitOf struct {
	Name    string        `key:"name,required" as:"id"`
	Account string        `key:"account,required" as:"id"`
	Every   time.Duration `key:"every,required"`
	Title   string        `key:"title"`
	Manager string        `key:"manager"`
	Cron    bool          `key:"cron"`
	Writes  []fieldWrite  `key:"writes,required" of:"a write"`
}

type fieldWrite struct {
	objectField
	Patch any          `key:"patch,required" as:"json"`
	From  *objectField `key:"from"` // whose values the patch takes over, as @/data/host
}

// objectField names the object of a write.
type objectField struct {
	Resource string `key:"resource,required" as:"writable"`
	Name     string `key:"name,required" as:"id"`
}

func unitFile(st *stage.Stage, name string) string {
	return onNode(st, "etc/systemd/system/"+name+".service")
}
func cronFile(st *stage.Stage, name string) string   { return onNode(st, "etc/cron.d/"+name) }
func programDir(st *stage.Stage, name string) string { return onNode(st, "opt/."+name) }
func onNode(st *stage.Stage, path string) string {
	return filepath.Join(st.RootDir(), filepath.FromSlash(path))
}
func inside(st *stage.Stage, path string) string { return strings.TrimPrefix(path, st.RootDir()) }
func unitRecord(st *stage.Stage, name string) string {
	return filepath.Join(st.NodeDir(), "units", name+".json")
}
func nodeFile(st *stage.Stage, path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// apply puts the program, its kubeconfig, its unit and its entry of cron on the
// node, and waits until it wrote.
func (u unitOf) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a program on the node: %s", u.Name)
	program, err := st.Writers(ctx)
	if err != nil {
		return err
	}
	kubeconfig, err := st.Account(u.Account)
	if err != nil {
		return err
	}
	credentials, err := os.ReadFile(kubeconfig)
	if err != nil {
		return err
	}
	home := programDir(st, u.Name)
	agent, config := filepath.Join(home, "agent"), filepath.Join(home, "kubeconfig")
	if err := nodeFile(st, config, string(credentials)); err != nil {
		return err
	}
	if err := copyFile(program, agent); err != nil {
		return err
	}
	type write struct {
		Path  string `json:"path"`
		Patch any    `json:"patch"`
		From  string `json:"from,omitempty"`
	}
	var writes []write
	for _, w := range u.Writes {
		one := write{Path: PathOfObject(Writable()[w.Resource], w.Resource, st.Rec.Namespace.Name, w.Name), Patch: w.Patch}
		if f := w.From; f != nil {
			one.From = PathOfObject(Writable()[f.Resource], f.Resource, st.Rec.Namespace.Name, f.Name)
		}
		writes = append(writes, one)
	}
	manager := cmp.Or(u.Manager, u.Name)
	if err := stage.WriteJSON(filepath.Join(home, "loop.json"), map[string]any{"kubeconfig": config, "every": u.Every.String(), "agent": manager + "/1.4.2", "manager": manager, "writes": writes}); err != nil {
		return err
	}
	files := []string{unitFile(st, u.Name)}
	if err := nodeFile(st, files[0], fmt.Sprintf("[Unit]\nDescription=%s\n[Service]\nExecStart=%s\nEnvironment=KUBECONFIG=%s\nRestart=always\nRestartSec=1\n[Install]\nWantedBy=multi-user.target\n",
		u.Name, inside(st, agent), inside(st, config))); err != nil {
		return err
	}
	if u.Cron {
		files = append(files, cronFile(st, u.Name))
		if err := nodeFile(st, files[1], fmt.Sprintf("* * * * * root pgrep -f %[1]s >/dev/null || %[1]s\n", inside(st, agent))); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(unitRecord(st, u.Name)), 0o700); err != nil {
		return err
	}
	if err := stage.WriteJSON(unitRecord(st, u.Name), map[string]any{"program": agent, "title": cmp.Or(u.Title, inside(st, agent)), "dir": home, "files": files}); err != nil {
		return err
	}
	return st.Wait(ctx, u.Name+" on the node did not write", func() (bool, error) {
		_, err := os.Stat(filepath.Join(home, "wrote"))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
}

func copyFile(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o700)
}

// maskUnit is the verb node.mask: what an administrator does on the node who knows what to
// look for.
type maskUnit struct {
	Name string `key:"name,required" as:"id"`
}

// apply removes the entry of cron, masks the unit and waits until its process is
// gone, and the node reports it no more.
func (m maskUnit) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("on the node %s is masked", m.Name)
	if err := os.Remove(cronFile(st, m.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(unitFile(st, m.Name)); err != nil {
		return err
	}
	if err := os.Symlink(os.DevNull, unitFile(st, m.Name)); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(programDir(st, m.Name), "pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		return err
	}
	report := filepath.Join(st.NodeDir(), "reports", st.NodeName()+".report")
	return st.Wait(ctx, m.Name+" on the node did not end", func() (bool, error) {
		told, err := os.ReadFile(report)
		return stage.StartMark(pid) == "" && !bytes.Contains(told, []byte(m.Name)), err
	})
}
