package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// lockInfo is the annotation in which the kubernetes backend keeps what it
// knows of a lock.
const lockInfo = "app.terraform.io/lock-info"

// backdateLease moves what the lock says of itself, and the time that the API server
// keeps of the write: the gate holds the one against the other. The server takes
// that time only from another writer than its own, together with a change.
func (st *Stage) backdateLease(ctx context.Context, by time.Duration) error {
	var lease map[string]any
	if err := st.Robot.Get(ctx, st.LeasePath(), &lease); err != nil {
		return fmt.Errorf("lock of the state: %w", err)
	}
	meta, _ := lease["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	said, _ := notes[lockInfo].(string)
	var info map[string]any
	if err := json.Unmarshal([]byte(said), &info); err != nil {
		return fmt.Errorf("lock info of %s: %w", st.LeasePath(), err)
	}
	text, _ := info["Created"].(string)
	created, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("lock info of %s: %w", st.LeasePath(), err)
	}
	info["Created"] = created.Add(-by).UTC().Format(time.RFC3339Nano)
	aged, err := json.Marshal(info)
	if err != nil {
		return err
	}
	notes[lockInfo] = string(aged)
	if err := agedHolder(meta, by); err != nil {
		return fmt.Errorf("writers of %s: %w", st.LeasePath(), err)
	}
	body, err := json.Marshal(lease)
	if err != nil {
		return err
	}
	return st.Robot.Do(ctx, http.MethodPut, st.LeasePath()+"?fieldManager=lease-backdate", "application/json", body, nil)
}

// agedHolder moves the time at which the holder of the Lease was set.
func agedHolder(meta map[string]any, by time.Duration) error {
	writers, _ := meta["managedFields"].([]any)
	moved := false
	for _, w := range writers {
		w, _ := w.(map[string]any)
		fields, _ := w["fieldsV1"].(map[string]any)
		spec, _ := fields["f:spec"].(map[string]any)
		if _, holds := spec["f:holderIdentity"]; !holds {
			continue
		}
		text, _ := w["time"].(string)
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return err
		}
		w["time"], moved = at.Add(-by).UTC().Format(time.RFC3339), true
	}
	if !moved {
		return errors.New("none of them set the holder")
	}
	return nil
}
