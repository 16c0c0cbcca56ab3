package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// withTofu is the test world and the real gates that change a state.
type withTofu struct{ *world }

func (w withTofu) Lookup(name string) (steps.Kind, bool) {
	if strings.HasPrefix(name, "terraform/") {
		return catalog.New().Lookup(name)
	}
	return w.world.Lookup(name)
}

// module is a root module with a real tofu and a state on disk.
type module struct{ dir, tofu string }

func newModule(t *testing.T, text string) module {
	t.Helper()
	tofu, err := lab.Tofu(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := module{t.TempDir(), tofu}
	if err := os.WriteFile(filepath.Join(m.dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.run(t, "", "init", "-input=false")
	m.run(t, "", "apply", "-auto-approve", "-input=false")
	return m
}

func (m module) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), m.tofu, append(args, "-no-color")...)
	if args[0] == "state" {
		cmd = exec.CommandContext(t.Context(), m.tofu, args...)
	}
	cmd.Dir, cmd.Env, cmd.Stdin = m.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "CHECKPOINT_DISABLE=1"}, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tofu %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// onState is a stage whose gate changes the state of m.
func onState(t *testing.T, m module, gate, with string) *stage {
	t.Helper()
	st := newStage(t)
	st.cfg.Catalog = withTofu{st.w}
	st.cfg.Env = steps.Env{Dir: m.dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir}, Home: m.dir, Now: time.Now, Version: "test",
		Tool: func(string) (string, error) { return m.tofu, nil }, Trusted: func(string) error { return nil }}
	src := strings.Replace(book, "gate: test/unlock\n    with: {id: \"${facts.lock.id}\"}", fmt.Sprintf("gate: %s\n    with: %s", gate, with), 1)
	var err error
	if st.rb, err = runbooks.Parse("test-lock.yaml", []byte(src), st.cfg.Catalog); err != nil {
		t.Fatal(err)
	}
	return st
}

const secretModule = `
variable "password" {
  default   = "Zt7-planted-in-a-state-93kq"
  sensitive = true
}
resource "terraform_data" "db" {
  input = var.password
}
resource "terraform_data" "web" {
  count = 2
  input = "plain"
}
`

// TestStateComesBack takes each gate that changes a state through a session: its
// copy is encrypted outside of the bundle, nothing else on the disk of handrail
// holds the secret in it, and `state push` of the copy undoes the act.
func TestStateComesBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ gate, with, check string }{
		{"terraform/state-rm", `{dir: ".", addresses: ["terraform_data.web[0]", "terraform_data.db"]}`, "terraform_data.web[1]"},
		{"terraform/state-mv", `{dir: ".", from: "terraform_data.db", to: "module.x.terraform_data.db"}`, "module.x.terraform_data.db"},
		{"terraform/restore-state", `{dir: ".", file: old.tfstate}`, "terraform_data.db"},
	} {
		t.Run(tc.gate, func(t *testing.T) {
			t.Parallel()
			m := newModule(t, secretModule)
			if tc.gate == "terraform/restore-state" {
				raw, err := os.ReadFile(filepath.Join(m.dir, "terraform.tfstate"))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(m.dir, "old.tfstate"), raw, 0o600); err != nil {
					t.Fatal(err)
				}
				m.run(t, "", "state", "rm", "terraform_data.web[0]")
			}
			before := m.run(t, "", "state", "list")
			st := onState(t, m, tc.gate, tc.with)
			id := st.key(t)
			var bundle string
			g := deleted(t, st, &bundle)
			if now := m.run(t, "", "state", "list"); now == before || !strings.Contains(now, tc.check) {
				t.Errorf("after the act: %s", now)
			}
			if g.Kept.Path == "" || !strings.HasSuffix(g.Kept.Command, " state push -") || !strings.Contains(g.Kept.Command, "-chdir="+m.dir) {
				t.Errorf("kept = %+v", g.Kept)
			}
			clean(t, filepath.Dir(st.cfg.Dir), "Zt7-planted-in-a-state-93kq")
			m.run(t, unlocked(t, g.Kept.Path, id), "state", "push", "-")
			if now := m.run(t, "", "state", "list"); now != before {
				t.Errorf("after the undo: %s, want %s", now, before)
			}
		})
	}
}

// TestStateWithSecretsNeedsAReader: where no recipient could read the copy, nothing is
// changed.
func TestStateWithSecretsNeedsAReader(t *testing.T) {
	t.Parallel()
	m := newModule(t, secretModule)
	st := onState(t, m, "terraform/state-rm", `{dir: ".", addresses: ["terraform_data.web[0]"]}`)
	s := st.start(t)
	ready(t, s)
	_ = s.Do(t.Context(), preview())
	quiet(t, s)
	text := fmt.Sprint(s.Snapshot().Gate)
	if g := s.Snapshot().State.Gates[gateID]; g.Phase == triage.GateArmed || !strings.Contains(text, "no age recipient") {
		t.Errorf("the gate is %s: %s", g.Phase, text)
	}
}

// TestActOnAStateGoesOn: the executor of another session carries out the act while
// the one that ordered it is gone, and resume finds how it ended.
func TestActOnAStateGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	m := newModule(t, secretModule)
	st := onState(t, m, "terraform/state-rm", `{dir: ".", addresses: ["terraform_data.web[0]"]}`)
	st.key(t)
	a := &afar{t: t, st: st, orders: make(chan session.Order, 4)}
	st.cfg.Execute = a.execute
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoConfirm, Step: gateID, Typed: s.Snapshot().Gate.Preview.Phrase}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-a.ended
	again, err := session.Resume(t.Context(), st.cfg, s.Snapshot().Bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	quiet(t, again)
	if g := again.Snapshot().State.Gates[gateID]; g.Phase != triage.GateDone || !strings.Contains(g.Response, "is forgotten") {
		t.Errorf("the gate is %s: %s", g.Phase, g.Response)
	}
	if now := m.run(t, "", "state", "list"); strings.Contains(now, "web[0]") {
		t.Errorf("after the act: %s", now)
	}
}
