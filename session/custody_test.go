package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"handrail/evidence"
	"handrail/session"
	"handrail/session/audit"
	"handrail/steps"
	"handrail/triage"
)

type told struct {
	Context map[string]triage.Value `json:"context"`
	Audit   []string                `json:"audit"`
}

// contexts are the env entries of a bundle that tell its surroundings.
func contexts(t *testing.T, path string) []told {
	t.Helper()
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []told
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		var v told
		if err := json.Unmarshal(e.Data, &v); err != nil {
			t.Fatal(err)
		}
		if e.Type == "env" && v.Context != nil {
			out = append(out, v)
		}
	}
	return out
}

// surrounded opens an incident with both looks, lets it go and returns its path.
func surrounded(t *testing.T, here, server session.Gather) (*stage, string) {
	t.Helper()
	st := newStage(t)
	st.cfg.Here, st.cfg.Server = here, server
	s := st.start(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return st, s.Snapshot().Bundle
}

func TestSurroundingsAreRecordedBesideTheIncident(t *testing.T) {
	t.Parallel()
	id := ""
	here := func(context.Context, steps.Env, triage.State) map[string]steps.Value {
		return map[string]steps.Value{
			"git.head":  steps.IdentOf("0123456789abcdef0123456789abcdef01234567"),
			"host.user": steps.StringOf("ana " + leaked),
			"git.dirty": steps.Unknown(steps.String, "could not check, because the index is odd"),
		}
	}
	server := func(ctx context.Context, _ steps.Env, st triage.State) map[string]steps.Value {
		id = steps.NextAudit(ctx)
		return map[string]steps.Value{"api.user": steps.StringOf("ana"), "of": steps.StringOf(st.Incident)}
	}
	st := newStage(t)
	st.cfg.Here, st.cfg.Server, st.cfg.Secrets = here, server, []string{leaked}
	s := st.start(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list := contexts(t, s.Snapshot().Bundle)
	if len(list) != 2 {
		t.Fatalf("%d entries tell the surroundings, want one of the machine and one of the cluster", len(list))
	}
	slices.SortFunc(list, func(a, b told) int { return len(a.Audit) - len(b.Audit) })
	machine, cluster := list[0].Context, list[1]
	if got := string(machine["git.head"].Raw()); got != `"0123456789abcdef0123456789abcdef01234567"` {
		t.Errorf("git.head = %s: what identifies must not be redacted", got)
	}
	if why := machine["git.dirty"].Why(); why != "could not check, because the index is odd" {
		t.Errorf("git.dirty is unknown because %q", why)
	}
	if v := string(machine["host.user"].Raw()); v == `"ana `+leaked+`"` {
		t.Errorf("a secret was recorded: %s", v)
	}
	if !slices.Equal(cluster.Audit, []string{id}) || id != session.AuditID(s.Snapshot().State.Incident, "", 3, 1) {
		t.Errorf("the entry names %q, the request had %q", cluster.Audit, id)
	}
	report, err := evidence.Verify(s.Snapshot().Bundle)
	if err != nil || !report.OK() {
		t.Errorf("Verify = %+v, %v", report, err)
	}
	if _, err := audit.Bundle(s.Snapshot().Bundle, st.w, audit.Verifier{}); err != nil {
		t.Error(err)
	}
}

func TestALookThatBreaksOrHangsBlocksNothing(t *testing.T) {
	t.Parallel()
	broken := func(context.Context, steps.Env, triage.State) map[string]steps.Value { panic("a bug") }
	hanging := func(ctx context.Context, _ steps.Env, _ triage.State) map[string]steps.Value {
		<-ctx.Done()
		return map[string]steps.Value{"cluster.uid": steps.Unknown(steps.String, "could not check, because "+ctx.Err().Error())}
	}
	_, path := surrounded(t, broken, hanging)
	list := contexts(t, path)
	if len(list) != 2 {
		t.Fatalf("%d entries, want one that tells of the fault and one of the silence", len(list))
	}
	for _, v := range list {
		for name, value := range v.Context {
			if value.Known() || value.Why() == "" {
				t.Errorf("%s = %+v, want why it is not known", name, value)
			}
		}
	}
}

func TestSurroundingsOfAnIncidentAreOfEachOpening(t *testing.T) {
	t.Parallel()
	here := func(context.Context, steps.Env, triage.State) map[string]steps.Value {
		return map[string]steps.Value{"host.name": steps.StringOf("laptop")}
	}
	st, path := surrounded(t, here, nil)
	s, err := session.Resume(t.Context(), st.cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(contexts(t, path)); n != 2 {
		t.Errorf("%d entries after one opening and one resume, want 2", n)
	}
}
