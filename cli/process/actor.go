package process

import (
	"fmt"
	"os"
	"os/user"

	"handrail/steps"
	"handrail/triage"
)

// Actor is who is at the keyboard as far as the operating system knows. The API
// server may know better, and is asked beside.
func (p *Program) Actor(name string) triage.Person {
	return triage.Person{ID: name, Name: name, Proof: "os", Subject: name}
}

func (p *Program) User() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := p.Getenv("USER"); name != "" {
		return name
	}
	return fmt.Sprintf("uid-%d", os.Getuid())
}

// Env is what a step may know of the world, less what the operator's settings and
// trust say of it.
func (p *Program) Env() (steps.Env, error) {
	dir, err := p.WorkDir()
	if err != nil {
		return steps.Env{}, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	self, err := os.Executable()
	if err != nil {
		self = "" // what it would be started for says so
	}
	return steps.Env{
		Self: self, Dir: dir, Environ: p.Environ, Home: p.Home(), User: p.User(), Host: host, Now: p.Now,
		Kubeconfig: p.Kubeconfig, Context: p.Context, Namespace: p.Namespace, Kubectl: p.Kubectl, Tool: p.Tool,
		// An incident gives its requests Audit-IDs of its bundle; elsewhere the
		// server makes its own.
		Audit: func() string { return "" },
	}, nil
}
