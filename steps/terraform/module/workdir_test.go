package module

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
)

func TestWorkdir(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, dir, name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name    string
		files   map[string]string
		environ []string
		err     string
		backend string
		space   string
	}{
		{name: "empty directory", err: "directory not initialised"},
		{name: "configuration alone", files: map[string]string{"main.tf": ""}, err: "tofu init there yourself"},
		{name: "backend without init", files: map[string]string{"main.tf": "terraform {\n  backend \"s3\" {}\n}", "terraform.tfstate": "{}"}, err: "names a backend in main.tf"},
		{name: "backend in JSON without init", files: map[string]string{"b.tofu.json": `{"terraform":{"backend":{"s3":{}}}}`, "terraform.tfstate": "{}"}, err: "names a backend"},
		{name: "cloud without init", files: map[string]string{"main.tf": "terraform {\n  cloud {}\n}", ".terraform/environment": ""}, err: "names a backend"},
		{name: "plain state", files: map[string]string{"terraform.tfstate": ""}, backend: "local", space: "default"},
		{name: "initialised without a backend", files: map[string]string{"main.tf": "", ".terraform/environment": "prod\n"}, backend: "local", space: "prod"},
		{name: "kubernetes", files: map[string]string{".terraform/terraform.tfstate": `{"version":3,"backend":{"type":"kubernetes"}}`}, backend: "kubernetes", space: "default"},
		{name: "variable wins", files: map[string]string{"terraform.tfstate": "", ".terraform/environment": "prod"}, environ: []string{"TF_WORKSPACE=dev"}, backend: "local", space: "dev", err: ""},
		{name: "other data directory", files: map[string]string{"data/terraform.tfstate": `{"version":3,"backend":{"type":"s3"}}`}, environ: []string{"TF_DATA_DIR=data"}, backend: "s3", space: "default"},
		{name: "settings that are no JSON", files: map[string]string{".terraform/terraform.tfstate": "{"}, err: "cannot be read"},
		{name: "settings of another format", files: map[string]string{".terraform/terraform.tfstate": `{"version":4,"backend":{"type":"s3"}}`}, err: "format version 4"},
		{name: "huge settings", files: map[string]string{".terraform/terraform.tfstate": strings.Repeat(" ", MaxSmall+1)}, err: "more than the 1 MiB"},
		{name: "path as a workspace", files: map[string]string{"terraform.tfstate": ""}, environ: []string{"TF_WORKSPACE=../x"}, err: "no valid name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range tc.files {
				write(t, dir, name, text)
			}
			// A file of no configuration makes .terraform count as one of init.
			if _, ok := tc.files[".terraform/environment"]; ok && tc.name == "variable wins" {
				write(t, dir, "main.tf", "")
			}
			w, err := Open(steps.Env{Dir: dir, Environ: tc.environ}, nil)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("Open() = %v, want %q in it", err, tc.err)
				}
				return
			}
			if err != nil || w.Backend != tc.backend || w.Space != tc.space {
				t.Errorf("Open() = %+v, %v, want %s and %s", w, err, tc.backend, tc.space)
			}
		})
	}
}
