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

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

// unitOf is the verb node.unit: a program on the node that Kubernetes knows
// nothing of, and that writes the same fields again and again.
type unitOf struct {
	name, account, title, manager string
	every                         time.Duration
	cron                          bool
	writes                        []fieldWrite
}

type fieldWrite struct {
	resource, name string
	patch          any
	from           *fieldWrite // whose values the patch takes over, as @/data/host
}

func readUnit(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "node.unit", "name", "account", "every", "title", "manager", "cron", "writes")
	u := unitOf{
		name: p.Form(p.Need(n, f, "name"), "name", IDForm), account: p.Form(p.Need(n, f, "account"), "account", IDForm),
		every: p.span(p.Need(n, f, "every"), "every"), title: p.Text(f["title"], "title"),
		manager: p.Text(f["manager"], "manager"), cron: p.Flag(f["cron"], "cron"),
	}
	for _, item := range p.Items(p.Need(n, f, "writes"), "writes") {
		g := p.Fields(item, "a write", "resource", "name", "patch", "from")
		w := fieldWrite{resource: p.writable(p.Need(item, g, "resource")), name: p.Form(p.Need(item, g, "name"), "name", IDForm)}
		if v := p.Need(item, g, "patch"); v != nil {
			w.patch = p.value(v, "patch")
		}
		if g["from"] != nil {
			h := p.Fields(g["from"], "from", "resource", "name")
			w.from = &fieldWrite{resource: p.writable(p.Need(g["from"], h, "resource")), name: p.Form(p.Need(g["from"], h, "name"), "name", IDForm)}
		}
		u.writes = append(u.writes, w)
	}
	return u
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
	st.Say("a program on the node: %s", u.name)
	program, err := st.Writers(ctx)
	if err != nil {
		return err
	}
	kubeconfig, err := st.Account(u.account)
	if err != nil {
		return err
	}
	credentials, err := os.ReadFile(kubeconfig)
	if err != nil {
		return err
	}
	home := programDir(st, u.name)
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
	for _, w := range u.writes {
		one := write{Path: PathOfObject(Writable()[w.resource], w.resource, st.Rec.Namespace.Name, w.name), Patch: w.patch}
		if f := w.from; f != nil {
			one.From = PathOfObject(Writable()[f.resource], f.resource, st.Rec.Namespace.Name, f.name)
		}
		writes = append(writes, one)
	}
	manager := cmp.Or(u.manager, u.name)
	if err := stage.WriteJSON(filepath.Join(home, "loop.json"), map[string]any{"kubeconfig": config, "every": u.every.String(), "agent": manager + "/1.4.2", "manager": manager, "writes": writes}); err != nil {
		return err
	}
	files := []string{unitFile(st, u.name)}
	if err := nodeFile(st, files[0], fmt.Sprintf("[Unit]\nDescription=%s\n[Service]\nExecStart=%s\nEnvironment=KUBECONFIG=%s\nRestart=always\nRestartSec=1\n[Install]\nWantedBy=multi-user.target\n",
		u.name, inside(st, agent), inside(st, config))); err != nil {
		return err
	}
	if u.cron {
		files = append(files, cronFile(st, u.name))
		if err := nodeFile(st, files[1], fmt.Sprintf("* * * * * root pgrep -f %[1]s >/dev/null || %[1]s\n", inside(st, agent))); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(unitRecord(st, u.name)), 0o700); err != nil {
		return err
	}
	if err := stage.WriteJSON(unitRecord(st, u.name), map[string]any{"program": agent, "title": cmp.Or(u.title, inside(st, agent)), "dir": home, "files": files}); err != nil {
		return err
	}
	return st.Wait(ctx, u.name+" on the node did not write", func() (bool, error) {
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

// maskUnit is the verb node.mask: what somebody does on the node who knows what to
// look for.
type maskUnit struct{ name string }

func readMask(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "node.mask", "name")
	return maskUnit{p.Form(p.Need(n, f, "name"), "name", IDForm)}
}

// apply removes the entry of cron, masks the unit and waits until its process is
// gone, and the node reports it no more.
func (m maskUnit) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("on the node %s is masked", m.name)
	if err := os.Remove(cronFile(st, m.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(unitFile(st, m.name)); err != nil {
		return err
	}
	if err := os.Symlink(os.DevNull, unitFile(st, m.name)); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(programDir(st, m.name), "pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		return err
	}
	report := filepath.Join(st.NodeDir(), "reports", st.NodeName()+".report")
	return st.Wait(ctx, m.name+" on the node did not end", func() (bool, error) {
		told, err := os.ReadFile(report)
		return stage.StartMark(pid) == "" && !bytes.Contains(told, []byte(m.name)), err
	})
}
