package holder

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
)

// Whether the kernel proves that a holder is gone. "Dead" says that it would have
// been seen here; the proof says besides that it was here: a name of a host alone is
// not this machine. It lifts the age that a lock must have, so that it is strict.

// commonHosts are names that many machines have without being given one.
var commonHosts = []string{
	"localhost", "ubuntu", "debian", "fedora", "centos", "rocky", "alma", "almalinux", "rhel", "alpine", "archlinux", "arch", "manjaro", "nixos", "kali", "linux", "linuxkit",
	"raspberrypi", "vagrant", "docker", "docker-desktop", "buildkitsandbox", "runner", "build", "builder", "ci", "host", "server", "vm", "desktop", "laptop", "workstation", "dev", "devbox", "codespace",
}

// jobs are variables by which a CI system or a cluster tells a job that it is one: it
// gives the names of its machines out again.
var jobs = []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "KUBERNETES_SERVICE_HOST"}

// privateAddress is a name that clouds make of an address, which other networks have too.
var privateAddress = regexp.MustCompile(`^(ip|ec2|host|vm|node)-?\d+-\d+-\d+-\d+$`)

// prove says how the kernel proves that the holder is gone, or why it does not.
func (r Scan) prove(g *ground, rest []Process) (proof, why string) {
	alive, unknown := r.Verdict(g.s.Who)
	host := backend.HostOf(g.s.Who)
	short, _, _ := strings.Cut(strings.ToLower(host), ".")
	switch {
	case unknown != "":
		return "", unknown
	case alive != "dead":
		return "", "it is alive"
	case slices.Contains(commonHosts, short), privateAddress.MatchString(short):
		return "", fmt.Sprintf("%q is a name that other machines have too", host)
	case g.s.Created.IsZero():
		return "", "the lock does not say when it was taken"
	case !g.s.Created.After(g.t.boot.Add(backend.SkewTolerance)):
		return "", fmt.Sprintf("this machine started at %s, after the lock was taken: then another one may have had its name", g.t.boot.UTC().Format(time.RFC3339))
	case g.env.Now != nil && g.s.Created.After(g.env.Now()):
		return "", "by the clock of this machine the lock was taken in the future"
	case !g.t.whole():
		return "", "this is a container, and another one may have its name"
	case slices.ContainsFunc(jobs, func(name string) bool { return g.env.Getenv(name) != "" }):
		return "", "handrail runs in a job here, and the machines of jobs share their names"
	}
	for _, p := range rest {
		if !sitter(p) && g.works(p) {
			return "", fmt.Sprintf("process %d works in the directory (%s), and may be a tofu under another name", p.PID, shortArgs(p))
		}
	}
	return fmt.Sprintf("it ran on this machine, which has been up since %s; all %d processes here were seen, and none of the run is among them",
		g.t.boot.UTC().Format(time.RFC3339), len(g.t.all)), ""
}

// whole reports whether this is the PID namespace of the machine itself.
func (t procTable) whole() bool {
	ns, err := os.Readlink(filepath.Join(t.root, "self", "ns", "pid"))
	return err == nil && ns == initialPID
}

// Elsewhere reports whether the holder is known to run on another machine.
func (r Scan) Elsewhere() bool { return r.HereWhy == "" && !r.Here }

// maybeHere says why the machine of a holder may be this one under another name, ""
// where it is another one. It matters where the process table cannot be read: a
// laptop changes its name with the network, and a holder that is here is not seen.
func maybeHere(env steps.Env, who string) string {
	host := backend.HostOf(who)
	there, _, _ := strings.Cut(strings.ToLower(host), ".")
	here, _, _ := strings.Cut(strings.ToLower(env.Host), ".")
	user := backend.UserOf(who)
	switch {
	case here == "":
		return "the name of this machine is not known"
	case there == here:
		return fmt.Sprintf("the holder ran on %q, which may be this machine (%q)", host, env.Host)
	case user == "" || strings.EqualFold(user, env.User):
		return fmt.Sprintf("the holder is %q, and %q may be another name of this machine", who, host)
	}
	return ""
}
