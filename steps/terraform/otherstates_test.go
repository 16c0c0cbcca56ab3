package terraform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// alikeIn are the rows about other states of a gate on terraform_data.a.
func alikeIn(t *testing.T, w *world) []steps.KV {
	t.Helper()
	site, err := readSite(t.Context(), w.env, nil, newSink())
	if err != nil || site.unsound != nil {
		t.Fatal(err, site.unsound)
	}
	q := soughtOf(site, "terraform_data.a")
	if len(q.objects) != 1 {
		t.Fatalf("sought %+v, want one object", q)
	}
	return site.otherStates(t.Context(), w.env, newSink(), q)
}

// TestOtherStates: what another workspace records under the same address is not this.
func TestOtherStates(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]func(t *testing.T) *world{
		"kubernetes": func(t *testing.T) *world { return newWorld(t, "kubernetes", quick) },
		"consul": func(t *testing.T) *world {
			return newBackend(t, "consul", consulBlock(service(t, "consul", t.TempDir()).URL), quick)
		},
		"pg": func(t *testing.T) *world {
			server := service(t, "postgres", t.TempDir())
			return newBackend(t, "pg", pgBlock(t), quick, server.Env...)
		},
		"gcs": func(t *testing.T) *world { w, _ := gcsWorld(t, quick); return w },
		"s3": func(t *testing.T) *world {
			a := newAWS(t)
			return newBackend(t, "s3", a.block("use_lockfile = true"), quick, a.environ...)
		},
		"azurerm": func(t *testing.T) *world {
			handler, key := emulator(t)
			a := newAzureWorld(t, handler, key)
			if _, err := a.box.Create(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			return newBackend(t, "azurerm", a.block(), quick, a.environ...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world(t)
			w.run("apply", "-auto-approve", "-input=false")
			if rows := alikeIn(t, w); len(rows) != 0 {
				t.Errorf("alone: %v", rows)
			}
			w.run("workspace", "new", "other")
			w.run("apply", "-auto-approve", "-input=false")
			w.run("workspace", "select", "default")
			rows := alikeIn(t, w)
			if len(rows) != 1 || rows[0].Key != keyAlike || !strings.HasPrefix(rows[0].Value, "terraform_data.a: the same address, another object (") || !strings.HasSuffix(rows[0].Value, "in the workspace other") {
				t.Errorf("rows = %v", rows)
			}
		})
	}
}

// TestOtherStatesOfPlainFiles: also those of files beside; what cannot be read is said.
func TestOtherStatesOfPlainFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	records := func(address, id string) string {
		return `{"version":4,"terraform_version":"1.12.6","serial":3,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"` + address +
			`","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"` + id + `"}}]}]}`
	}
	state("main.tf", quick)
	state("terraform.tfstate", records("a", "this"))
	state("terraform.tfstate.backup", records("a", "this"))
	state("old.tfstate", records("a", "this"))
	state("errored.tfstate", "{")
	state("terraform.tfstate.d/blue/terraform.tfstate", records("renamed", "this"))
	state("terraform.tfstate.d/green/terraform.tfstate", records("a", "that"))
	state("terraform.tfstate.d/grey/terraform.tfstate", records("b", "another"))
	state("terraform.tfstate.d/none/readme", "")
	w := &world{t: t, env: steps.Env{Dir: dir, Now: time.Now, Trusted: func(string) error { return nil }, Tool: func(string) (string, error) { return "", os.ErrNotExist }}}
	want := []string{
		"look-alike=terraform_data.renamed: the same object (this); both states change it, in the workspace blue",
		"look-alike=terraform_data.a: the same address, another object (that) in the workspace green",
		"look-alike=terraform_data.a: the same object (this) at the same address; both states change it, in " + filepath.Join(dir, "old.tfstate"),
		"no look-alikes sought in=" + filepath.Join(dir, "errored.tfstate"),
	}
	var got []string
	for _, kv := range alikeIn(t, w) {
		got = append(got, kv.Key+"="+kv.Value)
	}
	if len(got) != len(want) {
		t.Fatalf("rows %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("row %q, want %q", got[i], want[i])
		}
	}
}
