package cluster

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"handrail/steps"
)

// ErrNoCluster says that no kubeconfig names a cluster.
var ErrNoCluster = errors.New("no kubeconfig names a cluster")

// Access is how the operator reaches a cluster; nothing was asked of it yet.
type Access struct {
	Context   string
	Namespace string
	Server    string // scheme://host:port, with the path prefix of a proxy
	User      string // its entry in the kubeconfig, and whom it acts as
	Config    *rest.Config
}

// Flags adds kubectl's flags for the cluster, the user and the namespace to fs,
// and returns what they set. They are those of client-go, from which kubectl's
// own are made.
func Flags(fs *pflag.FlagSet) *clientcmd.ConfigOverrides {
	o := &clientcmd.ConfigOverrides{}
	named := clientcmd.RecommendedConfigOverrideFlags("")
	named.ContextOverrideFlags.Namespace.ShortName = "n"
	clientcmd.BindOverrideFlags(o, fs, named)
	return o
}

// Load reads the kubeconfig by kubectl's rules, from the environment of env:
// --kubeconfig, KUBECONFIG, then ~/.kube/config, with the operator's flags on
// top. ErrNoCluster says that there is none; client-go would then fall back to a
// cluster that it runs in, or to localhost, which was not named.
//
// A credential plugin of the operator may run, but may not ask on the terminal;
// [Access.SignIn] lends it.
func Load(env steps.Env) (Access, error) {
	over, err := overrides(env)
	if err != nil {
		return Access{}, err
	}
	load := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules(env), over)
	raw, err := load.RawConfig()
	if err != nil {
		return Access{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(raw.Contexts) == 0 && len(raw.Clusters) == 0 && over.ClusterInfo.Server == "" {
		return Access{}, ErrNoCluster
	}
	a := Access{Context: over.CurrentContext}
	if a.Context == "" {
		a.Context = raw.CurrentContext
	}
	if a.Context == "" && over.Context.Cluster == "" && over.ClusterInfo.Server == "" {
		// client-go would take a cluster that it runs in, or localhost.
		return Access{}, errors.New("the kubeconfig has no current context: name one with --context")
	}
	if raw.Contexts[a.Context] == nil && a.Context != "" {
		return Access{}, fmt.Errorf("the kubeconfig has no context %q; it has %s", a.Context, namesOf(raw))
	}
	a.User = userOf(raw, over, a.Context)
	if a.Config, err = load.ClientConfig(); err != nil {
		return Access{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if a.Namespace, _, err = load.Namespace(); err != nil {
		return Access{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(a.Config) // Host may come without a scheme
	if err != nil {
		return Access{}, fmt.Errorf("reading the kubeconfig: address of the server: %w", err)
	}
	if base.User != nil {
		return Access{}, errors.New("the kubeconfig names a server with a password in its address; move it to the user's entry")
	}
	a.Server = base.String()
	if e := a.Config.ExecProvider; e != nil {
		e.StdinUnavailable, e.StdinUnavailableMessage = true, steps.SignInFirst
	}
	return a, nil
}

// Contexts returns the names of the contexts of the operator's kubeconfig, in
// order.
func Contexts(env steps.Env) ([]string, error) {
	raw, err := rules(env).Load()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), nil
}

// mostContexts is how many contexts a sentence names.
const mostContexts = 20

// namesOf names the contexts that are there.
func namesOf(raw clientcmdapi.Config) string {
	names := slices.Sorted(maps.Keys(raw.Contexts))
	more := ""
	if n := len(names) - mostContexts; n > 0 {
		names, more = names[:mostContexts], fmt.Sprintf(" and %d more", n)
	}
	if len(names) == 0 {
		return "none"
	}
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	return strings.Join(names, ", ") + more
}

// userOf is whom the kubeconfig and the flags name, in words that hold no
// secret. It stays the same when a certificate or a token is renewed.
func userOf(raw clientcmdapi.Config, over *clientcmd.ConfigOverrides, name string) string {
	user, as := over.Context.AuthInfo, over.AuthInfo.Impersonate
	if c := raw.Contexts[name]; user == "" && c != nil {
		user = c.AuthInfo
	}
	if u := raw.AuthInfos[user]; as == "" && u != nil {
		as = u.Impersonate
	}
	if as != "" {
		return user + " as " + as
	}
	return user
}

func rules(env steps.Env) *clientcmd.ClientConfigLoadingRules {
	r := &clientcmd.ClientConfigLoadingRules{ExplicitPath: env.Kubeconfig, Warner: func(error) {}}
	if list := env.Getenv("KUBECONFIG"); list != "" {
		r.Precedence = filepath.SplitList(list)
	} else if env.Home != "" {
		r.Precedence = []string{filepath.Join(env.Home, ".kube", "config")}
	}
	return r
}

// overrides parses the operator's flags again; the command line has refused what
// is no flag.
func overrides(env steps.Env) (*clientcmd.ConfigOverrides, error) {
	fs := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o := Flags(fs)
	if err := fs.Parse(env.Kubectl); err != nil {
		return nil, fmt.Errorf("kubectl's flags: %w", err)
	}
	if env.Context != "" {
		o.CurrentContext = env.Context
	}
	if env.Namespace != "" {
		o.Context.Namespace = env.Namespace
	}
	return o, nil
}
