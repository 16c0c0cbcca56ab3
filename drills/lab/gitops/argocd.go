package gitops

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"handrail/drills/lab"
)

// ArgoNamespace is where Argo CD lives where it is the only one.
const ArgoNamespace = "argocd"

// The parts of Argo CD that run here, and what they keep their cache in.
const (
	ArgoController = "argocd-application-controller"
	ArgoRepoServer = "argocd-repo-server"
	ArgoRedis      = "redis"
)

// longestSocket is what a path of a socket may have: the kernel takes no more.
const longestSocket = 100

// StartArgoCD builds Argo CD if need be, starts it beside the lab with its data and logs in dir, and returns when each
// part is ready. It compares every five seconds. Applications live in its namespace; an empty one is ArgoNamespace. The
// server of its API does not run: an operation is started by the field operation of an Application.
func StartArgoCD(ctx context.Context, l *lab.Lab, dir, namespace string) (*Controllers, error) {
	c, err := startArgoCD(ctx, l, dir, namespace)
	if err != nil {
		return nil, fmt.Errorf("starting Argo CD: %w", err)
	}
	return c, nil
}

func startArgoCD(ctx context.Context, l *lab.Lab, dir, namespace string) (*Controllers, error) {
	h := newHome(l, namespace, ArgoNamespace)
	program, crds, settings, err := argoParts(ctx, l, dir)
	if err != nil {
		return nil, err
	}
	helm, err := l.Controller(ctx, "helm", nil)
	if err != nil {
		return nil, err
	}
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	c, err := h.argo(ctx, dir, program, crds, settings)
	if err == nil { // what its repository server runs for a chart
		err = os.Symlink(helm, argoFolder(dir).role("helm"))
	}
	if err != nil {
		return nil, errors.Join(err, h.leave(ctx))
	}
	return c, nil
}

func (h *home) argo(ctx context.Context, dir, program string, crds, settings []string) (*Controllers, error) {
	kubeconfig, err := h.argoReady(ctx, dir, program, crds, settings)
	if err != nil {
		return nil, err
	}
	return h.run(ctx, 1, func() ([]lab.Process, error) { return h.argoProcesses(ctx, argoFolder(dir), kubeconfig, "5") })
}

// argoReady makes all that Argo CD finds when it starts.
func (h *home) argoReady(ctx context.Context, dir, program string, crds, settings []string) (kubeconfig string, err error) {
	if err := h.define(ctx, crds); err != nil {
		return "", err
	}
	if err := h.configure(ctx, settings); err != nil {
		return "", err
	}
	if kubeconfig, err = h.account(ctx, ArgoController, dir); err != nil {
		return "", err
	}
	return kubeconfig, argoFolder(dir).make(program)
}

// PlanArgoCD makes all that Argo CD finds when it starts in a namespace that is there, and returns its parts in the order in
// which they start, for who starts them: a drill, which goes on without the process that began it. It compares when something
// changes, when it is told to, and as often as Argo CD does elsewhere: a comparison that its repository server failed is
// made again then.
func PlanArgoCD(ctx context.Context, l *lab.Lab, dir, namespace string) ([]lab.Process, error) {
	h := newHome(l, namespace, ArgoNamespace)
	program, crds, settings, err := argoParts(ctx, l, dir)
	if err != nil {
		return nil, fmt.Errorf("preparing Argo CD: %w", err)
	}
	kubeconfig, err := h.argoReady(ctx, dir, program, crds, settings)
	if err != nil {
		return nil, fmt.Errorf("preparing Argo CD: %w", err)
	}
	return h.argoProcesses(ctx, argoFolder(dir), kubeconfig, "120")
}

// argoParts are the program and what it brings along.
func argoParts(ctx context.Context, l *lab.Lab, dir string) (program string, crds, settings []string, err error) {
	if n := len(filepath.Join(dir, "ask.sock")); n > longestSocket {
		return "", nil, nil, fmt.Errorf("folder %q is too long for a socket in it", dir)
	}
	if program, err = l.Controller(ctx, "argocd", nil); err != nil {
		return "", nil, nil, err
	}
	if crds, err = manifests(program, "*-crd.yaml"); err != nil {
		return "", nil, nil, err
	}
	settings, err = manifests(program, "argocd-*.yaml")
	return program, crds, settings, err
}

