package backend

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lib/pq"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// Named is what the settings of a root module name by themselves: the author of
// the directory chose it, and not the operator.
type Named struct {
	Data     string   // where init keeps its settings, absolute
	Backend  string   // type
	Servers  []string // scheme://host:port, or a bucket or an account of a cloud
	Files    []string // of profiles, keys and certificates, absolute; none that the operator uses anyway
	Programs []string // as the settings write them
	CLI      []string // files of the CLI configuration that tofu would read here, builds that it names instead of packages, and files that choose the tofu
}

// NamedBy reads what the settings of dir name. It reads files, asks no server and
// runs nothing; a directory that no init has touched names nothing.
func NamedBy(env steps.Env, dir string) (Named, error) {
	w, err := module.Read(env, dir)
	if err != nil && !errors.Is(err, module.ErrNotInitialised) {
		return Named{}, err
	}
	set := settings{env: env, w: w}
	n := Named{Data: w.Data, Backend: w.Backend, Servers: set.servers(), Files: set.files()}
	n.Programs, n.CLI = set.programs(), module.CLIConfig(env, dir)
	return n, nil
}

// UntrustedServers are those that the directory names by itself, none where the
// person trusts it.
func UntrustedServers(env steps.Env, w module.Workdir) []string {
	set := settings{env: env, w: w}
	if set.trusted() {
		return nil
	}
	return set.servers()
}

// servers are those that the directory names by itself, sorted, each as it is
// given credentials.
func (s settings) servers() []string {
	var out []string
	add := func(list ...string) {
		for _, v := range list {
			if v != "" {
				out = append(out, v)
			}
		}
	}
	str := s.w.Setting
	switch s.w.Backend {
	case "local":
	case "kubernetes":
		add(kubeSettings{s}.named()...)
	case "s3":
		ends := s.block("endpoints")
		for _, keys := range [][2]string{{"s3", "endpoint"}, {"dynamodb", "dynamodb_endpoint"}, {"sts", "sts_endpoint"}, {"iam", "iam_endpoint"}, {"sso", ""}} {
			add(serverOf(cmp.Or(ends.w.Setting(keys[0]), str(keys[1]))))
		}
		if bucket := str("bucket"); bucket != "" && cmp.Or(ends.w.Setting("s3"), str("endpoint")) == "" {
			add("s3://" + bucket)
		}
		for i := range awsFiles {
			for _, name := range namedProfiles(s, i) {
				add(endpointsIn(name)...)
			}
		}
	case "pg":
		add(s.pgServers()...)
	case "http":
		for _, key := range []string{"address", "lock_address", "unlock_address"} {
			add(serverOf(str(key)))
		}
	case "consul":
		if address := str("address"); address != "" {
			add("consul://" + address)
		}
	case "gcs":
		if end := cmp.Or(str("storage_custom_endpoint"), str("universe_domain")); end != "" {
			add(serverOf(end))
		} else if bucket := str("bucket"); bucket != "" {
			add("gs://" + bucket)
		}
	case "azurerm":
		if account := str("storage_account_name"); account != "" {
			add("azurerm://" + account)
		}
		add(str("metadata_host"))
	default:
		add(str("hostname"), str("organization"), str("address"))
	}
	if s.w.Backend != "pg" {
		add(urlsIn(s.w.Config)...) // whatever else is written as an address
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// serverOf is what is spoken to at an address: what follows it is asked there.
func serverOf(address string) string {
	if address == "" {
		return ""
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return steps.Clip(address, 200)
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// urlsIn finds every setting that is written as an address.
func urlsIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			out = append(out, urlsIn(inner)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, urlsIn(inner)...)
		}
	case string:
		if strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") {
			out = append(out, serverOf(v))
		}
	}
	return out
}

func (s settings) pgServers() []string {
	given := s.w.Setting("conn_str")
	if given == "" {
		return nil
	}
	source, err := pgSource(s.env, given)
	if err != nil {
		return []string{"postgres://?"}
	}
	cfg, err := pq.NewConfig(source)
	if err != nil {
		return []string{"postgres://?"}
	}
	return []string{pgServer(cfg)}
}

