package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"handrail/cli/process"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/strict"
	"handrail/steps/terraform/tool"
)

// Setting is one thing that decides how handrail goes about, and who said it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // a flag, a variable, machine, user, project, kubeconfig, or default
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Wrong  string `json:"wrong,omitempty"` // why the file is not understood; what it would say is in force nowhere
}

// Settings are all of them: flags and variables first, then every key of every file, and at last what no file says.
// Values are scrubbed: a file may hold what its author took for harmless.
func Settings(p *process.Program) ([]Setting, error) {
	env, err := p.Env()
	if err != nil {
		return nil, err
	}
	out := append(given(p), inCluster(p, env)...)
	files, err := settingFiles(p, env)
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, f := range files {
		list := f.settings(p)
		for _, s := range list {
			name, _, _ := strings.Cut(s.Name, "[")
			said[name] = true
			if at := strings.Split(name, "."); len(at) > 2 { // an entry of a mapping
				said[at[0]+"."+at[1]] = true
			}
		}
		out = append(out, list...)
	}
	for _, s := range unsaid() {
		base, _, _ := strings.Cut(s.Name, ".")
		if !said[s.Name] && !said[base] { // a file that is not understood says nothing, not the usual
			out = append(out, s)
		}
	}
	for i := range out {
		for _, text := range []*string{&out[i].Value, &out[i].Wrong} {
			if *text != "" {
				*text = p.ScrubText(*text)
			}
		}
	}
	return out, nil
}

// given is what flags and the environment say.
func given(p *process.Program) []Setting {
	var out []Setting
	one := func(name, flag, asked, variable, usual string) {
		s := Setting{Name: name, Value: usual, Source: "default"}
		if v := p.Getenv(variable); variable != "" && v != "" {
			s.Value, s.Source = v, "environment "+variable
		}
		if asked != "" {
			s.Value, s.Source = asked, "flag --"+flag
		}
		out = append(out, s)
	}
	dir := func(name, variable, fallback string, asked string) {
		s := Setting{Name: name, Source: "default"}
		at, err := p.Xdg(variable, fallback)
		if s.Value = at; err != nil {
			s.Wrong = err.Error()
		}
		if filepath.IsAbs(p.Getenv(variable)) { // the specification has a relative one ignored
			s.Source = "environment " + variable
		}
		if asked != "" {
			s.Value, s.Source, s.Wrong = asked, "flag --state-dir", ""
		}
		out = append(out, s)
	}
	dir("state directory", "XDG_STATE_HOME", filepath.Join(".local", "state"), p.State)
	dir("configuration directory", "XDG_CONFIG_HOME", ".config", "")
	dir("cache directory", "XDG_CACHE_HOME", ".cache", "")
	readOnly := ""
	if p.ReadOnly {
		readOnly = "yes"
	}
	one("read-only", "readonly", readOnly, "", "no")
	one("program", "program", p.Tofu, "", "the one that a directory was used with, else tofu")
	one("theme", "theme", p.Theme, "", "as interface.theme says")
	one("colour", "", "", "NO_COLOR", "as the terminal says")
	usual := []string{"HANDRAIL_LAB_SOURCE", "HANDRAIL_BROKERS", "TF_WORKSPACE", "TF_DATA_DIR", "TF_CLI_CONFIG_FILE", "KUBE_CONFIG_PATH", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSH_AUTH_SOCK", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_PROFILE"}
	for _, name := range append(usual, tool.Choosing()...) {
		if v := p.Getenv(name); v != "" {
			out = append(out, Setting{Name: name, Value: withoutPassword(v), Source: "environment " + name})
		}
	}
	return out
}

// withoutPassword hides what stands before the @ of an address.
func withoutPassword(v string) string {
	scheme, rest, ok := strings.Cut(v, "://")
	if _, host, has := strings.Cut(rest, "@"); ok && has {
		return scheme + "://***@" + host
	}
	return v
}

// inCluster is the cluster, the user and the namespace that are meant, each from a flag or a kubeconfig.
func inCluster(p *process.Program, env steps.Env) []Setting {
	file := Setting{Name: "kubeconfig", Value: filepath.Join(p.Home(), ".kube", "config"), Source: "default"}
	if v := p.Getenv("KUBECONFIG"); v != "" {
		file.Value, file.Source = v, "environment KUBECONFIG"
	}
	if p.Kubeconfig != "" {
		file.Value, file.Source = p.Kubeconfig, "flag --kubeconfig"
	}
	out := []Setting{file}
	for _, flag := range p.Kubectl {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if name == "token" || name == "password" {
			value = "***"
		}
		out = append(out, Setting{Name: name, Value: withoutPassword(value), Source: "flag --" + name})
	}
	a, err := cluster.Load(env)
	from := func(asked, flag string) string {
		if asked != "" {
			return "flag --" + flag
		}
		return "kubeconfig"
	}
	switch {
	case errors.Is(err, cluster.ErrNoCluster):
		return append(out, Setting{Name: "context", Value: "none", Source: "default"})
	case err != nil:
		return append(out, Setting{Name: "context", Value: cmp.Or(p.Context, "unknown"), Source: from(p.Context, "context"), Wrong: err.Error()})
	}
	return append(out, Setting{Name: "context", Value: cmp.Or(a.Context, "none"), Source: from(p.Context, "context")},
		Setting{Name: "namespace", Value: a.Namespace, Source: from(p.Namespace, "namespace")})
}

// settingFile is a file that may say something.
type settingFile struct {
	of, name string
	check    func() error // what its reader says of it, for a reader that is not of this package
	lines    bool         // it is a list of lines, no YAML
}

