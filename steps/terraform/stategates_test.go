package terraform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/state"
)

// threeKinds is a module with plain, counted and keyed instances.
const threeKinds = `
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a.id
}
resource "terraform_data" "c" {
  for_each = toset(["k.1", "q\"uo", "$${x}"])
  input    = terraform_data.b[0].id
}
output "id" {
  value = terraform_data.a.id
}
`

// applied is a world with the state of config.
func applied(t *testing.T, kind, config string) *world {
	t.Helper()
	w := newWorld(t, kind, config)
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	return w
}

func (w *world) gate(kind string) steps.Gater {
	w.t.Helper()
	return kindOf("terraform/" + kind).Changes(w.env)
}

func (w *world) shows(kind string, in steps.Params) steps.Preview {
	w.t.Helper()
	p, err := w.gate(kind).Preview(w.t.Context(), in, stepstest.NewSink())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// opens is shows of a gate that nothing keeps shut.
func (w *world) opens(kind string, in steps.Params) steps.Preview {
	w.t.Helper()
	p := w.shows(kind, in)
	if len(p.Unmet) > 0 {
		w.t.Fatalf("%s is shut: %s", kind, unmet(p))
	}
	if !w.twice[kind] { // once for each world
		if again := w.shows(kind, in); again.Digest("i", "s") != p.Digest("i", "s") {
			w.t.Fatalf("two previews of %s differ in digest", kind)
		}
		if w.twice == nil {
			w.twice = map[string]bool{}
		}
		w.twice[kind] = true
	}
	if p.Phrase == "" || p.Effect == "" || p.Command == "" || p.Request == "" || p.Undo == "" || p.Prior == nil {
		w.t.Fatalf("the preview is not complete: %+v", p)
	}
	return p
}

func (w *world) approve(p steps.Preview) *steps.Approval {
	w.t.Helper()
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) carry(kind string, p steps.Preview) steps.Outcome {
	w.t.Helper()
	o, err := w.gate(kind).Act(w.t.Context(), w.approve(p), stepstest.NewSink())
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *world) find(kind string, p steps.Preview, in steps.Params) (steps.Outcome, error) {
	w.t.Helper()
	return w.gate(kind).(steps.Finder).Find(w.t.Context(), append(p.Target, p.Shown...), in, stepstest.NewSink())
}

func (w *world) ledger() state.Ledger {
	w.t.Helper()
	_, s, err := backend.OpenAt(w.t.Context(), w.env, nil, stepstest.NewSink())
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := state.ReadLedger(w.t.Context(), s, func(string) {})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// putBack undoes an act by the command of its preview, as a person would.
func (w *world) putBack(p steps.Preview) error {
	w.t.Helper()
	bin := w.t.TempDir()
	for _, name := range []string{"tofu", "terraform"} {
		if err := os.Symlink(w.tofu, filepath.Join(bin, name)); err != nil {
			w.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", p.Prior.Back)
	cmd.Dir, cmd.Stdin = w.t.TempDir(), bytes.NewReader(p.Prior.Raw)
	// No variable of the backend but credentials: the command must hold what it needs.
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + w.t.TempDir(), "CHECKPOINT_DISABLE=1"}
	for _, kv := range w.bot {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains([]string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "STORAGE_EMULATOR_HOST", "ARM_ACCESS_KEY", "HTTPS_PROXY", "SSL_CERT_FILE"}, name) {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.Prior.Back, err, out)
	}
	return nil
}

func (w *world) undone(p steps.Preview, was state.Ledger) {
	w.t.Helper()
	if err := w.putBack(p); err != nil {
		w.t.Errorf("undo: %v", err)
		return
	}
	now := w.ledger()
	if d := state.Compare(was.Entries, now.Entries); !d.None() || now.Doc.Lineage != was.Doc.Lineage {
		w.t.Errorf("after the undo: %s", d)
	}
	if now.Doc.Serial <= was.Doc.Serial+1 {
		w.t.Errorf("the undo left serial %d", now.Doc.Serial)
	}
}

func addressParams(list ...string) steps.Params {
	return steps.Params{"addresses": steps.StringsOf(list)}
}

func backendsOfTests(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range []string{"local", "kubernetes"} {
		t.Run(kind, func(t *testing.T) { t.Parallel(); f(t, kind) })
	}
}

// TestRemove forgets one address, then several, and puts them back.
func TestRemove(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, kind string) {
		w := applied(t, kind, threeKinds)
		was := w.ledger()
		one := addressParams("terraform_data.a")
		p := w.opens("state-rm", one)
		if p.Phrase != "state-rm terraform_data.a" || len(p.Diff) != 1 {
			t.Errorf("phrase %q, rehearsal %q", p.Phrase, p.Diff)
		}
		if o, err := w.find("state-rm", p, one); err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "as it was") {
			t.Errorf("Find() before the act = %+v, %v, want failed", o, err)
		}
		o := w.carry("state-rm", p)
		if o.Result != steps.Done || steps.Find(o.After, "state serial") != fmt.Sprint(was.Doc.Serial+1) {
			t.Fatalf("Act() = %+v, want done with the next serial", o)
		}
		if o, err := w.find("state-rm", p, one); err != nil || o.Result != steps.Done {
			t.Errorf("Find() after the act = %+v, %v, want done", o, err)
		}
		if len(w.ledger().At("terraform_data.a")) > 0 {
			t.Error("the address is still recorded")
		}
		wantUnmet(t, w.shows("state-rm", one), "is not recorded")
		w.undone(p, was)
		if err := w.putBack(p); err == nil && kind == "local" {
			// The same bytes again are no other write.
			if now := w.ledger(); now.Doc.Serial != was.Doc.Serial+2 {
				t.Errorf("the second undo left serial %d", now.Doc.Serial)
			}
		}

		was = w.ledger()
		batch := addressParams(`terraform_data.c["q\"uo"]`, `terraform_data.b[1]`, `terraform_data.c["$${x}"]`)
		p = w.opens("state-rm", batch)
		if !strings.HasPrefix(p.Phrase, "state-rm 3 ") || len(p.Phrase) != len("state-rm 3 12345678") {
			t.Errorf("phrase = %q", p.Phrase)
		}
		if o := w.carry("state-rm", p); o.Result != steps.Done {
			t.Fatalf("Act() = %+v, want done", o)
		}
		if now := w.ledger(); len(now.Entries) != len(was.Entries)-3 || now.Doc.Serial != was.Doc.Serial+1 {
			t.Errorf("%d objects, serial %d, want three less in one write", len(now.Entries), now.Doc.Serial)
		}
		w.undone(p, was)
	})
}

