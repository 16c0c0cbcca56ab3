package drills

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

// lockInfo is the annotation in which the kubernetes backend keeps what it
// knows of a lock.
const lockInfo = "app.terraform.io/lock-info"

// backdate is the verb lease.backdate. A lock must be half an hour old before
// it may be broken, and nobody practises that long.
type backdate struct{ by time.Duration }

func readBackdate(p parser, n *yaml.Node) action {
	f := p.Fields(n, "lease.backdate", "by")
	return backdate{by: p.span(p.need(n, f, "by"), "by")}
}

func (b backdate) apply(ctx context.Context, st *stage) error {
	lease, err := st.lock(ctx)
	if err != nil {
		return err
	}
	var info map[string]any
	if err := json.Unmarshal([]byte(lease.Metadata.Annotations[lockInfo]), &info); err != nil {
		return fmt.Errorf("lock info of %s: %w", st.leasePath(), err)
	}
	text, _ := info["Created"].(string)
	created, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("lock info of %s: %w", st.leasePath(), err)
	}
	info["Created"] = created.Add(-b.by).UTC().Format(time.RFC3339Nano)
	aged, err := json.Marshal(info)
	if err != nil {
		return err
	}
	return st.robot.patch(ctx, st.leasePath(), map[string]any{"metadata": map[string]any{
		"resourceVersion": lease.Metadata.ResourceVersion, "annotations": map[string]string{lockInfo: string(aged)}}})
}
