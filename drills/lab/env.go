package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// options are those by which a program of the lab is built that this lab lacks.
func (l *Lab) options() Options { return Options{Source: l.source} }

// KubernetesProvider is [KubernetesProvider] from the source of this lab.
func (l *Lab) KubernetesProvider(ctx context.Context, progress func(Progress)) (string, error) {
	o := l.options()
	o.Progress = progress
	return KubernetesProvider(ctx, o)
}

// Terraform15 is [Terraform15] from the source of this lab.
func (l *Lab) Terraform15(ctx context.Context) (string, error) { return Terraform15(ctx, l.options()) }

// Dir is the data directory.
func (l *Lab) Dir() string { return l.dir }

// URL is the address of the API server.
func (l *Lab) URL() string { return l.record.URL }

// UID is that of the namespace kube-system, which stands for the identity of the cluster.
func (l *Lab) UID() string { return l.record.UID }

// Kubeconfig is the path of the admin's kubeconfig; its context is ContextName.
func (l *Lab) Kubeconfig() string { return filepath.Join(l.dir, fileAdmin) }

// TofuPath is the built tofu, empty when Open did not find it.
func (l *Lab) TofuPath() string { return l.bins["tofu"] }

// GoEnv is what the Go programs of the lab take of the environment of who starts them: how often they collect their garbage.
func GoEnv() []string {
	if percent := os.Getenv("GOGC"); percent != "" {
		return []string{"GOGC=" + percent}
	}
	return nil
}

// Env returns KEY=value lines for a process that shall work with the lab and its tofu. The kubernetes backend of tofu
// reads KUBE_CONFIG_PATH and does not know KUBECONFIG.
func (l *Lab) Env() []string {
	env := []string{"KUBECONFIG=" + l.Kubeconfig(), "KUBE_CONFIG_PATH=" + l.Kubeconfig()}
	if tofu := l.TofuPath(); tofu != "" {
		env = append(env, "PATH="+filepath.Dir(tofu)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return env
}

// Script is Env as lines that a POSIX shell can eval.
func (l *Lab) Script() string {
	var b strings.Builder
	for _, line := range l.Env() {
		key, value, _ := strings.Cut(line, "=")
		b.WriteString("export " + key + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n")
	}
	return b.String()
}