// TestRemoveIsShut names what keeps the gate from opening.
func TestRemoveIsShut(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	for _, tc := range []struct {
		list []string
		want string
	}{
		{nil, "No address is named"},
		{[]string{"terraform_data.b"}, "means all of them"},
		{[]string{"terraform_data.b[7]"}, "is not recorded"},
		{[]string{"terraform_data.a", "-lock=false"}, "is no address"},
		{[]string{"terraform_data.a\n"}, "is no address"},
		{[]string{"module.x"}, "is not recorded"},
	} {
		wantUnmet(t, w.shows("state-rm", addressParams(tc.list...)), tc.want)
	}
	env := w.env
	w.env.Trusted = func(string) error { return fmt.Errorf("run handrail trust") }
	wantUnmet(t, w.shows("state-rm", addressParams("terraform_data.a")), "Programs may not run there")
	w.env = env
	w.env.Environ = append(w.env.Environ, "TF_WORKSPACE=prod")
	wantUnmet(t, w.shows("state-rm", addressParams("terraform_data.a")), `workspace in effect is "prod"`)
	w.env = env
	w.env.Tool = func(string) (string, error) { return "", fmt.Errorf("no tofu in PATH") }
	wantUnmet(t, w.shows("state-rm", addressParams("terraform_data.a")), "no tofu in PATH")
	w.env = env

	stored := filepath.Join(w.dir, "terraform.tfstate")
	sound, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(sound[:200]): "cannot be changed by address",
		"":                  "0 bytes",
		`{"encryption_version":"v0","serial":1,"lineage":"l","encrypted_data":"x"}`: "encrypted",
	} {
		if err := os.WriteFile(stored, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := w.shows("state-rm", addressParams("terraform_data.a"))
		wantUnmet(t, p, want)
		if p.Prior != nil {
			t.Error("there is an undo for what cannot be done")
		}
	}
	if err := os.Remove(stored); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.dir, ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	wantUnmet(t, w.shows("state-rm", addressParams("terraform_data.a")), "no state is recorded")
}