// configure writes the settings as the manifests have them, and what Argo CD's own server would add.
func (h *home) configure(ctx context.Context, files []string) error {
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		plural := "configmaps"
		if strings.Contains(string(raw), "\nkind: Secret\n") {
			plural = "secrets"
		}
		if err := h.apply(ctx, h.core(plural, strings.TrimSuffix(filepath.Base(file), ".yaml")), raw); err != nil {
			return fmt.Errorf("settings in %s: %w", filepath.Base(file), err)
		}
	}
	patches := [][2]string{{h.core("secrets", "argocd-secret"), fmt.Sprintf(`{"stringData":{"server.secretkey":%q}}`, rand.Text())}}
	if !h.everyone {
		patches = append(patches, [2]string{h.core("configmaps", "argocd-cm"), fmt.Sprintf(`{"data":{"installationID":%q}}`, h.namespace)})
	}
	for _, p := range patches {
		if err := h.lab.Request(ctx, http.MethodPatch, p[0]+"?fieldManager="+fieldManager, mergePatch, []byte(p[1]), nil); err != nil {
			return fmt.Errorf("settings in %s: %w", p[0], err)
		}
	}
	return h.apply(ctx, "/apis/argoproj.io/v1alpha1/namespaces/"+h.namespace+"/appprojects/default", fmt.Appendf(nil, `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: %q}
spec: {sourceRepos: ['*'], destinations: [{namespace: '*', server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]}
`, h.namespace))
}

func (h *home) core(plural, name string) string {
	return "/api/v1/namespaces/" + h.namespace + "/" + plural + "/" + name
}

// argoFolder is the folder of one Argo CD.
type argoFolder string

func (d argoFolder) in(name string) string { return filepath.Join(string(d), name) }

// role is the program under the name of one of its roles.
func (d argoFolder) role(name string) string { return filepath.Join(string(d), "bin", name) }

func (d argoFolder) make(program string) error {
	var errs []error
	for _, sub := range []string{"bin", "tmp", "tls", "ssh"} {
		errs = append(errs, os.MkdirAll(d.in(sub), 0o700))
	}
	for _, role := range []string{"argocd", ArgoController, ArgoRepoServer, "kustomize"} {
		if err := os.Symlink(program, d.role(role)); !errors.Is(err, fs.ErrExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (h *home) argoProcesses(ctx context.Context, d argoFolder, kubeconfig, resync string) ([]lab.Process, error) {
	ports, err := lab.LastingPorts(4)
	if err != nil {
		return nil, err
	}
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	port := func(i int) string { return fmt.Sprint(ports[i]) }
	redis, tell, err := h.lab.Process(ctx, ArgoRedis, string(d), at(0))
	if err != nil {
		return nil, err
	}
	env := append([]string{"HOME=" + string(d), "TMPDIR=" + d.in("tmp"), "PATH=" + d.in("bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"ARGOCD_GPG_ENABLED=false", "ARGOCD_TLS_DATA_PATH=" + d.in("tls"), "ARGOCD_SSH_DATA_PATH=" + d.in("ssh"), "ARGOCD_ASK_PASS_SOCK=" + d.in("ask.sock"),
		"GIT_CONFIG_NOSYSTEM=1"}, tell...)
	return []lab.Process{redis,
		{Name: ArgoRepoServer, Program: d.role(ArgoRepoServer), Dir: string(d), Env: env, Ready: "http://" + at(2) + "/healthz",
			Args: []string{"--address", "127.0.0.1", "--port", port(1), "--metrics-address", "127.0.0.1", "--metrics-port", port(2),
				"--revision-cache-expiration", "2s", "--disable-tls", "--redis", at(0)}},
		{Name: ArgoController, Program: d.role(ArgoController), Dir: string(d), Ready: "http://" + at(3) + "/healthz",
			// Its own cluster is the one of its kubeconfig: it runs in no Pod.
			Env: append([]string{"KUBECONFIG=" + kubeconfig, "ARGOCD_FAKE_IN_CLUSTER=true"}, env...),
			Args: []string{"--repo-server", at(1), "--redis", at(0), "--metrics-address", at(3),
				"--app-resync", resync, "--app-resync-jitter", "0", "--self-heal-timeout-seconds", "1"}},
	}, nil
}
