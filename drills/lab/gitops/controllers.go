package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"handrail/drills/lab"
)

// Controllers are those of one tool beside a lab.
type Controllers struct {
	Namespace string // where they live, and their objects where they are one of several

	home  *home
	plan  []lab.Process // in the order in which they start; the last ones at once
	first int           // how many of them the others find running

	mu      sync.Mutex
	running map[string]*lab.Server
}

// attempts is how often other ports are tried.
const attempts = 4

// run starts what processes says, anew with other ports where one was taken.
func (h *home) run(ctx context.Context, first int, processes func() ([]lab.Process, error)) (*Controllers, error) {
	for try := 1; ; try++ {
		plan, err := processes()
		if err != nil {
			return nil, err
		}
		c := &Controllers{Namespace: h.namespace, home: h, plan: plan, first: first, running: map[string]*lab.Server{}}
		err = c.startAll(ctx)
		if err == nil {
			return c, nil
		}
		if err = errors.Join(err, c.stopAll()); !errors.Is(err, lab.ErrPortTaken) || try == attempts {
			return nil, err
		}
	}
}

func (c *Controllers) startAll(ctx context.Context) error {
	for _, p := range c.plan[:c.first] {
		if err := c.start(ctx, p); err != nil {
			return err
		}
	}
	rest := c.plan[c.first:]
	errs := make([]error, len(rest))
	var wg sync.WaitGroup
	for i, p := range rest {
		wg.Go(func() { errs[i] = c.start(ctx, p) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *Controllers) start(ctx context.Context, p lab.Process) error {
	s, err := lab.Start(ctx, p)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[p.Name] = s
	return nil
}

// Names are those of the controllers, and of what they keep their cache in.
func (c *Controllers) Names() []string {
	var out []string
	for _, p := range c.plan {
		out = append(out, p.Name)
	}
	return out
}

// Stop kills one of them, as a lost Pod is.
func (c *Controllers) Stop(name string) error {
	c.mu.Lock()
	s := c.running[name]
	delete(c.running, name)
	c.mu.Unlock()
	if s == nil {
		return fmt.Errorf("%s does not run", name)
	}
	return s.Close()
}

// Start starts one that was stopped, where it was, and returns when it is ready.
func (c *Controllers) Start(ctx context.Context, name string) error {
	i := slices.IndexFunc(c.plan, func(p lab.Process) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("%q is none of %s", name, strings.Join(c.Names(), ", "))
	}
	return c.start(ctx, c.plan[i])
}

// PIDs are the processes that run, by name.
func (c *Controllers) PIDs() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	for name, s := range c.running {
		out[name] = s.PID()
	}
	return out
}

// Metrics is the URL of the metrics that one of them serves, "" where it serves none. A flag alone tells it: Argo CD
// serves its health beside them, Flux elsewhere.
func (c *Controllers) Metrics(name string) string {
	i := slices.IndexFunc(c.plan, func(p lab.Process) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	flags := map[string]string{}
	for n, arg := range c.plan[i].Args[:max(0, len(c.plan[i].Args)-1)] {
		flags[arg] = c.plan[i].Args[n+1]
	}
	switch {
	case flags["--metrics-addr"] != "":
		return "http://" + flags["--metrics-addr"] + "/metrics"
	case flags["--metrics-port"] != "":
		return "http://" + flags["--metrics-address"] + ":" + flags["--metrics-port"] + "/metrics"
	case flags["--metrics-address"] != "":
		return "http://" + flags["--metrics-address"] + "/metrics"
	}
	return ""
}

// Log is the end of what one of them said since it started, for the words of a failed test.
func (c *Controllers) Log(name string) string {
	const most = 4000
	i := slices.IndexFunc(c.plan, func(p lab.Process) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	raw, err := os.ReadFile((&lab.Server{Name: name, Dir: c.plan[i].Dir}).Log())
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-most):])
}

func (c *Controllers) stopAll() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for name, s := range c.running {
		errs = append(errs, s.Close())
		delete(c.running, name)
	}
	return errors.Join(errs...)
}

// Close ends them and removes their objects and their namespace; ctx bounds only the removal. The definitions stay.
func (c *Controllers) Close(ctx context.Context) error {
	return errors.Join(c.stopAll(), c.home.leave(ctx))
}
