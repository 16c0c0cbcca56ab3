package state

import (
	"context"
	"fmt"

	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfstate"
)

// Snapshot is what must not move while a plan runs.
type Snapshot struct {
	Exists  bool
	Serial  int64
	Lineage string
	LockID  string
	Held    bool
}

// Snap reads lock and state natively.
func Snap(ctx context.Context, s backend.Store) (Snapshot, error) {
	l, err := s.Lock(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	r, err := s.State(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	out := Snapshot{Exists: r.Exists, Held: l.Held, LockID: l.ID}
	if !r.Exists {
		return out, nil
	}
	if r.Broken != "" {
		return Snapshot{}, fmt.Errorf("state at %s: %s", r.Where, r.Broken)
	}
	defer r.Body.Close()
	st, err := parseState(module.Until(ctx, r.Body), func(string) {})
	if err != nil {
		return Snapshot{}, fmt.Errorf("state at %s: %w", r.Where, err)
	}
	if !st.hasSerial {
		why := "it has no serial"
		if st.BeyondSerial != "" {
			why = st.beyond()
		}
		if len(st.broken) > 0 {
			why = st.broken[0]
		}
		return Snapshot{}, fmt.Errorf("state at %s cannot be told apart from another: %s", r.Where, why)
	}
	out.Serial, out.Lineage = st.serial, st.lineage
	return out, nil
}

// SnapWith is Snap, and what the state says of itself.
func SnapWith(ctx context.Context, s backend.Store) (Snapshot, *tfstate.Doc, error) {
	before, err := Snap(ctx, s)
	if err != nil || !before.Exists {
		return before, &tfstate.Doc{}, err
	}
	r, err := s.State(ctx)
	if err != nil || !r.Exists || r.Broken != "" {
		return before, &tfstate.Doc{}, err
	}
	defer r.Body.Close()
	d, err := tfstate.Read(module.Until(ctx, r.Body), tfstate.Options{})
	return before, d, err
}