// TestWriterMeanwhile writes the state between preview and act, and after it.
func TestWriterMeanwhile(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, kind string) {
		w := applied(t, kind, threeKinds)
		p := w.opens("state-rm", addressParams("terraform_data.a"))
		a := w.approve(p)
		w.run("state", "rm", "terraform_data.b[0]")
		o, err := w.gate("state-rm").Act(t.Context(), a, stepstest.NewSink())
		if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "not sent") {
			t.Errorf("Act() after a write = %+v, %v, want refused", o, err)
		}
		p = w.opens("state-rm", addressParams("terraform_data.a"))
		if o := w.carry("state-rm", p); o.Result != steps.Done {
			t.Fatalf("Act() = %+v", o)
		}
		w.run("state", "rm", "terraform_data.b[1]")
		if err := w.putBack(p); err == nil || !strings.Contains(err.Error(), "serial") {
			t.Errorf("the undo overwrote the write of another client: %v", err)
		}
		if o, err := w.find("state-rm", p, addressParams("terraform_data.a")); err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "someone else wrote") {
			t.Errorf("Find() after another write = %+v, %v", o, err)
		}
	})
}

// TestMove gives objects other addresses, and puts them back.
func TestMove(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, kind string) {
		w := applied(t, kind, threeKinds)
		for _, tc := range []struct{ from, to string }{
			{"terraform_data.a", "terraform_data.z"},
			{"terraform_data.b[1]", "module.net.terraform_data.b[1]"},
			{`terraform_data.c["q\"uo"]`, `module.net["eu"].terraform_data.c["other"]`},
			{`terraform_data.c["k.1"]`, `terraform_data.single`},
		} {
			was := w.ledger()
			in := steps.Params{"from": text(tc.from), "to": text(tc.to)}
			p := w.opens("state-mv", in)
			if o, err := w.find("state-mv", p, in); err != nil || o.Result != steps.Failed {
				t.Errorf("Find() before the act = %+v, %v, want failed", o, err)
			}
			if o := w.carry("state-mv", p); o.Result != steps.Done {
				t.Fatalf("Act(%s) = %+v, want done", tc.to, o)
			}
			if o, err := w.find("state-mv", p, in); err != nil || o.Result != steps.Done {
				t.Errorf("Find() after the act = %+v, %v, want done", o, err)
			}
			if now := w.ledger(); len(now.At(tc.from)) > 0 || len(now.At(tc.to)) != 1 || now.Doc.Serial != was.Doc.Serial+1 {
				t.Errorf("%s is recorded as %v", tc.to, now.At(tc.to))
			}
			w.undone(p, was)
		}
	})
}

func TestMoveIsShut(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	for _, tc := range []struct{ from, to, want string }{
		{"terraform_data.b", "terraform_data.z", "means all of them"},
		{"terraform_data.gone", "terraform_data.z", "is not recorded"},
		{"terraform_data.a", "terraform_data.b[0]", "is recorded already"},
		{"terraform_data.a", "terraform_data.a", "already"},
		{"terraform_data.a", "null_resource.a", "not of one type"},
		{"terraform_data.a", "data.terraform_data.a", "not of one type"},
		{"terraform_data.a", "module.x", "does not name one resource instance"},
		{"terraform_data.a", "-lock=false", "is no address"},
		{"terraform_data.a", `terraform_data.b["k"]`, "keys of another sort"},
		{"terraform_data.a", "terraform_data.b", "keys of another sort"},
	} {
		wantUnmet(t, w.shows("state-mv", steps.Params{"from": text(tc.from), "to": text(tc.to)}), tc.want)
	}
}

// TestHeldStateIsShut: while the lock is held no gate opens.
func TestHeldStateIsShut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", sixSlow)
	w.apply()
	wantUnmet(t, w.shows("state-rm", addressParams("terraform_data.a")), "is locked by")
	wantUnmet(t, w.shows("state-mv", steps.Params{"from": text("terraform_data.a"), "to": text("terraform_data.z")}), "is locked by")
}

