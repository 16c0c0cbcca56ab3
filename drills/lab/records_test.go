package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bad is the provider in a mirror, its API, and a root module that uses both.
type bad struct {
	t    *testing.T
	tofu string
	api  *Server
	dir  string
	env  []string
}

func newBad(t *testing.T) *bad {
	t.Helper()
	b := &bad{t: t, dir: t.TempDir()}
	var err error
	if b.tofu, err = Tofu(t.Context(), Options{}); err != nil {
		t.Fatal(err)
	}
	if b.api, err = StartService(t.Context(), Options{}, "records", t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.api.Close() })
	program, err := Service(t.Context(), Options{}, "records")
	if err != nil {
		t.Fatal(err)
	}
	mirror, home := t.TempDir(), t.TempDir()
	if _, err := Mirror(mirror, program); err != nil {
		t.Fatal(err)
	}
	rc := filepath.Join(home, "tofu.rc")
	if err := os.WriteFile(rc, fmt.Appendf(nil, "disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror), 0o600); err != nil {
		t.Fatal(err)
	}
	b.env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + rc, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1"}, b.api.Env...)
	return b
}

func (b *bad) write(config string) {
	b.t.Helper()
	head := `terraform {
  required_providers {
    records = { source = "lab.example/lab/records", version = "0.1.0" }
  }
}
`
	if err := os.WriteFile(filepath.Join(b.dir, "main.tf"), []byte(head+config), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bad) run(ok bool, args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), b.tofu, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		b.t.Fatalf("tofu %v: %v\n%s", args, err, out)
	}
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(string(out))), " ")
}

// ask sends a request as robot.
func (b *bad) ask(method, path, body string) string {
	b.t.Helper()
	var token string
	for _, kv := range b.api.Env {
		if v, ok := strings.CutPrefix(kv, "RECORDS_ROBOT="); ok {
			token = v
		}
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.api.URL+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		b.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, raw, err)
	}
	return string(raw)
}

func (b *bad) names() string {
	b.t.Helper()
	var list struct{ Entries []struct{ Name string } }
	if err := json.Unmarshal([]byte(b.ask(http.MethodGet, "/entries", "")), &list); err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, e := range list.Entries {
		out = append(out, e.Name)
	}
	return strings.Join(out, " ")
}

// TestRecords walks through what the provider does badly, with a real tofu.
func TestRecords(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		do   func(b *bad)
	}{
		{"ghosts", func(b *bad) {
			b.write(`provider "records" { cached_reads = true }` + two)
			b.run(true, "init")
			b.run(true, "apply", "-auto-approve")
			b.ask(http.MethodDelete, "/entries/a", "")
			if out := b.run(true, "plan", "-refresh-only"); !strings.Contains(out, "No changes.") {
				b.t.Errorf("a refresh sees what its cache hides:\n%s", out)
			}
			b.write(`provider "records" {}` + two)
			if out := b.run(true, "plan", "-refresh-only"); !strings.Contains(out, "records_entry.a has been deleted") {
				b.t.Errorf("a read that asks does not see the ghost:\n%s", out)
			}
		}},
		{"throttled", func(b *bad) {
			b.write(`provider "records" { retry = "never" }` + two)
			b.run(true, "init")
			b.ask(http.MethodPatch, "/control", `{"writes":1}`)
			if out := b.run(false, "apply", "-auto-approve", "-parallelism=1"); !strings.Contains(out, "StatusCode: 429, ThrottlingException: Rate exceeded") {
				b.t.Errorf("not throttled:\n%s", out)
			}
			if got := b.names(); got != "a" && got != "b" {
				b.t.Errorf("entries %q, want one", got)
			}
		}},
		{"late", func(b *bad) {
			b.write(`provider "records" {}` + two)
			b.run(true, "init")
			b.ask(http.MethodPatch, "/control", `{"hidden":1}`)
			if out := b.run(false, "apply", "-auto-approve"); !strings.Contains(out, "couldn't find resource") {
				b.t.Errorf("it was seen at once:\n%s", out)
			}
			if got := b.names() + "|" + b.run(true, "state", "list"); got != "a b|" {
				b.t.Errorf("entries and state %q, want two orphans", got)
			}
			if out := b.run(false, "apply", "-auto-approve"); !strings.Contains(out, "EntityAlreadyExists") {
				b.t.Errorf("an orphan was no obstacle:\n%s", out)
			}
			b.run(true, "import", "records_entry.a", "a")
		}},
		{"inconsistent", func(b *bad) {
			b.write(`provider "records" {}
resource "records_entry" "a" {
  name   = "a"
  value  = "one"
  mangle = true
}`)
			b.run(true, "init")
			if out := b.run(false, "apply", "-auto-approve"); !strings.Contains(out, "Provider produced inconsistent result after apply") {
				b.t.Errorf("consistent:\n%s", out)
			}
		}},
		{"no credentials", func(b *bad) {
			b.write(`provider "records" {}` + two)
			b.run(true, "init")
			b.env = append(b.env, "RECORDS_TOKEN=")
			if out := b.run(false, "apply", "-auto-approve"); !strings.Contains(out, "No valid credential sources found") {
				b.t.Errorf("it went without:\n%s", out)
			}
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.do(newBad(t))
		})
	}
}

const two = `
resource "records_entry" "a" {
  name  = "a"
  value = "one"
}
resource "records_entry" "b" {
  name  = "b"
  value = "two"
}
`

// TestRecordsGoOn: what tofu leaves behind when it is killed goes on changing
// the world.
func TestRecordsGoOn(t *testing.T) {
	t.Parallel()
	b := newBad(t)
	b.write(`provider "records" {}
resource "records_entry" "a" {
  name  = "a"
  value = "one"
  parts = 4
  pause = "300ms"
}`)
	b.run(true, "init")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, b.tofu, "apply", "-auto-approve")
	cmd.Dir, cmd.Env = b.dir, b.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := func(what string) {
		t.Helper()
		if err := poll(t.Context(), func() bool { return strings.Contains(b.ask(http.MethodGet, "/entries", ""), what) }); err != nil {
			t.Fatal(err)
		}
	}
	seen(`"parts":1`)
	cancel() // kills tofu and nothing else
	_ = cmd.Wait()
	seen(`"parts":4`)
	raw, err := os.ReadFile(filepath.Join(b.dir, "terraform.tfstate")) // absent, or as the first write of the run left it
	if err != nil && !errors.Is(err, fs.ErrNotExist) || strings.Contains(string(raw), "records_entry") {
		t.Errorf("the state: %v\n%s", err, raw)
	}
}
