package inject

import (
	"context"

	"handrail/drills/stage"
)

// class is the verb kube.class. Its claims wait for the first Pod that uses them.
type class struct {
	Name        string `key:"name,required" as:"id"`
	Provisioner string `key:"provisioner,required"`
}

func (c class) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a storage class %s", c.Name)
	return st.World.StorageClass(ctx, c.Name, c.Provisioner)
}
