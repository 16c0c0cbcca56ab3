package terraform

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/state"
)

// contract are the backends, each on its real server.
var contract = []struct {
	name  string
	build func(*testing.T) *lockRig
}{
	{"local", localRig}, {"kubernetes", kubernetesRig}, {"gcs", gcsRig}, {"azurerm", azureRig}, {"consul", consulRig}, {"pg", pgRig}, {"http", httpRig},
	{"s3 with a lock file", func(t *testing.T) *lockRig { return s3Rig(t, "s3", "use_lockfile = true", true, false) }},
	{"s3 with a table", func(t *testing.T) *lockRig { return s3Rig(t, "s3", `dynamodb_table = "locks"`, false, true) }},
	{"s3 with both", func(t *testing.T) *lockRig {
		return s3Rig(t, "s3", "use_lockfile = true\ndynamodb_table = \"locks\"", true, true)
	}},
}

// TestGateContract holds every backend, on a real server, to one contract: the exact plan that was approved is
// applied, once, and over a state that moved under it nothing is written; what was recorded before comes back by a
// restore of a named version, or of a copy where none are kept, and not over the write of another; what no program can
// read is replaced by a copy, and nothing else is; the lock of a run
// that is gone is released by its own id, and not one that another run took since.
func TestGateContract(t *testing.T) {
	t.Parallel()
	for _, on := range contract {
		t.Run(on.name, func(t *testing.T) {
			t.Parallel()
			r := on.build(t)
			r.w.env.Private = t.TempDir()
			r.w.run("apply", "-auto-approve", "-input=false")
			was, now := r.applied(t)
			r.restored(t, was, now)
			r.mended(t)
			r.released(t)
		})
	}
}

// applied holds the gate of an apply to its plan, and returns the states around it.
func (r *lockRig) applied(t *testing.T) (was, now state.Ledger) {
	t.Helper()
	w := r.w
	was = w.ledger()
	w.rewrite(r, quick+"\nresource \"terraform_data\" \"more\" {}\n")
	_, approved := w.saved(nil)
	_, late := w.saved(nil)
	other := steps.Params{"plan": late["plan"], "digest": steps.IdentOf(strings.Repeat("0", 64))}
	wantUnmet(t, w.previewOf("terraform/apply-plan", other), "not the plan that was approved")
	overtaken := w.approve(w.previewOf("terraform/apply-plan", late))
	if o := w.acts("terraform/apply-plan", approved, stepstest.NewSink()); o.Result != steps.Done {
		t.Fatalf("apply-plan = %+v", o)
	}
	now = w.ledger()
	if now.Doc.Serial <= was.Doc.Serial || now.Doc.Lineage != was.Doc.Lineage || len(now.Entries) != len(was.Entries)+1 {
		t.Errorf("after the apply: serial %d, %d entries", now.Doc.Serial, len(now.Entries))
	}
	wantUnmet(t, w.previewOf("terraform/apply-plan", late), "The state is not the one")
	wantRefused(t, w.gate("apply-plan"), overtaken, "The state is not the one")
	if same := w.ledger(); same.Doc.Serial != now.Doc.Serial {
		t.Errorf("the refused plan left serial %d, want %d", same.Doc.Serial, now.Doc.Serial)
	}
	return was, now
}

// wantRefused wants an act to send nothing.
func wantRefused(t *testing.T, g steps.Gater, a *steps.Approval, why string) {
	t.Helper()
	if o, err := g.Act(t.Context(), a, stepstest.NewSink()); err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, why) {
		t.Errorf("Act() = %+v, %v, want it refused with %q", o, err, why)
	}
}

// restored holds the gate of a restore to lineage and serial.
func (r *lockRig) restored(t *testing.T, was, now state.Ledger) {
	t.Helper()
	w := r.w
	lay := func(raw []byte) steps.Params {
		name := filepath.Join(t.TempDir(), "copy.json")
		ok(t, os.WriteFile(name, raw, 0o600))
		return steps.Params{"file": steps.PathOf(name)}
	}
	wantUnmet(t, w.shows("restore-state", lay(bytes.Replace(was.Raw, []byte(was.Doc.Lineage), []byte(rigID), 1))), "has the lineage")
	in := lay(was.Raw)
	if was.Version != "" && w.probe("terraform/versions", nil).Facts["kept"].Bool() && r.backend != "local" {
		in = steps.Params{"version": text(was.Version)}
	}
	p := w.shows("restore-state", in)
	if len(p.Unmet) > 0 {
		t.Fatalf("restore-state is shut: %s", unmet(p))
	}
	if named := in.Text("version") + in.Text("file"); !strings.Contains(p.Effect, named) {
		t.Errorf("the effect does not name %s: %s", named, p.Effect)
	}
	overtaken := w.approve(p)
	if o := w.carry("restore-state", p); o.Result != steps.Done {
		t.Fatalf("restore-state = %+v", o)
	}
	back := w.ledger()
	if d := state.Compare(was.Entries, back.Entries); !d.None() || back.Doc.Serial <= now.Doc.Serial || back.Doc.Lineage != was.Doc.Lineage {
		t.Errorf("after the restore, serial %d: %s", back.Doc.Serial, d)
	}
	wantRefused(t, w.gate("restore-state"), overtaken, "not sent")
	if same := w.ledger(); same.Doc.Serial != back.Doc.Serial {
		t.Errorf("the refused restore left serial %d, want %d", same.Doc.Serial, back.Doc.Serial)
	}
	if slices.Contains([]string{"gcs", "azurerm", "consul", "pg"}, r.backend) { // TestRestore and TestRestoreOnS3 have it elsewhere
		w.undone(p, now)
	}
}

// released holds the gate of a release to the lock of a run that is gone: by its own id, and not that of another.
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
	look := func(id string) steps.Preview {
		t.Helper()
		p, err := gate.Preview(t.Context(), steps.Params{"lock_id": steps.IdentOf(id)}, stepstest.NewSink())
		ok(t, err)
		return p
	}
	id := func() string { t.Helper(); return w.probe("terraform/lock", nil).Facts["id"].Text() }
	mine := backend.LockInfo{Who: r.me()}
	r.put(r.info(mine, time.Minute), rigID)
	if p := look(id()); len(p.Unmet) == 0 || !strings.Contains(p.Phrase, "force-unlock") {
		t.Errorf("a young lock may be released: phrase %q", p.Phrase)
	}
	r.clear()
	r.put(r.info(mine, 47*time.Minute), rigID)
	first := id()
	wantUnmet(t, look("00000000-0000-0000-0000-000000000000"), "someone else took it")
	overtaken := w.confirmed(first)
	r.clear()
	theirs := backend.LockInfo{ID: otherID, Who: r.me()}
	r.put(r.info(theirs, 47*time.Minute), otherID)
	second := id()
	wantRefused(t, gate, overtaken, first)
	wantUnmet(t, look(first), "someone else took it")
	if now := id(); now != second || now == first {
		t.Fatalf("the lock of the other run was %s and is %s; the first was %s", second, now, first)
	}
	if o, err := gate.Act(t.Context(), w.confirmed(second), stepstest.NewSink()); err != nil || o.Result != steps.Done {
		t.Errorf("force-unlock = %+v, %v", o, err)
	}
	if w.probe("terraform/lock", nil).Facts["held"].Bool() {
		t.Error("the lock is still held")
	}
	wantUnmet(t, look(second), "No lock is held")
}
