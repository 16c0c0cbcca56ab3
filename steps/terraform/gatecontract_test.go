package terraform

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/state"
)

// TestGateContract holds every backend, on a real server, to one contract: an approved
// plan is applied once, as it was approved; over a state that moved under it nothing is
// written; what was recorded before comes back by a restore; a young lock is not
// released, and an old one of a run that is gone is, where force-unlock can.
func TestGateContract(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(*testing.T) *lockRig{
		"local": localRig, "kubernetes": kubernetesRig, "gcs": gcsRig, "azurerm": azureRig, "consul": consulRig, "pg": pgRig, "http": httpRig,
		"s3 and dynamodb": func(t *testing.T) *lockRig {
			return s3Rig(t, "s3, lock file and table", "use_lockfile = true\ndynamodb_table = \"locks\"", true, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t)
			w := r.w
			w.env.Private = t.TempDir()
			w.run("apply", "-auto-approve", "-input=false")
			first, was := w.copyOfState()
			w.rewrite(r, quick+"\nresource \"terraform_data\" \"more\" {}\n")
			_, approved := w.saved(nil)
			_, late := w.saved(nil)
			sink := stepstest.NewSink()
			if o := w.acts("terraform/apply-plan", approved, sink); o.Result != steps.Done {
				t.Fatalf("apply-plan = %+v", o)
			}
			now := w.ledger()
			if now.Doc.Serial <= was.Doc.Serial || now.Doc.Lineage != was.Doc.Lineage || len(now.Entries) != len(was.Entries)+1 {
				t.Errorf("after the apply: serial %d, %d entries", now.Doc.Serial, len(now.Entries))
			}
			wantUnmet(t, w.previewOf("terraform/apply-plan", late), "The state is not the one")
			if same := w.ledger(); same.Doc.Serial != now.Doc.Serial {
				t.Errorf("the refused plan left serial %d, want %d", same.Doc.Serial, now.Doc.Serial)
			}

			in := steps.Params{"file": steps.PathOf(first)}
			p := w.shows("restore-state", in)
			if len(p.Unmet) > 0 {
				t.Fatalf("restore-state is shut: %s", unmet(p))
			}
			if o := w.carry("restore-state", p); o.Result != steps.Done {
				t.Fatalf("restore-state = %+v", o)
			}
			back := w.ledger()
			if d := state.Compare(was.Entries, back.Entries); !d.None() || back.Doc.Serial <= now.Doc.Serial {
				t.Errorf("after the restore, serial %d: %s", back.Doc.Serial, d)
			}
			r.released(t)
		})
	}
}

// released holds the gate of a release to the lock of a run that is gone.
func (r *lockRig) released(t *testing.T) {
	t.Helper()
	w := r.w
	gate := change.UnlockGate{Env: w.env}
	if r.put == nil {
		// The lock ends with its session, its process, or by the server's own means.
		p, err := gate.Preview(t.Context(), steps.Params{"lock_id": steps.IdentOf(rigID)}, stepstest.NewSink())
		if err == nil && len(p.Unmet) == 0 {
			t.Errorf("force-unlock is open on %s, where it releases nothing that is known", r.backend)
		}
		return
	}
	for _, lock := range []struct {
		age  time.Duration
		open bool
	}{{time.Minute, false}, {47 * time.Minute, true}} {
		r.put(r.info(backend.LockInfo{Who: r.me()}, lock.age), rigID)
		id := w.probe("terraform/lock", nil).Facts["id"]
		p, err := gate.Preview(t.Context(), steps.Params{"lock_id": id}, stepstest.NewSink())
		switch {
		case err != nil:
			t.Fatal(err)
		case (len(p.Unmet) == 0) != lock.open:
			t.Errorf("a lock of %s: %s", lock.age, unmet(p))
		case lock.open:
			if o, err := gate.Act(t.Context(), w.confirmed(id.Text()), stepstest.NewSink()); err != nil || o.Result != steps.Done {
				t.Errorf("force-unlock = %+v, %v", o, err)
			}
		case !strings.Contains(p.Phrase, "force-unlock"):
			t.Errorf("phrase = %q", p.Phrase)
		}
		if !lock.open {
			r.clear()
		} else if w.probe("terraform/lock", nil).Facts["held"].Bool() {
			t.Error("the lock is still held")
		}
	}
}