// pgServer is every host of a connection: the driver tries one after the other.
func pgServer(cfg pq.Config) string {
	var hosts []string
	for _, one := range append([]pq.ConfigMultihost{{Host: cfg.Host, Hostaddr: cfg.Hostaddr, Port: cfg.Port}}, cfg.Multi...) {
		at := one.Host
		if one.Hostaddr.IsValid() {
			at = one.Hostaddr.String()
		}
		hosts = append(hosts, net.JoinHostPort(at, strconv.Itoa(int(one.Port))))
	}
	return "postgres://" + strings.Join(slices.Compact(hosts), ",")
}

// named are the API servers that the directory names: by its settings, or by a
// kubeconfig that the operator does not use.
func (b kubeSettings) named() []string {
	var out []string
	if host := b.w.Setting("host"); host != "" {
		out = append(out, serverOf(host))
	}
	// Which of the operator's own servers is asked, and as whom, is a choice as well.
	for _, key := range []string{"config_context", "config_context_cluster", "config_context_auth_info"} {
		if name := b.w.Setting(key); name != "" {
			out = append(out, strings.TrimPrefix(key, "config_")+" "+steps.Clip(name, 200))
		}
	}
	paths := b.paths()
	if b.own(paths) {
		return out
	}
	for _, name := range paths {
		raw, err := module.ReadSmall(name)
		if err != nil {
			out = append(out, "kubeconfig "+name)
			continue
		}
		cfg, err := clientcmd.Load(raw)
		if err != nil {
			out = append(out, "kubeconfig "+name)
			continue
		}
		for _, c := range cfg.Clusters {
			out = append(out, serverOf(c.Server))
			if c.ProxyURL != "" {
				out = append(out, serverOf(c.ProxyURL))
			}
		}
	}
	return out
}

// fileSettings name files that decide who is spoken to and as whom.
var fileSettings = []string{
	"ca_file", "cert_file", "key_file", "custom_ca_bundle", "client_certificate_path", "oidc_token_file_path", "web_identity_token_file",
	"credentials", "encryption_key",
}

func (s settings) files() []string {
	mine := ownProfiles(s)
	var list []string
	if s.w.Backend == "s3" {
		for i := range awsFiles {
			list = append(list, namedProfiles(s, i)...)
		}
	}
	if kube := (kubeSettings{s}); s.w.Backend == "kubernetes" && !kube.own(kube.paths()) {
		list = append(list, kube.paths()...)
	}
	for _, at := range []settings{s, s.block("assume_role_with_web_identity")} {
		for _, key := range fileSettings {
			// What is no file may be the key itself, which is kept nowhere.
			name := at.w.Setting(key)
			if _, err := os.Stat(s.path(name)); name != "" && err == nil {
				list = append(list, s.path(name))
			}
		}
	}
	list = slices.DeleteFunc(list, func(name string) bool { return containsFile(mine, name) })
	for i, name := range list {
		list[i] = filepath.Clean(name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (s settings) programs() []string {
	var out []string
	if s.w.Backend == "kubernetes" {
		if e := (kubeSettings{s}).exec(); e != nil {
			out = append(out, e.Command)
		}
	}
	for _, name := range s.files() {
		out = append(out, programsIn(name)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// endpointsIn finds the servers that a file of profiles names.
func endpointsIn(name string) []string {
	var out []string
	for _, line := range linesOf(name) {
		if key, value, ok := strings.Cut(line, "="); ok && (strings.TrimSpace(key) == "endpoint_url" || strings.HasPrefix(strings.TrimSpace(key), "sso_start_url")) {
			out = append(out, serverOf(strings.TrimSpace(value)))
		}
	}
	return out
}

// programsIn finds the programs that a file of profiles or a kubeconfig names.
func programsIn(name string) []string {
	var out []string
	for _, line := range linesOf(name) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "credential_process" {
			program, _, _ := strings.Cut(strings.TrimSpace(value), " ") // its arguments may be secret
			out = append(out, steps.Clip(program, 200))
		}
	}
	raw, err := module.ReadSmall(name)
	if err != nil {
		return out
	}
	if cfg, err := clientcmd.Load(raw); err == nil {
		for _, user := range cfg.AuthInfos {
			if user.Exec != nil {
				out = append(out, steps.Clip(user.Exec.Command, 200))
			}
		}
	}
	return out
}

func linesOf(name string) []string {
	raw, err := module.ReadSmall(name)
	if err != nil {
		return nil
	}
	return strings.Split(string(raw), "\n")
}
