package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// TestProgramFollowsTheDirectory: what a directory was used with is what runs.
func TestProgramFollowsTheDirectory(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		files map[string]string
		hosts map[string]int
		want  string
	}{
		{name: "nothing tells"},
		{name: "lock file of terraform", files: map[string]string{".terraform.lock.hcl": "provider \"registry.terraform.io/hashicorp/null\" {\n}\n"}, want: module.Terraform},
		{name: "lock file of tofu", files: map[string]string{".terraform.lock.hcl": "provider \"registry.opentofu.org/hashicorp/null\" {\n}\n"}, want: module.OpenTofu},
		{name: "a mirror of one's own", files: map[string]string{".terraform.lock.hcl": "provider \"mirror.example.com/hashicorp/null\" {\n}\n"}},
		{name: "installed providers", files: map[string]string{".terraform/providers/registry.terraform.io/x": ""}, want: module.Terraform},
		{name: "a .tofu file", files: map[string]string{"a.tofu": ""}, want: module.OpenTofu},
		{name: "state", hosts: map[string]int{"registry.terraform.io/hashicorp/null": 3}, want: module.Terraform},
		{name: "builtin providers", hosts: map[string]int{"terraform.io/builtin/terraform": 3}},
		{name: "only this version of terraform", files: map[string]string{"main.tf": "terraform {\n  required_version = \"~> 1.5.0\"\n}\n"}, want: module.Terraform},
		{name: "a version of either", files: map[string]string{"main.tf": "terraform {\n  required_version = \">= 1.5\"\n}\n"}},
		{name: "both", files: map[string]string{"a.tofu": ""}, hosts: map[string]int{"registry.terraform.io/hashicorp/null": 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range tc.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := module.Workdir{Dir: dir, Data: filepath.Join(dir, ".terraform")}
			if got, why := w.Traces(tc.hosts); got != tc.want || got != "" && why == "" {
				t.Errorf("traces() = %q, %q, want %q", got, why, tc.want)
			}
			env := steps.Env{Tool: func(name string) (string, error) { return "/bin/" + name, nil }}
			want := "/bin/tofu"
			if tc.want == module.Terraform {
				want = "/bin/terraform"
			}
			if got, err := Find(env, w, tc.hosts); err != nil || got != want {
				t.Errorf("Find() = %q, %v, want %q", got, err, want)
			}
		})
	}
}

func FuzzVersionLine(f *testing.F) {
	f.Add([]byte("OpenTofu v1.12.6\non linux_amd64\n"))
	f.Add([]byte("\nWarning: x\n\nTerraform v1.5.7\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m := versionLine.FindSubmatch(raw); m != nil {
			p := Program{Product: string(m[1]), Version: string(m[2])}
			_ = p.Mixed(module.Workdir{Dir: t.TempDir(), Data: "x"}, nil, string(raw))
		}
	})
}

func TestAnotherProgram(t *testing.T) {
	t.Parallel()
	if _, err := programAt(t.Context(), steps.Env{}, "/bin/true"); err == nil || !strings.Contains(err.Error(), "neither OpenTofu nor Terraform") {
		t.Errorf("another program = %v", err)
	}
}

// TestWord: a command to be copied names the program that would run, as a person types it.
func TestWord(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                        "tofu",
		"/usr/local/bin/tofu":     "tofu",
		"/usr/bin/terraform":      "terraform",
		"/opt/tofu-1.10/tofu-rc1": "/opt/tofu-1.10/tofu-rc1",
		"/opt/my tools/wrapper":   "'/opt/my tools/wrapper'",
	} {
		if got := Word(path); got != want {
			t.Errorf("Word(%q) = %s, want %s", path, got, want)
		}
	}
}
