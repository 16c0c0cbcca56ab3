package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"handrail/cli/process"
)

// An act in a session of its own outlives its terminal. What ends a login session,
// a service or a container as a whole ends all processes of it, those as well; only
// the service manager can take one out.

// around is what stands around the processes of handrail.
type around struct {
	container bool   // in one: nothing leaves it
	systemd   bool   // it is the service manager
	root      bool   // may ask it for a scope of the system
	lingers   bool   // the manager of the user outlives the logins
	kept      bool   // logind is known to leave the processes of a login alone
	unit      string // of systemd, which this process is in: session-3.scope, user@1000.service, cron.service
	run       string // path of systemd-run, "" where there is none
}

// scope is how systemd-run is asked to take an act out, nil where it cannot. A
// scope of a user without lingering would end with the last login, which the
// processes of the login itself need not.
func (a around) scope() []string {
	if a.container || !a.systemd || a.run == "" {
		return nil
	}
	ask := []string{a.run, "--scope", "--collect", "--quiet", "--description=an act of handrail"}
	switch {
	case a.root:
		return append(ask, "--slice=system.slice", "--")
	case a.lingers:
		return append(ask, "--user", "--")
	}
	return nil
}

// fragile says what ends an act that cannot be taken out, "" for nothing.
func (a around) fragile() string {
	switch {
	case a.container:
		return "handrail runs in a container, and the end of that ends the act: keep it until the act has ended"
	case !a.systemd:
		return "" // nothing here ends a session by its processes
	case a.login() && a.kept:
		return ""
	case a.login():
		return "the end of this login may end the act: stay logged in until it has ended, or run `loginctl enable-linger` once before the next"
	case a.unit == "":
		return "what ends the processes of handrail may end the act: which unit of systemd they are in cannot be read"
	case strings.HasPrefix(a.unit, "user@"):
		return "the end of the last login ends the act: stay logged in until it has ended, or run `loginctl enable-linger` once before the next"
	}
	return fmt.Sprintf("the end of %s ends the act: keep it running until the act has ended", a.unit)
}

func (a around) login() bool {
	return strings.HasPrefix(a.unit, "session-") && strings.HasSuffix(a.unit, ".scope")
}

// unitOf is the unit in a line of /proc/self/cgroup that systemd made, the outermost
// below its slices.
func unitOf(cgroup string) string {
	for line := range strings.Lines(cgroup) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(path, "/") {
			if strings.HasSuffix(part, ".scope") || strings.HasSuffix(part, ".service") {
				return part
			}
		}
	}
	return ""
}

// scopeTime bounds a question to the service manager.
const scopeTime = 5 * time.Second

// lasting is how an act is taken out of what may end before it, and why it is not.
func lasting(ctx context.Context, p *process.Program) (scope []string, fragile string) {
	a := lookAround(ctx, p)
	scope = a.scope()
	if scope == nil {
		return nil, a.fragile()
	}
	ctx, cancel := context.WithTimeout(ctx, scopeTime)
	defer cancel()
	try := exec.CommandContext(ctx, scope[0], append(scope[1:], "true")...)
	try.Env = p.Environ
	if err := try.Run(); err != nil { // an act is not tried where a scope cannot be had
		if why := a.fragile(); why != "" {
			return nil, why + " (systemd-run gives no scope: " + err.Error() + ")"
		}
		return nil, ""
	}
	return scope, ""
}

// checkLasting says whether an act outlives what handrail was started from.
func checkLasting(ctx context.Context, p *process.Program) process.Check {
	const name = "acts that last"
	scope, fragile := lasting(ctx, p)
	switch {
	case fragile != "":
		return process.Check{Name: name, State: "missing", Detail: fragile, Next: "each gate says so as well; what became of an act that was cut off is found out by `handrail resume`"}
	case scope != nil:
		return process.Check{Name: name, State: "ok", Detail: "each act gets a scope of systemd, which no login ends"}
	}
	return process.Check{Name: name, State: "ok", Detail: "the end of a login does not end an act"}
}
