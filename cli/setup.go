package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/steps/kube"
	"handrail/steps/terraform"
	"handrail/triage"
)

// session builds what an incident needs of the program around it. Nothing is
// asked of the network yet: the first screen waits for nothing.
func (p *program) session() (session.Config, error) {
	state, err := p.stateDir()
	if err != nil {
		return session.Config{}, err
	}
	c, err := p.keeper() // whoever writes a bundle, for a seal or an incident, redacts by the same rules
	if err != nil {
		return session.Config{}, err
	}
	env, err := p.stepEnv()
	if err != nil {
		return session.Config{}, err
	}
	if w := evidence.PlaceWarning(state); w != "" {
		fmt.Fprintf(p.stderr, "handrail: %s\n", safe(w))
	}
	c.Dir, c.Acts = filepath.Join(state, "incidents"), filepath.Join(state, "acts")
	c.Undo, c.UndoTo, c.UndoHelp = filepath.Join(state, "undo"), p.recipients, p.recipientsHelp()
	c.Execute = p.executor()
	c.Catalog, c.Library, c.Env, c.Actor = catalog.New(), p.runbook, env, p.actor(env.User)
	c.Rand, c.Secrets, c.Learned = rand.Reader, p.knownSecrets(), p.learn
	c.Second, c.Rules = p.secondPerson, p.rules
	c.Around = terraform.Placed
	c.Fragile = func(ctx context.Context) string { _, why := p.lasting(ctx); return why }
	c.Machine = func() session.Machine { return machineOf(env.Host) }
	c.Here, c.Server = machineAround, clusterAround
	k, err := clusterOf(env)
	switch {
	case errors.Is(err, kube.ErrNoCluster) && !p.named():
		c.Header = append(c.Header, steps.KV{Key: "cluster", Value: "none"})
	case err != nil:
		// A probe that needs the cluster will say the same and record it; an
		// incident must be able to start all the same.
		trouble := p.troubled(err)
		tell(p.stderr, trouble)
		c.Header = append(c.Header, steps.KV{Key: "cluster", Value: "unknown: " + trouble.Error()})
	default:
		c.Header = append(c.Header, steps.KV{Key: "cluster", Value: k.name()},
			steps.KV{Key: "namespace", Value: k.Namespace})
		c.Identify = whoActs
		c.Env.Context = k.Context // by its name: another one may become current meanwhile
	}
	c.Header = append(c.Header, steps.KV{Key: "host", Value: env.Host})
	return c, nil
}

// actor is who is at the keyboard as far as the operating system knows. The API
// server may know better, and is asked beside.
func (p *program) actor(name string) triage.Person {
	return triage.Person{ID: name, Name: name, Proof: "os", Subject: name}
}

func (p *program) stepEnv() (steps.Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return steps.Env{}, fmt.Errorf("working directory: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return steps.Env{
		Dir: dir, Environ: p.environ, Home: p.home(), User: p.user(), Host: host, Now: p.now,
		Kubeconfig: p.kubeconfig, Context: p.context, Namespace: p.namespace, Kubectl: p.kubectl,
		Tool: p.tool, Trusted: p.checkTrust, Protected: p.protectedMarkers,
		// An incident gives its requests Audit-IDs of its bundle; elsewhere the
		// server makes its own.
		Audit: func() string { return "" },
	}, nil
}

func (p *program) user() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := p.getenv("USER"); name != "" {
		return name
	}
	return fmt.Sprintf("uid-%d", os.Getuid())
}

// tool finds a program. tofu and terraform stand for each other where only one is
// there; what --program names is the one for both.
func (p *program) tool(name string) (string, error) {
	if path, ok := p.tools[name]; ok {
		return path, nil
	}
	names := []string{name}
	switch {
	case name != "tofu" && name != "terraform":
	case p.tofu == "tofu" || p.tofu == "terraform":
		names = []string{p.tofu}
	case p.tofu != "":
		path, err := filepath.Abs(p.tofu)
		if err == nil {
			err = runnable(path)
		}
		if err != nil {
			return "", fmt.Errorf("--program: %w", err)
		}
		return path, nil
	case name == "tofu":
		names = []string{"tofu", "terraform"}
	default:
		names = []string{"terraform", "tofu"}
	}
	path := p.getenv("PATH")
	for _, n := range names {
		for _, dir := range filepath.SplitList(path) {
			// An empty or relative entry means the working directory, where a
			// stranger's clone may have put anything.
			if full := filepath.Join(dir, n); filepath.IsAbs(dir) && runnable(full) == nil {
				return full, nil
			}
		}
	}
	return "", fmt.Errorf("%w: none in a directory of PATH (%s); install it or name it with --program",
		errNoTool(names), path)
}

func errNoTool(names []string) error {
	return fmt.Errorf("no %s: %w", strings.Join(names, " or "), exec.ErrNotFound)
}

func runnable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%q is not a program", path)
	}
	return nil
}

// library returns the runbooks of the program, by id.
func (p *program) library() ([]*runbooks.Runbook, error) { return runbooks.Library(catalog.New()) }

// runbook finds one runbook by its id.
func (p *program) runbook(id string) (*runbooks.Runbook, error) {
	list, err := p.library()
	if err != nil {
		return nil, err
	}
	next := "see `handrail runbook list`"
	for _, rb := range list {
		if rb.ID == id {
			return rb, rb.Check()
		}
		if near(id, rb.ID) {
			next = "did you mean " + rb.ID + "?"
		}
	}
	return nil, usage(next, "there is no runbook %q", id)
}

// near reports whether a was probably meant to be b: one contains the other, or
// they share a long beginning.
func near(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return len(a) > 2 && (strings.Contains(b, a) || strings.Contains(a, b) || n >= max(4, len(b)/2))
}

// bound is a runbook with the parameters of the -p flags.
func (p *program) bound(id string, pairs []string) (*runbooks.Runbook, steps.Params, error) {
	rb, err := p.runbook(id)
	if err != nil {
		return nil, nil, err
	}
	given := map[string]string{}
	for _, kv := range pairs {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, nil, usage("write -p name=value", "parameter %q has no value", kv)
		}
		given[name] = value
	}
	params, err := rb.Bind(given)
	if err != nil {
		return nil, nil, usage("see `handrail runbook show "+rb.ID+"`", "%w", err)
	}
	return rb, params, nil
}

// find returns the path of a bundle: a path as given, or the id of an incident,
// or a beginning of an id that only one has.
func (p *program) find(name string) (string, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return filepath.Abs(name)
	}
	if info, err := os.Stat(name + ".hrb"); err == nil && info.IsDir() {
		return filepath.Abs(name + ".hrb")
	}
	dir, err := p.incidents()
	if err != nil {
		return "", err
	}
	rows, err := p.rows()
	if err != nil {
		return "", err
	}
	var hits []string
	for _, r := range rows {
		base := strings.TrimSuffix(filepath.Base(r.Path), ".hrb")
		if base == name {
			return r.Path, nil
		}
		if strings.HasPrefix(base, name) {
			hits = append(hits, r.Path)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return "", usage("see `handrail bundle list`", "there is no bundle %q, neither as a path nor in %q", name, dir)
	}
	return "", usage("give more of the id", "%d incidents begin with %q", len(hits), name)
}
