package cluster

import (
	"slices"
	"strings"

	"handrail/steps"
)

// shownFlags are those of the operator's flags that an equivalent command must
// repeat to reach the same cluster as the same user. A token or a password is
// not among them.
var shownFlags = []string{"--cluster=", "--user=", "--server=", "--as=", "--as-group=", "--as-uid=", "--tls-server-name=", "--proxy-url="}

// Kubectl is the command that a person could type instead, with the context
// written out: a colleague's `use-context` must not lead it elsewhere.
func (c *Client) Kubectl(namespace string, args ...string) string {
	out := []string{"kubectl"}
	if c.Env.Kubeconfig != "" {
		out = append(out, "--kubeconfig", steps.Quote(c.Env.Kubeconfig))
	}
	if c.Context != "" {
		out = append(out, "--context", steps.Quote(c.Context))
	}
	for _, f := range c.Env.Kubectl {
		if slices.ContainsFunc(shownFlags, func(p string) bool { return strings.HasPrefix(f, p) }) && !holdsPassword(f) {
			out = append(out, steps.Quote(f))
		}
	}
	if namespace != "" {
		out = append(out, "-n", steps.Quote(namespace))
	}
	for _, a := range args {
		out = append(out, steps.Quote(a))
	}
	return strings.Join(out, " ")
}

// holdsPassword tells an address such as http://user:password@proxy.
func holdsPassword(flag string) bool {
	_, value, _ := strings.Cut(flag, "=")
	_, rest, ok := strings.Cut(value, "://")
	host, _, _ := strings.Cut(rest, "/")
	return ok && strings.Contains(host, "@")
}
