package state

import (
	"context"
	"fmt"
	"slices"

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

// Plannable says why no plan starts where there is no state: opening the backend would write
// one, and after a lost state the plan would create everything once more.
func (s Snapshot) Plannable(ctx context.Context, w module.Workdir) error {
	switch {
	case s.Exists:
	case s.Empty:
		why := Earlier(ctx, w)
		if why != "" {
			return fmt.Errorf("the state has 0 bytes, and %s; restore it first, or the plan would create everything once more", why)
		}
	case w.Backend != "local" && !(w.Space == defaultSpace && slices.Contains(opensWithoutWriting, w.Backend)):
		return fmt.Errorf("no state here, and opening it would create one: the program writes an empty state as soon as it opens %s (workspace %s), so that a run which began has left one; look for it under another workspace, key or account, and plan by hand if none was ever there", w.Backend, w.Space)
	}
	return nil
}

const defaultSpace = "default"

// opensWithoutWriting are the backends that write no empty state where the default workspace has
// none, by their code in OpenTofu and Terraform (StateMgr): they take that one to be always there.
// pg is left out since it makes its schema and table first.
var opensWithoutWriting = []string{"consul", "http", "s3"}

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
