package terraform

import (
	"context"
	"fmt"

	"handrail/steps/terraform/tfstate"
)

// snapshot is what must not move while a plan runs.
type snapshot struct {
	exists  bool
	serial  int64
	lineage string
	lockID  string
	held    bool
}

// snap reads lock and state natively.
func snap(ctx context.Context, s store) (snapshot, error) {
	l, err := s.lock(ctx)
	if err != nil {
		return snapshot{}, err
	}
	r, err := s.state(ctx)
	if err != nil {
		return snapshot{}, err
	}
	out := snapshot{exists: r.exists, held: l.held, lockID: l.id}
	if !r.exists {
		return out, nil
	}
	if r.broken != "" {
		return snapshot{}, fmt.Errorf("state at %s: %s", r.where, r.broken)
	}
	defer r.body.Close()
	st, err := parseState(bounded(ctx, r.body), func(string) {})
	if err != nil {
		return snapshot{}, fmt.Errorf("state at %s: %w", r.where, err)
	}
	if !st.hasSerial {
		why := "it has no serial"
		if st.BeyondSerial != "" {
			why = st.beyond()
		}
		if len(st.broken) > 0 {
			why = st.broken[0]
		}
		return snapshot{}, fmt.Errorf("state at %s cannot be told apart from another: %s", r.where, why)
	}
	out.serial, out.lineage = st.serial, st.lineage
	return out, nil
}

// snapWith is snap, and what the state says of itself.
func snapWith(ctx context.Context, s store) (snapshot, *tfstate.Doc, error) {
	before, err := snap(ctx, s)
	if err != nil || !before.exists {
		return before, &tfstate.Doc{}, err
	}
	r, err := s.state(ctx)
	if err != nil || !r.exists || r.broken != "" {
		return before, &tfstate.Doc{}, err
	}
	defer r.body.Close()
	d, err := tfstate.Read(bounded(ctx, r.body), tfstate.Options{})
	return before, d, err
}
