package state

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfstate"
)

// Snapshot is what must not move while a plan runs.
type Snapshot struct {
	Exists  bool
	Empty   bool // it has 0 bytes, which the tools take for none: Exists is false
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
	if st.Condition() == tfstate.Empty {
		out.Exists, out.Empty = false, true
		return out, nil
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

// Plannable says why no plan starts where there is no state: a backend other than the
// local one would create it, and after a lost state the plan would create everything once
// more.
func (s Snapshot) Plannable(ctx context.Context, w module.Workdir) error {
	switch {
	case s.Exists:
	case w.Backend != "local":
		return errors.New("no state here, opening it would create one")
	case s.Empty:
		if why := Earlier(ctx, w); why != "" {
			return fmt.Errorf("the state has 0 bytes, and %s; restore it first, or the plan would create everything once more", why)
		}
	}
	return nil
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