// TestArgumentsOfTheEnvironment: TF_CLI_ARGS must not change what runs.
func TestArgumentsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	w.env.Environ = append(w.env.Environ, "TF_CLI_ARGS_state_rm=-dry-run", "TF_CLI_ARGS=-chdir=/", "TF_LOG=trace", "TF_LOG_PATH="+filepath.Join(w.dir, "log"))
	p := w.opens("state-rm", addressParams("terraform_data.a"))
	if o := w.carry("state-rm", p); o.Result != steps.Done {
		t.Errorf("Act() = %+v, want done", o)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "log")); err == nil {
		t.Error("a log was written")
	}
}

// TestLiveObjectsStay: what a look at the world finds is not forgotten, and what
// it could not see is said.
func TestLiveObjectsStay(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	looks := 0
	answers := []map[string]state.Presence{}
	g := change.RemoveGate{Env: w.env, Live: func(_ context.Context, _ steps.Env, stored io.ReadSeeker, list []string, _ steps.Sink) (map[string]state.Presence, error) {
		if b, err := io.ReadAll(stored); err != nil || len(b) == 0 {
			t.Errorf("the state that is looked for: %d bytes, %v", len(b), err)
		}
		looks++
		return answers[(looks-1)%len(answers)], nil
	}}
	preview := func(a ...map[string]state.Presence) steps.Preview {
		looks, answers = 0, a
		p, err := g.Preview(t.Context(), addressParams("terraform_data.a"), stepstest.NewSink())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	there := map[string]state.Presence{"terraform_data.a": {Known: true, There: true, Say: "in the place"}}
	gone := map[string]state.Presence{"terraform_data.a": {Known: true, Say: "not in the place"}}
	wantUnmet(t, preview(there), "exists: in the place")
	wantUnmet(t, preview(gone, there), "exists: in the place")
	if p := preview(gone, gone); len(p.Unmet) > 0 || looks != 2 || !strings.Contains(steps.Find(p.Shown, "absent"), "two reads") {
		t.Errorf("absent twice: %v after %d looks, shown %v", p.Unmet, looks, p.Shown)
	}
	if p := preview(gone, map[string]state.Presence{}); len(p.Unmet) > 0 || steps.Find(p.Shown, "unknown") == "" {
		t.Errorf("a second look without an answer: %v, shown %v", p.Unmet, p.Shown)
	}
	g.Live = nil
	if p := preview(nil); len(p.Unmet) > 0 || !strings.Contains(steps.Find(p.Shown, "objects"), "unknown") {
		t.Errorf("not looked: %v, shown %v", p.Unmet, p.Shown)
	}
}

// TestGatesOnServers: the gates that change a state by address on the other backends that have a server here;
// TestGateContract has the restore.
func TestGatesOnServers(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T) *world{
		"pg": func(t *testing.T) *world {
			return newBackend(t, "pg", "", threeKinds, service(t, "postgres", t.TempDir()).Env...)
		},
		"consul": func(t *testing.T) *world {
			return newBackend(t, "consul", `path = "tf/net"`, threeKinds, service(t, "consul", t.TempDir()).Env...)
		},
		"gcs": func(t *testing.T) *world { w, _ := gcsWorld(t, threeKinds); return w },
		"azurerm": func(t *testing.T) *world {
			a := newAzureWorld(t)
			return newBackend(t, "azurerm", a.block(), threeKinds, a.environ...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := make(t)
			w.run("apply", "-auto-approve", "-input=false", "-no-color")
			for _, step := range []struct {
				kind string
				in   steps.Params
			}{
				{"state-rm", addressParams("terraform_data.a", "terraform_data.b[1]")},
				{"state-mv", steps.Params{"from": text("terraform_data.b[0]"), "to": text("module.x.terraform_data.b[0]")}},
			} {
				was := w.ledger()
				p := w.opens(step.kind, step.in)
				if o := w.carry(step.kind, p); o.Result != steps.Done {
					t.Fatalf("%s = %+v", step.kind, o)
				}
				if o, err := w.find(step.kind, p, step.in); err != nil || o.Result != steps.Done {
					t.Errorf("Find() after %s = %+v, %v", step.kind, o, err)
				}
				w.undone(p, was)
			}
		})
	}
}
