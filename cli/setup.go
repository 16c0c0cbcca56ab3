package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/claim"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/steps/cluster"
	"handrail/steps/terraform/module"
)

// newConfig builds what an incident needs of the program around it. Nothing is
// asked of the network yet: the first screen waits for nothing.
func newConfig(p *process.Program) (session.Config, error) {
	state, err := p.StateDir()
	if err != nil {
		return session.Config{}, err
	}
	c, err := bundle.Keeper(p) // a seal and an incident redact by the same rules
	if err != nil {
		return session.Config{}, err
	}
	env, err := stepEnv(p)
	if err != nil {
		return session.Config{}, err
	}
	if w := evidence.PlaceWarning(state); w != "" {
		fmt.Fprintf(p.Stderr, "handrail: %s\n", process.Safe(w))
	}
	c.Dir, c.Acts = filepath.Join(state, "incidents"), filepath.Join(state, "acts")
	c.Undo, c.UndoHelp = filepath.Join(state, "undo"), settings.RecipientsHelp(p)
	c.UndoTo = func() ([]string, error) { return settings.Recipients(p) }
	c.Execute = executor(p)
	c.Catalog, c.Env, c.Actor = catalog.New(), env, p.Actor(env.User)
	c.Library = func(id string) (*runbooks.Runbook, error) { return settings.Runbook(p, id) }
	c.Rand, c.Secrets, c.Learned = rand.Reader, settings.KnownSecrets(p), p.Learn
	c.Second = func(ctx context.Context, of policy.Question) (*policy.Pair, error) {
		return settings.SecondPerson(ctx, p, of)
	}
	c.Rules = func() []steps.KV { return settings.Rules(p) }
	c.Around = module.Placed
	c.Fragile = func(ctx context.Context) string { _, why := lasting(ctx, p); return why }
	c.Machine = func() claim.Machine { return process.MachineOf(env.Host) }
	c.Here, c.Server = machineAround, clusterAround
	k, err := clusterOf(env)
	about, unsure := "", error(nil)
	switch {
	case errors.Is(err, cluster.ErrNoCluster) && !p.Named():
		c.Header = append(c.Header, steps.KV{Key: "cluster", Value: "none"})
	case err != nil:
		// A probe that needs the cluster will say the same and record it; an
		// incident must be able to start all the same.
		trouble := p.Troubled(err)
		process.Tell(p.Stderr, trouble)
		unsure = trouble
		c.Header = append(c.Header, steps.KV{Key: "cluster", Value: "unknown: " + trouble.Error()})
	default:
		c.Header = append(c.Header, steps.KV{Key: "cluster", Value: k.name()},
			steps.KV{Key: "namespace", Value: k.Namespace})
		c.Identify = whoActs
		about = k.Context
		c.Env.Context = k.Context // by its name: another one may become current meanwhile
	}
	c.Header = append(c.Header, steps.KV{Key: "host", Value: env.Host})
	c.ReadOnly = func(q policy.Question) policy.Closed { return settings.ReadOnly(p, about, unsure, q) }
	return c, nil
}

// tellReadOnly says before an incident is opened that nothing can be changed in it.
func tellReadOnly(p *process.Program, c session.Config) {
	if why := c.ReadOnly(policy.Question{}); why.By != "" && !p.Drawing {
		fmt.Fprintf(p.Stderr, "handrail: READ-ONLY, no gate opens: %s\n", process.Safe(why.Why))
	}
}

// stepEnv is what a step may know of the world, the trust of directories included.
func stepEnv(p *process.Program) (steps.Env, error) {
	env, err := p.Env()
	env.Trusted, env.Protected = func(a string) error { return checkTrust(p, a) }, func() ([]steps.Marker, error) { return settings.ProtectedMarkers(p) }
	env.Passed = func() ([]steps.Passed, error) { return settings.Variables(p) }
	env.Known, env.TrustedRunbook = func(dir string) error { return everTrusted(p, dir) }, func(digest string) error { return settings.TrustedText(p, digest) }
	return env, err
}