// settingFiles are the files of this directory, whether or not they are there.
func settingFiles(p *process.Program, env steps.Env) ([]settingFile, error) {
	var out []settingFile
	none := func() error { return nil }
	for _, at := range rulesDirs(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, err
		}
		out = append(out, settingFile{at.of, filepath.Join(dir, ConfigFile), func() error { _, _, err := readConfig(at.of, filepath.Join(dir, ConfigFile)); return err }, false},
			settingFile{at.of, filepath.Join(dir, PolicyFile), func() error { _, _, err := readPolicy(filepath.Join(dir, PolicyFile), nil); return err }, false},
			settingFile{at.of, filepath.Join(dir, ProtectedFile), func() error { _, err := ProtectedMarkers(p); return err }, false},
			settingFile{at.of, filepath.Join(dir, VariablesFile), func() error { _, err := readVariables(p, filepath.Join(dir, VariablesFile)); return err }, false},
			settingFile{at.of, filepath.Join(dir, InterfaceFile), func() error { _, err := preferencesIn(dir); return err }, false})
		if at.of == "user" {
			brokers := cmp.Or(p.Getenv("HANDRAIL_BROKERS"), filepath.Join(dir, "brokers.yaml"))
			out = append(out, settingFile{at.of, filepath.Join(dir, redactionFile), func() error { _, err := TeamRules(p); return err }, false},
				settingFile{at.of, brokers, none, false},
				settingFile{at.of, filepath.Join(dir, RecipientsFile), func() error { _, err := Recipients(p); return err }, true},
				settingFile{at.of, filepath.Join(dir, "allowed_signers"), none, true})
		}
	}
	files, err := projectFiles(env.Dir)
	if err != nil {
		return append(out, settingFile{"project", filepath.Join(env.Dir, projectDir, ConfigFile), func() error { return err }, false}), nil
	}
	for _, f := range files {
		out = append(out, settingFile{"project", f, func() error { _, _, err := readConfig("project", f); return err }, false})
	}
	return out, nil
}

// settings is what the file says, key by key; an item of a list of rules has a line of its own.
func (f settingFile) settings(p *process.Program) []Setting {
	base := strings.TrimSuffix(filepath.Base(f.name), filepath.Ext(f.name))
	wrong := func(err error) []Setting {
		return []Setting{{Name: base, Value: "not understood", Source: f.of, File: f.name, Line: lineIn(err), Wrong: err.Error()}}
	}
	if _, err := os.Lstat(f.name); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := f.check(); err != nil {
		return wrong(err)
	}
	src, found, err := readSource(f.name, f.name)
	if err != nil || !found {
		return wrong(cmp.Or(err, os.ErrNotExist))
	}
	var out []Setting
	add := func(key, value string, line int) {
		out = append(out, Setting{Name: base + key, Value: value, Source: f.of, File: f.name, Line: line})
	}
	if f.lines {
		for i, line := range strings.Split(string(src), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				add(fmt.Sprintf("[%d]", len(out)), line, i+1)
			}
		}
		return out
	}
	r := &strict.Reader{File: f.name, What: "a file of settings"}
	doc := r.Document(src)
	if doc == nil {
		return wrong(r.Problems.Sorted())
	}
	for i := 0; i+1 < len(doc.Content); i += 2 {
		key, value := doc.Content[i], doc.Content[i+1]
		if key.Value == "apiVersion" || key.Value == "kind" {
			continue
		}
		if len(value.Content) == 0 || key.Value == "readOnlyContexts" {
			add("."+key.Value, flow(value), key.Line)
			continue
		}
		named := value.Tag == "!!map"
		for j := 0; j < len(value.Content); j++ {
			at := fmt.Sprintf("[%d]", j)
			if named {
				at, j = "."+value.Content[j].Value, j+1
			}
			add("."+key.Value+at, flow(value.Content[j]), value.Content[j].Line)
		}
	}
	return out
}

// lineIn is the line that an error names, 0 for none.
func lineIn(err error) int {
	var bad strict.Problems
	if errors.As(err, &bad) && len(bad) > 0 {
		return bad[0].Line
	}
	return 0
}

// flow is a value on one line.
func flow(n *strict.Node) string {
	var parts []string
	switch {
	case len(n.Content) == 0 && n.Value == "" && n.Tag == "!!seq":
		return "none"
	case len(n.Content) == 0:
		return n.Value
	case n.Tag == "!!map":
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+": "+flow(n.Content[i+1]))
		}
		return strings.Join(parts, ", ")
	}
	for _, item := range n.Content {
		parts = append(parts, flow(item))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// unsaid is what holds where no file says otherwise.
func unsaid() []Setting {
	var out []Setting
	for _, kv := range [][2]string{
		{"interface.theme", "auto"}, {"interface.signs", "auto"}, {"interface.bell", "true"}, {"interface.places", "what is usually called production"},
		{"interface.keys", "as ? shows on any screen"}, {"interface.breakGlass", "the usual label"}, {"interface.breakGlassRegister", "none"},
		{"config.readOnly", "false"}, {"config.readOnlyContexts", "none"}, {"policy.secondPerson", "none"},
		{"protected.markers", "role=protected, purpose=chaos-canary"}, {"redaction.rules", "those that are built in"},
		{"variables.variables", "none"}, {"brokers.brokers", "none"}, {"recipients", "none"}, {"allowed_signers", "none"},
	} {
		out = append(out, Setting{Name: kv[0], Value: kv[1], Source: "default"})
	}
	return out
}
