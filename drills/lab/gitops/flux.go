package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"handrail/drills/lab"
)

// FluxNamespace is where Flux lives, and sees all namespaces from.
const FluxNamespace = "flux-system"

// fluxControllers are those that are started, in the order in which they are built.
var fluxControllers = []string{"source-controller", "kustomize-controller", "helm-controller"}

// StartFlux builds Flux if need be, starts it beside the lab with its data and logs in dir, and returns when each
// controller is ready. An empty namespace is FluxNamespace.
func StartFlux(ctx context.Context, l *lab.Lab, dir, namespace string) (*Controllers, error) {
	c, err := startFlux(ctx, l, dir, namespace)
	if err != nil {
		return nil, fmt.Errorf("starting Flux: %w", err)
	}
	return c, nil
}

func startFlux(ctx context.Context, l *lab.Lab, dir, namespace string) (*Controllers, error) {
	h := newHome(l, namespace, FluxNamespace)
	f, err := fluxParts(ctx, l, dir, fluxControllers)
	if err != nil {
		return nil, err
	}
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	c, err := h.flux(ctx, f)
	if err != nil {
		return nil, errors.Join(err, h.leave(ctx))
	}
	return c, nil
}

// fluxFolder is the folder of some controllers of Flux, with their programs.
type fluxFolder struct {
	dir         string
	names       []string
	programs    map[string]string
	crds        []string
	kubeconfigs map[string]string
}

func fluxParts(ctx context.Context, l *lab.Lab, dir string, names []string) (fluxFolder, error) {
	f := fluxFolder{dir: dir, names: names, programs: map[string]string{}, kubeconfigs: map[string]string{}}
	for _, name := range names {
		program, err := l.Controller(ctx, name, nil)
		if err != nil {
			return f, err
		}
		f.programs[name] = program
		files, err := manifests(program, "*.yaml")
		if err != nil {
			return f, err
		}
		f.crds = append(f.crds, files...)
	}
	return f, nil
}

func (h *home) flux(ctx context.Context, f fluxFolder) (*Controllers, error) {
	if err := h.fluxReady(ctx, f); err != nil {
		return nil, err
	}
	return h.run(ctx, 0, func() ([]lab.Process, error) { return h.fluxProcesses(f) })
}

// fluxReady makes all that Flux finds when it starts.
func (h *home) fluxReady(ctx context.Context, f fluxFolder) error {
	if err := h.define(ctx, f.crds); err != nil {
		return err
	}
	for _, name := range f.names {
		var err error
		if f.kubeconfigs[name], err = h.account(ctx, name, f.dir); err != nil {
			return err
		}
	}
	return errors.Join(os.MkdirAll(filepath.Join(f.dir, "tmp"), 0o700), os.MkdirAll(filepath.Join(f.dir, "data"), 0o700))
}

// PlanFlux makes all that Flux finds when it starts in a namespace that is there, and returns its controllers of sources
// and Kustomizations, for who starts them: a drill, which goes on without the process that began it.
func PlanFlux(ctx context.Context, l *lab.Lab, dir, namespace string) ([]lab.Process, error) {
	h := newHome(l, namespace, FluxNamespace)
	f, err := fluxParts(ctx, l, dir, fluxControllers[:2])
	if err == nil {
		err = h.fluxReady(ctx, f)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing Flux: %w", err)
	}
	return h.fluxProcesses(f)
}

func (h *home) fluxProcesses(f fluxFolder) ([]lab.Process, error) {
	ports, err := lab.LastingPorts(2*len(f.names) + 1)
	if err != nil {
		return nil, err
	}
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	var plan []lab.Process
	for i, name := range f.names {
		args := []string{"--metrics-addr", at(2 * i), "--health-addr", at(2*i + 1), "--enable-leader-election=false", "--events-addr=",
			fmt.Sprintf("--watch-all-namespaces=%t", h.everyone)}
		if i == 0 {
			store := at(2 * len(f.names))
			args = append(args, "--storage-path", filepath.Join(f.dir, "data"), "--storage-addr", store, "--storage-adv-addr", store)
		} else {
			args = append(args, "--requeue-dependency", "2s") // thirty are for a cluster that others use as well
		}
		plan = append(plan, lab.Process{Name: name, Program: f.programs[name], Args: args, Dir: f.dir, Ready: "http://" + at(2*i+1) + "/readyz",
			Env: []string{"RUNTIME_NAMESPACE=" + h.namespace, "KUBECONFIG=" + f.kubeconfigs[name], "HOME=" + f.dir, "TMPDIR=" + filepath.Join(f.dir, "tmp"), "PATH=" + os.Getenv("PATH")}})
	}
	return plan, nil
}
