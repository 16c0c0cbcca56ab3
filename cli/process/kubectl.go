package process

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Reach is what the command line says of the cluster, the user and the
// namespace. A drill has its own.
type Reach struct {
	Kubeconfig string
	Context    string
	Namespace  string
	Kubectl    []string // kubectl's other flags that were given, each as --name=value
}

// flagTexts say what each flag of kubectl means. Those of common stand in every
// help, the others in a topic of their own.
var (
	common    = []string{"context", "namespace"}
	flagTexts = map[string]string{
		"as":                       "act as this `user`, by impersonation",
		"as-group":                 "act as a member of this `group`; may be repeated",
		"as-uid":                   "act as the user with this `uid`",
		"certificate-authority":    "`file` of the authority that signed the server's certificate",
		"client-certificate":       "`file` of the user's certificate",
		"client-key":               "`file` of the user's key",
		"cluster":                  "`name` of the kubeconfig cluster",
		"context":                  "`name` of the kubeconfig context",
		"disable-compression":      "ask the server not to compress its answers",
		"insecure-skip-tls-verify": "trust any certificate, which leaves the connection open to interception",
		"namespace":                "`namespace` to look in",
		"password":                 "`password` of the user",
		"proxy-url":                "`address` of a proxy: http, https or socks5",
		"request-timeout":          "longest `time` for one request, such as 10s; 0 for the usual",
		"server":                   "`address` of the API server",
		"tls-server-name":          "`name` that the server's certificate must have",
		"token":                    "bearer `token` of the user",
		"user":                     "`name` of the kubeconfig user",
		"username":                 "`name` of the user, for a password",
	}
)

// ClusterFlags gives root the flags of kubectl. All but a few are left out of
// the help of each command; a topic of their own lists them.
func (p *Program) ClusterFlags(root *cobra.Command) {
	fs := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	cluster.Flags(fs)
	fs.StringVar(&p.Kubeconfig, "kubeconfig", "", "kubeconfig `file` to use instead of the usual rules")
	fs.VisitAll(func(f *pflag.Flag) {
		if text, ok := flagTexts[f.Name]; ok {
			f.Usage = text
		}
		if f.Value.Type() == "string" {
			f.DefValue = "" // said in words
		}
	})
	list := fs.FlagUsages()
	fs.VisitAll(func(f *pflag.Flag) { f.Hidden = f.Name != "kubeconfig" && !slices.Contains(common, f.Name) })
	root.PersistentFlags().AddFlagSet(fs)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		p.Document = KindOf(cmd)
		return p.take(fs)
	}
	root.AddCommand(&cobra.Command{
		Use: "cluster-flags", Short: "kubectl's flags for the cluster, the user and the namespace",
		Long: `These flags mean what they mean to kubectl, on every command of handrail that
asks a cluster. They hold for probes and for gates; a drill takes none of them.
What a gate shows as the command you could type repeats them, all but secrets.

` + list + `
A token or a password on the command line can be seen by other users of this
machine and stays in the history of the shell: a kubeconfig keeps it better.
`,
	})
	_ = root.RegisterFlagCompletionFunc("context", p.completeContext) // the flag is there
}

func (p *Program) completeContext(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	names, err := cluster.Contexts(steps.Env{Environ: p.Environ, Home: p.Home(), Kubeconfig: p.Kubeconfig})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, begun) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// take keeps the flags that were given, and refuses values that cannot be meant.
func (p *Program) take(fs *pflag.FlagSet) error {
	var bad error
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Changed || bad != nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		switch f.Name {
		case "context":
			p.Context = values[0]
			return
		case "namespace":
			p.Namespace = values[0]
			return
		case "kubeconfig":
			return
		}
		for _, v := range values {
			if bad = checkFlag(f.Name, v); bad != nil {
				return
			}
			p.Kubectl = append(p.Kubectl, "--"+f.Name+"="+v)
		}
	})
	return bad
}

// checkFlag says what client-go would say later, to fewer people. It does not
// repeat an address, which may hold a password.
func checkFlag(name, value string) error {
	const see = "see `handrail help cluster-flags`"
	switch name {
	case "request-timeout":
		if _, err := clientcmd.ParseTimeout(value); err != nil {
			return Usage(see, "--request-timeout: %q is neither seconds nor a duration such as 10s", value)
		}
	case "proxy-url":
		u, err := url.Parse(value)
		if err != nil || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) || u.Host == "" {
			return Usage(see, "--proxy-url wants an address that begins with http://, https:// or socks5://")
		}
	case "server":
		if value == "" || strings.Contains(value, "@") {
			return Usage(see, "--server wants the address of an API server, such as https://HOST:6443, and no password in it")
		}
	}
	return nil
}

// Secrets are the values among the flags that must not be shown or stored.
func (r Reach) Secrets() []string {
	var out []string
	for _, f := range r.Kubectl {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "--token", "--password":
			out = append(out, value)
		case "--proxy-url":
			if u, err := url.Parse(value); err == nil {
				if pass, ok := u.User.Password(); ok {
					out = append(out, pass)
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Named says whether the operator asked for a certain cluster or user.
func (p *Program) Named() bool {
	env := p.Getenv("KUBECONFIG")
	return p.Kubeconfig != "" || p.Context != "" || env != "" && env != os.DevNull || slices.ContainsFunc(p.Kubectl, func(f string) bool {
		return strings.HasPrefix(f, "--cluster=") || strings.HasPrefix(f, "--user=")
	})
}

// Troubled adds to what is wrong with the kubeconfig which one was meant, and
// the next move.
func (p *Program) Troubled(err error) *Problem {
	next := "fix it, or name another with --kubeconfig; `handrail doctor` looks again"
	if env := p.Getenv("KUBECONFIG"); p.Kubeconfig != "" {
		err = fmt.Errorf("--kubeconfig %q: %w", p.Kubeconfig, err)
	} else if env != "" {
		err = fmt.Errorf("KUBECONFIG %q: %w", env, err)
	}
	if p.Context != "" && !errors.Is(err, cluster.ErrNoCluster) {
		next = "`kubectl config get-contexts` lists the contexts, --context names one; `handrail doctor` looks again"
	}
	return &Problem{Code: ExitUsage, Err: err, Next: next}
}
