package stage

import (
	"context"
	"fmt"
)

// lease is what is read of the Lease that is the lock of the state.
type lease struct {
	Metadata struct {
		ResourceVersion string
		Annotations     map[string]string
	}
	Spec struct{ HolderIdentity string }
}

// LeasePath is the address of the Lease that is the lock of the state.
func (st *Stage) LeasePath() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + st.Rec.Namespace.Name + "/leases/lock-tfstate-default-" + st.Rec.Suffix
}

func (st *Stage) lock(ctx context.Context) (lease, error) {
	var l lease
	if err := st.Robot.Get(ctx, st.LeasePath(), &l); err != nil {
		return l, fmt.Errorf("lock of the state: %w", err)
	}
	return l, nil
}

// Holder is who holds the lock of the state; a lock without a holder is an error.
func (st *Stage) Holder(ctx context.Context) (string, error) {
	if st.Rec.Bucket != nil {
		return st.fileHolder()
	}
	if !st.inCluster() {
		return st.storedHolder(ctx)
	}
	l, err := st.lock(ctx)
	if err == nil && l.Spec.HolderIdentity == "" {
		err = fmt.Errorf("the lock of the state in namespace %s has no holder", st.Rec.Namespace.Name)
	}
	return l.Spec.HolderIdentity, err
}

// Held reports whether the lock is there to be seen; what cannot be read is not.
func (st *Stage) Held(ctx context.Context) bool {
	_, err := st.Holder(ctx)
	return err == nil
}
