package change

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

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
	state("main.tf", "resource \"terraform_data\" \"a\" {}\n")
	state("terraform.tfstate", records("a", "this"))
	state("terraform.tfstate.backup", records("a", "this"))
	state("old.tfstate", records("a", "this"))
	state("errored.tfstate", "{")
	state("terraform.tfstate.d/blue/terraform.tfstate", records("renamed", "this"))
	state("terraform.tfstate.d/green/terraform.tfstate", records("a", "that"))
	state("terraform.tfstate.d/grey/terraform.tfstate", records("b", "another"))
	state("terraform.tfstate.d/none/readme", "")
	env := steps.Env{Dir: dir, Now: time.Now, Trusted: func(string) error { return nil }, Tool: func(string) (string, error) { return "", os.ErrNotExist }}
	want := []string{
		"look-alike=terraform_data.renamed: the same object (this); both states change it, in the workspace blue",
		"look-alike=terraform_data.a: the same address, another object (that) in the workspace green",
		"look-alike=terraform_data.a: the same object (this) at the same address; both states change it, in " + filepath.Join(dir, "old.tfstate"),
		"no look-alikes sought in=" + filepath.Join(dir, "errored.tfstate"),
	}
	site, err := readSite(t.Context(), env, nil, stepstest.NewSink())
	if err != nil || site.unsound != nil {
		t.Fatal(err, site.unsound)
	}
	q := queryOf(site, "terraform_data.a")
	if len(q.objects) != 1 {
		t.Fatalf("sought %+v, want one object", q)
	}
	var got []string
	for _, kv := range site.otherStates(t.Context(), env, stepstest.NewSink(), q) {
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
