package kube

import (
	"net/url"
	"slices"
	"strings"

	"handrail/steps"
)

// shownFlags are those of the operator's flags that an equivalent command must
// repeat to reach the same cluster as the same user. A token or a password is
// not among them.
var shownFlags = []string{"--cluster=", "--user=", "--server=", "--as=", "--as-group=", "--as-uid=", "--tls-server-name=", "--proxy-url="}

// withoutPassword keeps the password of a proxy off the screen.
func withoutPassword(flag string) string {
	name, value, _ := strings.Cut(flag, "=")
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return name + "=" + u.Redacted()
	}
	return flag
}

// kubectl is the command that a person could type instead, with the context
// written out: a colleague's `use-context` must not lead it elsewhere.
func (c *client) kubectl(namespace string, args ...string) string {
	out := []string{"kubectl"}
	if c.env.Kubeconfig != "" {
		out = append(out, "--kubeconfig", steps.Quote(c.env.Kubeconfig))
	}
	if c.Context != "" {
		out = append(out, "--context", steps.Quote(c.Context))
	}
	for _, f := range c.env.Kubectl {
		f = withoutPassword(f)
		if slices.ContainsFunc(shownFlags, func(p string) bool { return strings.HasPrefix(f, p) }) {
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
