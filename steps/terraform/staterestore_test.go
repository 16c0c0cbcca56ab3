package terraform

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
)

// write puts bytes where the state of the workspace is, as an accident would.
func (w *world) overwrite(backend string, raw []byte) {
	w.t.Helper()
	if backend == "local" {
		if err := os.WriteFile(filepath.Join(w.dir, "terraform.tfstate"), raw, 0o600); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	client, lease := w.admin()
	address := fmt.Sprintf("%s/api/v1/namespaces/%s/secrets/tfstate-default-%s", lease[:strings.Index(lease, "/apis/")], w.ns.Name, w.suffix())
	body := fmt.Sprintf(`{"data":{"tfstate":%q}}`, base64.StdEncoding.EncodeToString(raw))
	req, err := http.NewRequest(http.MethodPatch, address, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("PATCH of the Secret: %s", resp.Status)
	}
}

func packed(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// copyOfState writes a copy of the present state beside nothing that tofu knows.
func (w *world) copyOfState() (file string, l state.Ledger) {
	w.t.Helper()
	l = w.ledger()
	file = filepath.Join(w.t.TempDir(), "copy.json")
	if err := os.WriteFile(file, l.Raw, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file, l
}

func (w *world) restores(file string, was state.Ledger) steps.Preview {
	w.t.Helper()
	in := steps.Params{"file": steps.PathOf(file)}
	p := w.shows("restore-state", in)
	if len(p.Unmet) > 0 {
		w.t.Fatalf("restore-state is shut: %s", unmet(p))
	}
	if again := w.shows("restore-state", in); again.Digest("i", "s") != p.Digest("i", "s") {
		w.t.Fatal("two previews differ in digest")
	}
	if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Failed {
		w.t.Errorf("Find() before the act = %+v, %v, want failed", o, err)
	}
	o := w.carry("restore-state", p)
	if o.Result != steps.Done {
		w.t.Fatalf("Act() = %+v, want done", o)
	}
	if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Done {
		w.t.Errorf("Find() after the act = %+v, %v, want done", o, err)
	}
	now := w.ledger()
	if d := state.Compare(was.Entries, now.Entries); !d.None() || now.Doc.Lineage != was.Doc.Lineage || !slices.Contains([]string{fmt.Sprint(now.Doc.Serial), fmt.Sprint(now.Doc.Serial - 1), fmt.Sprint(now.Doc.Serial - 2)}, steps.Find(p.Target, "pushed serial")) {
		w.t.Errorf("restored serial %d, pushed %s; %s", now.Doc.Serial, steps.Find(p.Target, "pushed serial"), d)
	}
	return p
}

// TestRestore writes an older state as the newest, and puts the newer one back.
func TestRestore(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, backend string) {
		w := applied(t, backend, threeKinds)
		file, was := w.copyOfState()
		w.run("state", "rm", "terraform_data.b[0]", "terraform_data.b[1]")
		w.run("state", "mv", "terraform_data.a", "terraform_data.z")
		later := w.ledger()
		p := w.restores(file, was)
		if !slices.Contains(p.Diff, "+ terraform_data.b[0]") || !slices.Contains(p.Diff, "- terraform_data.z") || steps.Find(p.Shown, "resources") != "4 -> 6 (+2)" {
			t.Errorf("differences = %q, shown %v", p.Diff, p.Shown)
		}
		if now := w.ledger(); now.Doc.Serial <= later.Doc.Serial {
			t.Errorf("serial %d is not above %d", now.Doc.Serial, later.Doc.Serial)
		}
		wantUnmet(t, w.shows("restore-state", steps.Params{"file": steps.PathOf(file)}), "records the same already")
		if plan := w.probe("terraform/plan", nil); !plan.Facts["clean"].Bool() {
			t.Errorf("the plan after the restore = %v", plan.Findings)
		}
		w.undone(p, later)

		// After another write the undo is refused.
		p = w.restores(file, was)
		w.run("state", "rm", "terraform_data.a")
		if err := w.putBack(p); err == nil || !strings.Contains(err.Error(), "serial") {
			t.Errorf("the undo overwrote the write of another client: %v", err)
		}
	})
}

// TestRestoreOverWhatCannotBeRead: no program writes over it, with force neither;
// the gate does, and says how.
func TestRestoreOverWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, backend string) {
		w := applied(t, backend, threeKinds)
		file, was := w.copyOfState()
		twice := bytes.Replace(was.Raw, []byte(`"resources":`), []byte(`"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"a/b/c\"]","instances":[{"attributes":{}},{"attributes":{}}]}],"x":`), 1)
		broken := map[string][]byte{"truncated": was.Raw[:len(was.Raw)/2], "merge": []byte("<<<<<<< HEAD\n"), "foreign": []byte(`{"message":"no"}`), "empty": {}, "duplicate": twice}
		if backend == "kubernetes" {
			for name, raw := range broken {
				broken[name] = packed(t, raw)
			}
			broken["packed and cut"] = packed(t, was.Raw)[:100]
			broken["not packed"] = was.Raw
		}
		for name, raw := range broken {
			w.overwrite(backend, raw)
			if name != "empty" || backend != "local" {
				for _, force := range [][]string{{file}, {"-force", file}} {
					if said, err := w.tofuSays(append([]string{"state", "push"}, force...)...); err == nil {
						t.Errorf("%s: the program writes over it by itself: %s", name, said)
					}
				}
			}
			p := w.restores(file, was)
			if p.Prior != nil && !strings.Contains(p.Undo, "Nothing puts a broken state back") {
				t.Errorf("%s: undo %q", name, p.Undo)
			}
			if backend == "local" {
				kept, err := filepath.Glob(filepath.Join(w.dir, "terraform.tfstate.*.broken"))
				if err != nil || len(kept) == 0 {
					t.Fatalf("%s: no copy of the broken state is kept: %v", name, err)
				}
				found := slices.ContainsFunc(kept, func(n string) bool { b, err := os.ReadFile(n); return err == nil && bytes.Equal(b, raw) })
				if !found {
					t.Errorf("%s: none of %q has its bytes", name, kept)
				}
			} else if p.Prior == nil && name != "empty" {
				t.Errorf("%s: the broken bytes are kept nowhere", name)
			}
			if plan := w.probe("terraform/plan", nil); !plan.Facts["clean"].Bool() {
				t.Errorf("%s: the plan after the restore = %v", name, plan.Findings)
			}
		}
	})
}

