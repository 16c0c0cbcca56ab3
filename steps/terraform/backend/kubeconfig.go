package backend

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"handrail/steps"
	"handrail/steps/transport"
)

// kubeTimeout bounds one request of a probe.
const kubeTimeout = 10 * time.Second

// kubeSettings are the settings of the kubernetes backend. KUBECONFIG is not
// among its variables.
type kubeSettings struct{ settings }

// paths returns the kubeconfigs of the backend, in its order of precedence.
func (b kubeSettings) paths() []string {
	var paths []string
	if p := b.get("config_path", "KUBE_CONFIG_PATH"); p != "" {
		paths = []string{p}
	} else if list, ok := b.w.Config["config_paths"].([]any); ok && len(list) > 0 {
		for _, p := range list {
			if s, ok := p.(string); ok {
				paths = append(paths, s)
			}
		}
	} else if p := b.env.Getenv("KUBE_CONFIG_PATHS"); p != "" {
		paths = filepath.SplitList(p)
	}
	for i, p := range paths {
		if paths[i] = b.path(p); p == "" {
			paths[i] = b.w.Dir // no kubeconfig, which is an error, and not nothing
		}
	}
	return paths
}

// own reports whether every kubeconfig is one that the operator uses anyway. A
// clone can name any file, and a kubeconfig can name programs to run.
func (b kubeSettings) own(paths []string) bool {
	mine := append([]string{b.env.Kubeconfig, b.env.Getenv("KUBE_CONFIG_PATH")}, filepath.SplitList(b.env.Getenv("KUBECONFIG"))...)
	mine = append(mine, filepath.SplitList(b.env.Getenv("KUBE_CONFIG_PATHS"))...)
	if b.env.Home != "" {
		mine = append(mine, filepath.Join(b.env.Home, ".kube", "config"))
	}
	for _, p := range paths {
		if !containsFile(mine, p) {
			return false
		}
	}
	return true
}

// mixed reports whether some kubeconfig is the operator's beside others: a context
// of the one may name a user of the other.
func (b kubeSettings) mixed(paths []string) bool {
	for _, p := range paths {
		if b.own([]string{p}) {
			return true
		}
	}
	return false
}

func containsFile(list []string, name string) bool {
	want, err := os.Stat(name)
	if err != nil {
		return false
	}
	for _, p := range list {
		if p == "" {
			continue
		}
		if got, err := os.Stat(p); err == nil && os.SameFile(got, want) {
			return true
		}
	}
	return false
}

// restConfig builds the client configuration that the backend itself would use,
// minus what a stranger's directory could abuse.
func (b kubeSettings) restConfig() (*rest.Config, error) {
	paths := b.paths()
	cfg, err := b.load(paths)
	if err != nil {
		return nil, err
	}
	if err := b.refuseKubeLoan(cfg, paths); err != nil {
		return nil, err
	}
	b.override(cfg)
	if cfg.Host == "" {
		return nil, errors.New("kubernetes backend: nothing names its server; it reads config_path or KUBE_CONFIG_PATH, not KUBECONFIG: set one of them as for the run that failed")
	}
	if !strings.Contains(cfg.Host, "://") {
		scheme := "http://"
		if cfg.TLSClientConfig.CAData != nil || cfg.CAFile != "" || cfg.Insecure || cfg.CertData != nil || cfg.CertFile != "" {
			scheme = "https://"
		}
		cfg.Host = scheme + cfg.Host
	}
	if b.w.Setting("host") != "" || !b.own(paths) {
		guardKube(cfg, b.env)
	}
	cfg.QPS = -1
	cfg.Timeout = kubeTimeout
	cfg.WarningHandler = rest.NoWarnings{}
	return cfg, nil
}

func (b kubeSettings) load(paths []string) (*rest.Config, error) {
	if b.flag("in_cluster_config", "KUBE_IN_CLUSTER_CONFIG") || (len(paths) == 0 && b.env.Getenv("KUBERNETES_SERVICE_HOST") != "") {
		cfg, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("kubernetes backend inside a pod: %w", err)
		}
		return cfg, nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: paths, Warner: func(error) {}}
	if len(paths) == 1 {
		rules.ExplicitPath = paths[0]
	}
	raw, err := rules.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("kubeconfig of the backend: %w; check config_path and KUBE_CONFIG_PATH", err)
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the backend: %w", err)
	}
	over := &clientcmd.ConfigOverrides{CurrentContext: b.get("config_context", "KUBE_CTX")}
	over.Context.AuthInfo = b.get("config_context_auth_info", "KUBE_CTX_AUTH_INFO")
	over.Context.Cluster = b.get("config_context_cluster", "KUBE_CTX_CLUSTER")
	over.AuthInfo.Exec = b.exec()
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*raw, over.CurrentContext, over, rules).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return &rest.Config{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the backend: %w", err)
	}
	return cfg, b.checkPlugin(cfg, paths)
}

