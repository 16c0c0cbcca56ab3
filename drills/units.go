package drills

import (
	"bytes"
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

func readUnit(p parser, n *yaml.Node) action {
	f := p.Fields(n, "node.unit", "name", "account", "every", "title", "manager", "cron", "writes")
	u := unitOf{
		name: p.form(p.need(n, f, "name"), "name", idForm), account: p.form(p.need(n, f, "account"), "account", idForm),
		every: p.span(p.need(n, f, "every"), "every"), title: p.Text(f["title"], "title"),
		manager: p.Text(f["manager"], "manager"), cron: p.Flag(f["cron"], "cron"),
	}
	for _, item := range p.Items(p.need(n, f, "writes"), "writes") {
		g := p.Fields(item, "a write", "resource", "name", "patch", "from")
		w := fieldWrite{resource: p.writable(p.need(item, g, "resource")), name: p.form(p.need(item, g, "name"), "name", idForm)}
		if v := p.need(item, g, "patch"); v != nil {
			w.patch = p.value(v, "patch")
		}
		if g["from"] != nil {
			h := p.Fields(g["from"], "from", "resource", "name")
			w.from = &fieldWrite{resource: p.writable(p.need(g["from"], h, "resource")), name: p.form(p.need(g["from"], h, "name"), "name", idForm)}
		}
		u.writes = append(u.writes, w)
	}
	return u
}

// The places of a unit in the file tree of the node.
func (st *stage) rootDir() string { return filepath.Join(st.nodeDir(), "root") }
func (st *stage) unitFile(name string) string {
	return st.onNode("etc/systemd/system/" + name + ".service")
}
func (st *stage) cronFile(name string) string   { return st.onNode("etc/cron.d/" + name) }
func (st *stage) programDir(name string) string { return st.onNode("opt/." + name) }
func (st *stage) onNode(path string) string {
	return filepath.Join(st.rootDir(), filepath.FromSlash(path))
}
func inside(st *stage, path string) string { return strings.TrimPrefix(path, st.rootDir()) }
func (st *stage) unitRecord(name string) string {
	return filepath.Join(st.nodeDir(), "units", name+".json")
}
func (st *stage) nodeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// apply puts the program, its kubeconfig, its unit and its entry of cron on the
// node, and waits until it wrote.
func (u unitOf) apply(ctx context.Context, st *stage) error {
	st.say("a program on the node: %s", u.name)
	program, err := st.writers(ctx)
	if err != nil {
		return err
	}
	kubeconfig, err := st.account(u.account)
	if err != nil {
		return err
	}
	credentials, err := os.ReadFile(kubeconfig)
	if err != nil {
		return err
	}
	home := st.programDir(u.name)
	agent, config := filepath.Join(home, "agent"), filepath.Join(home, "kubeconfig")
	if err := st.nodeFile(config, string(credentials)); err != nil {
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
		one := write{Path: pathOfObject(writable()[w.resource], w.resource, st.rec.Namespace.Name, w.name), Patch: w.patch}
		if f := w.from; f != nil {
			one.From = pathOfObject(writable()[f.resource], f.resource, st.rec.Namespace.Name, f.name)
		}
		writes = append(writes, one)
	}
	manager := or(u.manager, u.name)
	if err := writeJSON(filepath.Join(home, "loop.json"), map[string]any{"kubeconfig": config, "every": u.every.String(), "agent": manager + "/1.4.2", "manager": manager, "writes": writes}); err != nil {
		return err
	}
	files := []string{st.unitFile(u.name)}
	if err := st.nodeFile(files[0], fmt.Sprintf("[Unit]\nDescription=%s\n[Service]\nExecStart=%s\nEnvironment=KUBECONFIG=%s\nRestart=always\nRestartSec=1\n[Install]\nWantedBy=multi-user.target\n",
		u.name, inside(st, agent), inside(st, config))); err != nil {
		return err
	}
	if u.cron {
		files = append(files, st.cronFile(u.name))
		if err := st.nodeFile(files[1], fmt.Sprintf("* * * * * root pgrep -f %[1]s >/dev/null || %[1]s\n", inside(st, agent))); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(st.unitRecord(u.name)), 0o700); err != nil {
		return err
	}
	if err := writeJSON(st.unitRecord(u.name), map[string]any{"program": agent, "title": or(u.title, inside(st, agent)), "dir": home, "files": files}); err != nil {
		return err
	}
	return st.wait(ctx, u.name+" on the node did not write", func() (bool, error) {
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

func readMask(p parser, n *yaml.Node) action {
	f := p.Fields(n, "node.mask", "name")
	return maskUnit{p.form(p.need(n, f, "name"), "name", idForm)}
}

// apply removes the entry of cron, masks the unit and waits until its process is
// gone, and the node reports it no more.
func (m maskUnit) apply(ctx context.Context, st *stage) error {
	st.say("on the node %s is masked", m.name)
	if err := os.Remove(st.cronFile(m.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(st.unitFile(m.name)); err != nil {
		return err
	}
	if err := os.Symlink(os.DevNull, st.unitFile(m.name)); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(st.programDir(m.name), "pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		return err
	}
	report := filepath.Join(st.nodeDir(), "reports", st.nodeName()+".report")
	return st.wait(ctx, m.name+" on the node did not end", func() (bool, error) {
		told, err := os.ReadFile(report)
		return startMark(pid) == "" && !bytes.Contains(told, []byte(m.name)), err
	})
}