func (w *world) tofuSays(args ...string) (string, error) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.tofu, args...)
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = w.dir, w.bot, &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(said.String()), " "))
	}
	return string(out), err
}

// TestRestoreIsShut names what keeps the gate from opening.
func TestRestoreIsShut(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	file, was := w.copyOfState()
	w.run("state", "rm", "terraform_data.a")
	put := func(raw []byte) string {
		name := filepath.Join(t.TempDir(), "candidate")
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, tc := range []struct {
		in   steps.Params
		want string
	}{
		{nil, "neither a version nor a file"},
		{steps.Params{"file": steps.PathOf(file), "version": text("x")}, "both a version and a file"},
		{steps.Params{"file": steps.PathOf("/nonexistent")}, "no such file"},
		{steps.Params{"version": text("gone")}, "not among the versions"},
		{steps.Params{"version": text("terraform.tfstate")}, "is the present one"},
		{steps.Params{"file": steps.PathOf(put(was.Raw[:100]))}, "is not sound"},
		{steps.Params{"file": steps.PathOf(put(nil))}, "0 bytes"},
		{steps.Params{"file": steps.PathOf(put([]byte(`{"encryption_version":"v0","serial":1,"lineage":"l","encrypted_data":"x"}`)))}, "encrypted"},
		{steps.Params{"file": steps.PathOf(put(bytes.Replace(was.Raw, []byte(was.Doc.Lineage), []byte("11111111-2222-3333-4444-555555555555"), 1)))}, "has the lineage"},
	} {
		p := w.shows("restore-state", tc.in)
		wantUnmet(t, p, tc.want)
	}
	// An encrypted state is not broken: its key opens it.
	w.overwrite("local", []byte(`{"encryption_version":"v0","serial":1,"lineage":"`+was.Doc.Lineage+`","encrypted_data":"x"}`))
	wantUnmet(t, w.shows("restore-state", steps.Params{"file": steps.PathOf(file)}), "encrypted")
}

// TestRestoreVersion takes a version of the backend's own list.
func TestRestoreVersion(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	was := w.ledger()
	w.run("state", "rm", "terraform_data.a")
	backups, err := filepath.Glob(filepath.Join(w.dir, "terraform.tfstate.*.backup"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("backups = %v, %v", backups, err)
	}
	id := filepath.Base(backups[0])
	in := steps.Params{"version": text(id)}
	p := w.opens("restore-state", in)
	var table []string
	for _, kv := range p.Shown {
		if kv.Key == "version" {
			table = append(table, kv.Value)
		}
	}
	if p.Phrase != "restore-state default "+id || len(table) != 2 || !strings.Contains(table[1], "the one that is restored") {
		t.Errorf("phrase %q, table %q", p.Phrase, table)
	}
	if o := w.carry("restore-state", p); o.Result != steps.Done {
		t.Fatalf("Act() = %+v", o)
	}
	if diff := cmp.Diff(was.Entries, w.ledger().Entries, cmp.AllowUnexported(state.Entry{})); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// TestFoundBetweenMendingAndPush: the process dies after it replaced what no
// program could read, or in the middle of that.
func TestFoundBetweenMendingAndPush(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, backend string) {
		w := applied(t, backend, threeKinds)
		file, was := w.copyOfState()
		stored := func(raw []byte) []byte {
			if backend == "local" {
				return raw
			}
			return packed(t, raw)
		}
		w.overwrite(backend, stored(was.Raw[:100]))
		in := steps.Params{"file": steps.PathOf(file)}
		p := w.shows("restore-state", in)
		w.overwrite(backend, stored(was.Raw[:150]))
		if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "other bytes than before") {
			t.Errorf("Find() of a half-written state = %+v, %v", o, err)
		}
		mended := regexp.MustCompile(`"serial":( ?)\d+`).ReplaceAll(was.Raw, fmt.Appendf(nil, `"serial":${1}%d`, was.Doc.Serial+1))
		w.overwrite(backend, stored(mended))
		if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Done || !strings.Contains(o.Response, "push after that did not come") {
			t.Errorf("Find() before the push = %+v, %v", o, err)
		}
		if plan := w.probe("terraform/plan", nil); !plan.Facts["clean"].Bool() {
			t.Errorf("the plan = %v", plan.Findings)
		}
	})
}

// TestNamedWorkspace keeps to the workspace that is selected.
func TestNamedWorkspace(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, backend string) {
		w := applied(t, backend, threeKinds)
		other := w.ledger().Sum()
		w.run("workspace", "new", "prod")
		w.run("apply", "-auto-approve", "-input=false", "-no-color")
		was := w.ledger()
		p := w.opens("state-rm", addressParams("terraform_data.a"))
		if steps.Find(p.Target, module.KeyWorkspace) != "prod" {
			t.Errorf("target = %v", p.Target)
		}
		a := w.approve(p)
		w.run("workspace", "select", "default")
		if o, err := w.gate("state-rm").Act(t.Context(), a, stepstest.NewSink()); err != nil || o.Result != steps.Refused {
			t.Errorf("Act() in another workspace = %+v, %v, want refused", o, err)
		}
		w.run("workspace", "select", "prod")
		if o := w.carry("state-rm", w.opens("state-rm", addressParams("terraform_data.a"))); o.Result != steps.Done {
			t.Errorf("Act() = %+v", o)
		}
		w.undone(p, was)
		w.run("workspace", "select", "default")
		if w.ledger().Sum() != other {
			t.Error("the state of the other workspace was written")
		}
	})
}
