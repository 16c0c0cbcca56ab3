package gitops

import (
	"context"
	"fmt"
	"os"

	"handrail/drills/lab"
)

// PlanExternalSecrets makes all that External Secrets finds when it starts, and returns its controller for who starts it: a
// drill. It sees that one namespace alone. A store is looked at again every two seconds, so that one that lost its
// credential says so at once.
func PlanExternalSecrets(ctx context.Context, l *lab.Lab, dir, namespace string) (lab.Process, error) {
	const name = "external-secrets"
	wrap := func(err error) (lab.Process, error) {
		return lab.Process{}, fmt.Errorf("preparing External Secrets: %w", err)
	}
	h := newHome(l, namespace, name)
	h.anew = true // a lab that lives for long may hold what an older set stored, and this one serves that too
	program, err := l.Controller(ctx, name, nil)
	if err != nil {
		return wrap(err)
	}
	crds, err := manifests(program, "*.yaml")
	if err != nil {
		return wrap(err)
	}
	if err := h.define(ctx, crds); err != nil {
		return wrap(err)
	}
	kubeconfig, err := h.account(ctx, name, dir)
	if err != nil {
		return wrap(err)
	}
	ports, err := lab.LastingPorts(1)
	if err != nil {
		return wrap(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", ports[0])
	return lab.Process{Name: name, Program: program, Dir: dir, Ready: "http://" + addr + "/metrics",
		Args: []string{"--metrics-addr", addr, "--enable-leader-election=false", "--namespace", namespace, "--store-requeue-interval", "2s",
			"--enable-cluster-store-reconciler=false", "--enable-cluster-external-secret-reconciler=false", "--enable-push-secret-reconciler=false",
			"--enable-cluster-push-secret-reconciler=false"},
		Env: []string{"KUBECONFIG=" + kubeconfig, "HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}}, nil
}
