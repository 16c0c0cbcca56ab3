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
	programs := map[string]string{}
	var crds []string
	for _, name := range fluxControllers {
		program, err := l.Controller(ctx, name, nil)
		if err != nil {
			return nil, err
		}
		programs[name] = program
		files, err := manifests(program, "*.yaml")
		if err != nil {
			return nil, err
		}
		crds = append(crds, files...)
	}
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	c, err := h.flux(ctx, dir, programs, crds)
	if err != nil {
		return nil, errors.Join(err, h.leave(ctx))
	}
	return c, nil
}

func (h *home) flux(ctx context.Context, dir string, programs map[string]string, crds []string) (*Controllers, error) {
	if err := h.define(ctx, crds); err != nil {
		return nil, err
	}
	kubeconfigs := map[string]string{}
	for _, name := range fluxControllers {
		var err error
		if kubeconfigs[name], err = h.account(ctx, name, dir); err != nil {
			return nil, err
		}
	}
	tmp, data := filepath.Join(dir, "tmp"), filepath.Join(dir, "data")
	if err := errors.Join(os.MkdirAll(tmp, 0o700), os.MkdirAll(data, 0o700)); err != nil {
		return nil, err
	}
	return h.run(ctx, 0, func() ([]lab.Process, error) {
		ports, err := lab.LastingPorts(2*len(fluxControllers) + 1)
		if err != nil {
			return nil, err
		}
		at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
		var plan []lab.Process
		for i, name := range fluxControllers {
			args := []string{"--metrics-addr", at(2 * i), "--health-addr", at(2*i + 1), "--enable-leader-election=false", "--events-addr=",
				fmt.Sprintf("--watch-all-namespaces=%t", h.everyone)}
			if i == 0 {
				store := at(2 * len(fluxControllers))
				args = append(args, "--storage-path", data, "--storage-addr", store, "--storage-adv-addr", store)
			} else {
				args = append(args, "--requeue-dependency", "2s") // thirty are for a cluster that others use as well
			}
			plan = append(plan, lab.Process{Name: name, Program: programs[name], Args: args, Dir: dir, Ready: "http://" + at(2*i+1) + "/readyz",
				Env: []string{"RUNTIME_NAMESPACE=" + h.namespace, "KUBECONFIG=" + kubeconfigs[name], "HOME=" + dir, "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH")}})
		}
		return plan, nil
	})
}
