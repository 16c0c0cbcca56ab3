package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"handrail/cli/process"
)

// lookAround looks at what stands around this process. What cannot be seen counts as
// what ends an act.
func lookAround(ctx context.Context, p *process.Program) around {
	there := func(name string) bool { _, err := os.Stat(name); return err == nil }
	a := around{
		container: p.Getenv("container") != "" || p.Getenv("KUBERNETES_SERVICE_HOST") != "" || there("/.dockerenv") || there("/run/.containerenv"),
		systemd:   there("/run/systemd/system"), root: os.Geteuid() == 0,
		lingers: there(filepath.Join("/var/lib/systemd/linger", filepath.Base(p.User()))),
	}
	if a.container || !a.systemd {
		return a
	}
	if b, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		a.unit = unitOf(string(b))
	}
	// Not from the PATH: what runs here gets an act into its hands.
	program := func(name string) string {
		for _, dir := range []string{"/usr/bin", "/bin"} {
			if path := filepath.Join(dir, name); there(path) {
				return path
			}
		}
		return ""
	}
	a.run = program("systemd-run")
	bus := program("busctl")
	if bus == "" {
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, scopeTime)
	defer cancel()
	ask := exec.CommandContext(ctx, bus, "get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "KillUserProcesses")
	ask.Env = p.Environ
	said, err := ask.Output()
	a.kept = err == nil && strings.TrimSpace(string(said)) == "b false"
	return a
}
