package module

import (
	"os"
	"path/filepath"
	"testing"

	"handrail/steps"
)

// TestPlaced tells directory, workspace and backend from the disk alone.
func TestPlaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, ".terraform")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"environment": "production\n",
		"terraform.tfstate": `{"version":3,"backend":{"type":"s3","config":{"bucket":"tf-live","key":"app.tfstate","secret_key":"hunter2"}}}`} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := steps.Env{Dir: filepath.Dir(dir)}
	got := Placed(env, filepath.Base(dir), "")
	want := []steps.KV{{Key: "directory", Value: dir}, {Key: "workspace", Value: "production"}, {Key: "backend", Value: "s3"},
		{Key: "backend", Value: "tf-live"}, {Key: "backend", Value: "app.tfstate"}}
	if len(got) != len(want) {
		t.Fatalf("Placed = %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %v, want %v", i, got[i], want[i])
		}
	}
	if got := Placed(env, dir, "staging"); steps.Find(got, "workspace") != "staging" {
		t.Errorf("a workspace that was named: %v", got)
	}
	if got := Placed(env, "nowhere", ""); steps.Find(got, "directory") != filepath.Join(env.Dir, "nowhere") {
		t.Errorf("no such directory: %v", got)
	}
}
