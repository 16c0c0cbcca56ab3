package stage

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// StateVersion is what a drill needs to know of a state.
type StateVersion struct {
	Serial  int64
	Lineage string
}

// State is the version of the state in the backend.
func (st *Stage) State(ctx context.Context) (StateVersion, error) {
	var r StateVersion
	raw, err := st.RawState(ctx)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("state of the drill: %w", err)
	}
	return r, nil
}

// PutState writes the state past the tool and its lock, where the backend lets it.
func (st *Stage) PutState(ctx context.Context, raw []byte) error {
	if st.Rec.Bucket != nil {
		return os.WriteFile(st.stateFile(), raw, 0o600)
	}
	if st.Rec.Backend == BackendLocal {
		return os.WriteFile(filepath.Join(st.Rec.Dir, "terraform.tfstate"), raw, 0o600)
	}
	if !st.inCluster() {
		if json.Valid(raw) { // as a person would
			return st.push(ctx, raw)
		}
		p, err := st.place()
		if err != nil {
			return err
		}
		return p.Overwrite(ctx, raw)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(raw); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return st.Robot.Patch(ctx, st.statePath(), map[string]any{"data": map[string][]byte{"tfstate": zipped.Bytes()}})
}

func (st *Stage) statePath() string {
	return "/api/v1/namespaces/" + st.Rec.Namespace.Name + "/secrets/tfstate-default-" + st.Rec.Suffix
}

// RawState is the state as the backend has it, unpacked.
func (st *Stage) RawState(ctx context.Context) ([]byte, error) {
	if st.Rec.Bucket != nil {
		raw, err := os.ReadFile(st.stateFile())
		if err != nil {
			err = fmt.Errorf("state of the drill: %w", err)
		}
		return raw, err
	}
	if !st.inCluster() {
		return st.storedState(ctx)
	}
	var secret struct{ Data struct{ TFState []byte } }
	if err := st.Robot.Get(ctx, st.statePath(), &secret); err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(secret.Data.TFState))
	if err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(unzip, MaxAnswer))
	if err := errors.Join(err, unzip.Close()); err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	return raw, nil
}
