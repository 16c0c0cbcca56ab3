package inject

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"handrail/drills/stage"
)

// replica is the verb kube.replica: a copy of the cluster as it is now, which hears of nothing that comes after.
type replica struct{}

// metricsFile is where the metrics of the lab's own etcd lie beside the person who walks the drill.
func metricsFile(st *stage.Stage) string { return filepath.Join(st.Home, "files", "etcd.metrics") }

// apply starts the servers of the copy on loopback, and gives the operator a context that leads there.
func (replica) apply(ctx context.Context, st *stage.Stage) error {
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	st.Say("restoring a snapshot of the cluster beside it")
	dir := filepath.Join(st.Home, "replica")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(filepath.Dir(metricsFile(st)), 0o700)); err != nil {
		return err
	}
	r, err := st.World.Replica(ctx, dir)
	if err != nil {
		return err
	}
	for _, args := range r.Parts {
		cmd := exec.Command(r.Program, args...) // not bound to ctx: it goes on when the drill has started
		// Not our environment: a proxy variable or a kubeconfig in it could lead the servers off this machine.
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(), "NO_PROXY=*"}
		ready := func() error { return nil } // the API server waits for its etcd by itself
		if args[0] == "kube-apiserver" {
			ready = func() error {
				if !r.Ready(ctx) {
					return fs.ErrNotExist
				}
				return nil
			}
		}
		if err := st.Bring(ctx, "replica-"+args[0], cmd, ready); err != nil {
			return err
		}
	}
	if st.Rec.Replica, err = r.LeadTo(ctx, st.Rec.Namespace); err != nil {
		return err
	}
	raw, err := st.World.EtcdMetrics(ctx)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(metricsFile(st), raw, 0o600), st.Save())
}