// checkPlugin keeps a directory from having programs run or tokens read.
func (b kubeSettings) checkPlugin(cfg *rest.Config, paths []string) error {
	own := b.own(paths) && b.exec() == nil
	if p := cfg.ExecProvider; p != nil {
		if !own {
			p.PluginPolicy = clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyDenyAll}
			return fmt.Errorf("kubernetes backend: its credentials come from the program %q, which handrail runs for your own kubeconfig only; point KUBE_CONFIG_PATH at the kubeconfig you trust, without an exec block in the backend", p.Command)
		}
		// The screen owns the standard input.
		p.StdinUnavailable, p.StdinUnavailableMessage = true, steps.SignInFirst
	}
	if p := cfg.AuthProvider; p != nil {
		return fmt.Errorf("kubernetes backend: the auth provider %q of its kubeconfig writes to that file, so handrail does not use it; use an exec plugin or a token", p.Name)
	}
	if cfg.BearerTokenFile != "" && !own {
		return fmt.Errorf("kubernetes backend: a kubeconfig that is not yours reads the token file %q; point KUBE_CONFIG_PATH at the kubeconfig you trust", cfg.BearerTokenFile)
	}
	return nil
}

// refuseKubeLoan keeps a host that the directory names, or whose certificate the
// directory says not to check, from getting credentials that the directory does
// not bring itself.
func (b kubeSettings) refuseKubeLoan(cfg *rest.Config, paths []string) error {
	named := b.w.Setting("host")
	lent := b.w.Setting("token") == "" && b.env.Getenv("KUBE_TOKEN") != "" || b.w.Setting("password") == "" && b.env.Getenv("KUBE_PASSWORD") != ""
	own := b.own(paths)
	unchecked := b.w.Config["insecure"] == true || b.w.Setting("cluster_ca_certificate") != "" ||
		b.w.Setting("config_context_cluster") != "" || b.w.Setting("config_context_auth_info") != "" // the token of one cluster is not for another
	if named != "" || (unchecked && own) || (!own && b.mixed(paths)) {
		lent = lent || cfg.BearerToken != "" || cfg.BearerTokenFile != "" || cfg.Password != "" || cfg.ExecProvider != nil
	}
	switch {
	case named != "":
	case unchecked:
		named = cmp.Or(b.env.Getenv("KUBE_HOST"), cfg.Host)
	case !own:
		named = cfg.Host
	}
	trusted := b.trusted()
	if host := b.w.Setting("host"); host != "" || !own && named == cfg.Host {
		// What trust has shown is what gets them.
		trusted = trusted && slices.Contains(b.named(), serverOf(named))
	}
	if named != "" && lent && !trusted {
		return fmt.Errorf("kubernetes backend: %s would send credentials of yours (from %s) to the server %q that it names itself or does not want checked; %s",
			b.w.Dir, strings.Join(append(slices.Clone(paths), "the environment"), ", "), named, b.trustFirst())
	}
	return nil
}

func (b kubeSettings) override(cfg *rest.Config) {
	set := func(to *string, key, variable string) {
		if s := b.get(key, variable); s != "" {
			*to = s
		}
	}
	set(&cfg.Host, "host", "KUBE_HOST")
	set(&cfg.Username, "username", "KUBE_USER")
	set(&cfg.Password, "password", "KUBE_PASSWORD")
	if b.get("token", "KUBE_TOKEN") != "" {
		set(&cfg.BearerToken, "token", "KUBE_TOKEN")
		cfg.BearerTokenFile = ""
	}
	if b.flag("insecure", "KUBE_INSECURE") {
		// As in the backend: client-go refuses a CA beside it.
		cfg.Insecure, cfg.CAData, cfg.CAFile = true, nil, ""
	}
	data := func(to *[]byte, file *string, key, variable string) {
		if s := b.get(key, variable); s != "" {
			*to, *file = []byte(s), ""
		}
	}
	data(&cfg.CAData, &cfg.CAFile, "cluster_ca_certificate", "KUBE_CLUSTER_CA_CERT_DATA")
	data(&cfg.CertData, &cfg.CertFile, "client_certificate", "KUBE_CLIENT_CERT_DATA")
	data(&cfg.KeyData, &cfg.KeyFile, "client_key", "KUBE_CLIENT_KEY_DATA")
}

// guardKube keeps a server that the directory names from being the metadata of
// the machine; a proxy that its kubeconfig names is one as well.
func guardKube(cfg *rest.Config, env steps.Env) {
	route, mine := cfg.Proxy, transport.ProxyOf(env)
	if route == nil {
		route, cfg.Dial = transport.OffMetadataRoute(mine)
		cfg.Proxy = route
		return
	}
	cfg.Dial = transport.NewGuardedDialer().DialContext
	cfg.Proxy = func(r *http.Request) (*url.URL, error) {
		if err := transport.RefuseFar(r.Context(), r.URL.Hostname()); err != nil {
			return nil, err
		}
		return route(r)
	}
}

func (b kubeSettings) exec() *clientcmdapi.ExecConfig {
	list, _ := b.w.Config["exec"].([]any)
	if len(list) == 0 {
		return nil
	}
	block, _ := list[0].(map[string]any)
	command, _ := block["command"].(string)
	version, _ := block["api_version"].(string)
	// Never run: its presence is what matters.
	return &clientcmdapi.ExecConfig{APIVersion: version, Command: command, InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
}

// secrets returns the values of the settings that must not be shown.
func (b kubeSettings) secrets() []string {
	var out []string
	for _, kv := range [][2]string{{"token", "KUBE_TOKEN"}, {"password", "KUBE_PASSWORD"}, {"client_key", "KUBE_CLIENT_KEY_DATA"}} {
		if s := b.get(kv[0], kv[1]); s != "" {
			out = append(out, s)
		}
	}
	return out
}
