package closure

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// site is a root module with a module beside it.
type site struct {
	t    *testing.T
	root string
}

const lockFile = `provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes  = ["h1:aaaa"]
}
provider "registry.opentofu.org/acme/unlocked" {
  version = "1.0.0"
  hashes  = ["zh:bbbb"]
}
`

func newSite(t *testing.T) site {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := site{t, filepath.Join(top, "live", "prod")}
	for name, text := range map[string]string{
		"main.tf":                           `module "m" { source = "../../modules/m" }` + "\n" + `data "external" "e" { program = ["sh", "${path.module}/scripts/run.sh"] }`,
		"prod.auto.tfvars":                  `x = 1`,
		"scripts/run.sh":                    "#!/bin/sh\n. ./lib.sh\nsh hook.log\n. ${HERE}/extra.log\necho done > out.log\n",
		"scripts/lib.sh":                    "x=1\n",
		"templates/user.tpl":                "y",
		".envrc":                            "export A=1",
		".tool-versions":                    "opentofu 1.10.0",
		".terraform.lock.hcl":               lockFile,
		".terraform/terraform.tfstate":      `{"version":3,"backend":{"type":"local","config":{}}}`,
		".terraform/environment":            "default",
		".terraform/modules/modules.json":   `{"Modules":[{"Key":"","Dir":"."},{"Key":"m","Dir":"../../modules/m"},{"Key":"v","Dir":".terraform/modules/v"}]}`,
		".terraform/modules/v/main.tf":      `variable "a" {}`,
		".terraform/modules/v/.git/HEAD":    "ref",
		".terraform/modules/v/deep/a.sh":    "echo",
		"../../modules/m/main.tf":           `variable "b" {}`,
		"../../modules/m/scripts/deploy.sh": "echo",
		"terraform.tfstate":                 `{"version":4,"terraform_version":"1.10.0","serial":3,"lineage":"l"}`,
		".git/config":                       "[core]",
		".terraform/providers/registry.opentofu.org/hashicorp/null/3.2.1/linux_amd64/terraform-provider-null": "bin",
		".terraform/providers/registry.opentofu.org/acme/unlocked/1.0.0/linux_amd64/terraform-provider-x":     "bin",
	} {
		s.write(name, text)
	}
	return s
}

func (s site) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

func (s site) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s site) of(beside ...string) (Closure, error) {
	for i, name := range beside {
		beside[i] = s.path(name)
	}
	return Of(Place{Root: s.root, Data: filepath.Join(s.root, ".terraform"), Beside: beside})
}

func (s site) must(beside ...string) map[string]string {
	s.t.Helper()
	c, err := s.of(beside...)
	if err != nil {
		s.t.Fatal(err)
	}
	return c.Files
}

// plan is an archive with the parts of a saved plan, and more.
func plan(t *testing.T, more ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range append([]string{"tfplan", "tfstate"}, more...) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWhatDecidesEndsTheTrust changes, adds and removes each file from which a
// program could be started: the closure is another one each time.
func TestWhatDecidesEndsTheTrust(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.must("../../home/.tofurc")
	for _, name := range []string{
		"main.tf", "prod.auto.tfvars", "scripts/run.sh", "scripts/lib.sh", "templates/user.tpl", ".envrc", ".tool-versions", ".terraform.lock.hcl",
		".terraform/terraform.tfstate", ".terraform/environment", ".terraform/modules/modules.json", ".terraform/modules/v/main.tf", ".terraform/modules/v/deep/a.sh",
		"../../modules/m/main.tf", "../../modules/m/scripts/deploy.sh",
		".terraform/providers/registry.opentofu.org/acme/unlocked/1.0.0/linux_amd64/terraform-provider-x",
	} {
		raw, err := os.ReadFile(s.path(name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw) + " "
		s.write(name, text)
		if maps.Equal(before, s.must("../../home/.tofurc")) {
			t.Errorf("%s was changed, and the closure is the same", name)
		}
		if err := os.Remove(s.path(name)); err != nil {
			t.Fatal(err)
		}
		if c, err := s.of("../../home/.tofurc"); err == nil && maps.Equal(before, c.Files) {
			t.Errorf("%s was removed, and the closure is the same", name)
		}
		s.write(name, string(raw))
		if !maps.Equal(before, s.must("../../home/.tofurc")) {
			t.Fatalf("%s was put back, and the closure is another one", name)
		}
	}
	for name, text := range map[string]string{
		"evil.tf": "x", "override.tf.json": "{}", "x.auto.tfvars.json": "{}", "scripts/json.py": "import os", ".terraform/plugin_path": "[]", "../../modules/m/x.tofu": "x",
		".terraform/providers/registry.opentofu.org/evil/evil/1.0.0/linux_amd64/terraform-provider-evil": "bin", "sub/.terraform/terraform.tfstate": "{}",
		"tool.json": "{}", "mise.toml": "x", "scripts/hook.log": "touch /tmp/x", "scripts/extra.log": "touch /tmp/x", "plan.pyz": plan(t, "__main__.py"), "run.log": "#!/bin/sh\n",
		"main.tfstate.tf": "x", "../../home/.tofurc": "x", "x.terraformrc": "y", "terraform.tfvars": "x",
	} {
		s.write(name, text)
		if maps.Equal(before, s.must("../../home/.tofurc")) {
			t.Errorf("%s was added, and the closure is the same", name)
		}
		if err := os.Remove(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatAnIncidentLeavesKeepsTheTrust does to the directory what runs, people
// and handrail do to it during an incident.
func TestWhatAnIncidentLeavesKeepsTheTrust(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.must()
	state := `{"version":4,"terraform_version":"1.10.0","serial":4,"lineage":"l","resources":[]}`
	for name, text := range map[string]string{
		"terraform.tfstate": state, "terraform.tfstate.backup": state, "terraform.tfstate.1763800000.backup": state, "errored.tfstate": "{}", "state.json": state,
		"terraform.tfstate.d/blue/terraform.tfstate": "{ torn", ".terraform.tfstate.lock.info": `{"ID":"1"}`, ".terraform/.terraform.tfstate.lock.info": "{}",
		"crash.log": "panic", "crash.20261122.log": "panic", "apply.log": "text", "scripts/out.log": "done", "tfplan": plan(t), "plan.out": plan(t),
		".handrail-pause.json": "{}", ".main.tf.swp": "b0VIM", "main.tf~": "old", ".git/index": "x", ".terraform/modules/v/.git/FETCH_HEAD": "x",
	} {
		s.write(name, text)
		if after := s.must(); !maps.Equal(before, after) {
			t.Errorf("%s ends the trust", name)
		}
	}
	if err := os.Symlink("ana@laptop.4711", s.path(".#main.tf")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(outside, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.path("errored.tfstate")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, s.path("errored.tfstate")); err != nil {
		t.Fatal(err)
	}
	if after := s.must(); !maps.Equal(before, after) {
		t.Error("a link of an editor, or a state elsewhere, ends the trust")
	}
	if err := os.Chmod(s.path("apply.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if maps.Equal(before, s.must()) {
		t.Error("a log that can be started is no log")
	}
}

// TestLinksThatLeadOutAreRefused: what they lead to could be exchanged unseen.
func TestLinksThatLeadOutAreRefused(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	for name, tc := range map[string]struct {
		at, to string
		fine   bool
	}{
		"file":               {"common.tf", filepath.Join(out, "x"), false},
		"directory":          {"shared", out, false},
		"in a module":        {"../../modules/m/lib", out, false},
		"in .git":            {"hook.sh", ".git/config", false},
		"inside":             {"alias.tf", "main.tf", true},
		"a module's file":    {"from-module.tf", "../../modules/m/main.tf", true},
		"directory inside":   {"tools", "scripts", true},
		"nothing yet":        {"later.tf", filepath.Join(out, "later"), true},
		"in the data":        {".terraform/modules/w", out, false},
		"among the packages": {".terraform/providers/registry.opentofu.org/evil", out, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if name == "file" {
				if err := os.WriteFile(filepath.Join(out, "x"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := s.must()
			if err := os.Symlink(tc.to, s.path(tc.at)); err != nil {
				t.Fatal(err)
			}
			c, err := s.of()
			if (err == nil) != tc.fine {
				t.Fatalf("%v, want it to be fine: %t", err, tc.fine)
			}
			if err == nil && maps.Equal(before, c.Files) {
				t.Error("the link is not in the closure")
			}
			if err != nil && !strings.Contains(err.Error(), "leads out") {
				t.Errorf("%v does not say why", err)
			}
		})
	}
}

// TestCachedPackagesAreFine: a cache of plugins is linked from outside, and tofu
// holds what it starts to the checksums of the lock file.
func TestCachedPackagesAreFine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cache := t.TempDir()
	binary := filepath.Join(cache, "terraform-provider-null")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(binary, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("bin")
	locked := s.path(".terraform/providers/registry.opentofu.org/hashicorp/null/3.2.1/linux_amd64")
	unlocked := s.path(".terraform/providers/registry.opentofu.org/acme/unlocked/1.0.0/linux_amd64")
	link := func(at, to string) {
		t.Helper()
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	link(locked, cache)
	before := s.must()
	write("other")
	if !maps.Equal(before, s.must()) {
		t.Error("the content of a locked package counts, which takes long and tofu checks")
	}
	link(unlocked, cache)
	before = s.must()
	write("evil")
	if maps.Equal(before, s.must()) {
		t.Error("a package that no checksum holds was exchanged unseen")
	}
	link(locked, t.TempDir())
	if maps.Equal(before, s.must()) {
		t.Error("a package lies elsewhere now, and the closure is the same")
	}
}

// TestModulesElsewhere: a module's directory that becomes a link to another one is
// another module.
func TestModulesElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.must()
	m := s.path("../../modules/m")
	if err := os.Rename(m, m+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m+"2", m); err != nil {
		t.Fatal(err)
	}
	if maps.Equal(before, s.must()) {
		t.Error("the module is elsewhere, and the closure is the same")
	}
	s.write(".terraform/modules/modules.json", "{")
	if _, err := s.of(); err == nil || !strings.Contains(err.Error(), "modules") {
		t.Errorf("a broken list of modules: %v", err)
	}
	s.write(".terraform/modules/modules.json", `{"Modules":[{"Dir":"../.."}]}`) // a module around the root
	all := s.must()
	if all["main.tf"] == "" || all[filepath.ToSlash(s.path("../../modules/m2/main.tf"))] == "" {
		t.Errorf("%v", slices.Sorted(maps.Keys(all)))
	}
}

// TestProgramsAreShown lists what the configuration says that it starts.
func TestProgramsAreShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("p.tf", "resource \"x\" \"y\" {\n  provisioner \"local-exec\" {\n    command = \"make deploy\"\n    interpreter = [\"bash\", \"-c\"]\n  }\n}\n")
	c, err := s.of()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`command "make deploy"`, `interpreter ["bash", "-c"]`}
	for _, w := range want {
		if !slices.Contains(c.Programs, w) {
			t.Errorf("%q, want %q among them", c.Programs, w)
		}
	}
}

// TestPipesAreNoConfiguration: programs may speak through pipes there, and tofu
// reads its configuration from files.
func TestPipesAreNoConfiguration(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.must()
	if err := syscall.Mkfifo(s.path("begun"), 0o600); err != nil {
		t.Fatal(err)
	}
	if maps.Equal(before, s.must()) {
		t.Error("a pipe took its place unseen")
	}
	if err := syscall.Mkfifo(s.path("pipe.tf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.of(); err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Errorf("a configuration from a pipe: %v", err)
	}
}

// TestWhatIsRunCountsWhateverItIsCalled: each way in which a file of the closure
// runs another one, and some in which it only writes or keeps it.
func TestWhatIsRunCountsWhateverItIsCalled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"sh x.log": true, "bash \\\n  x.log": true, ". ./x.log": true, "source x.log": true, "python3 x.log": true, "cat x.log | sh": true, "sh <x.log": true,
		"for f in *.log; do . $f; done": true, "echo > x.log; sh x.log": true, "make 2>&1 | tee -a x.log": false, "echo a >> ${HERE}/x.log": false, "tail x.log": false, "": false,
	} {
		if got := starts([]byte(text), "x.log", false) || starts([]byte(text), "*.log", false); got != want {
			t.Errorf("%q runs it: %t, want %t", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"program = [\n  \"sh\",\n  \"x.log\",\n]": true, `content = file("x.log")`: true, `command = "make | tee x.log"`: false, `path = "x.log"`: false,
		`filename = "${path.module}/x.log"`: false, `# see x.log`: false, `"program": ["sh", "x.log"]`: true,
	} {
		if got := starts([]byte(text), "x.log", true); got != want {
			t.Errorf("configuration %q runs it: %t, want %t", text, got, want)
		}
	}
}

// TestDataElsewhere: .terraform may be a link, or lie elsewhere by TF_DATA_DIR.
func TestDataElsewhere(t *testing.T) {
	t.Parallel()
	for _, linked := range []bool{false, true} {
		s := newSite(t)
		far := filepath.Join(t.TempDir(), "data")
		if err := os.Rename(s.path(".terraform"), far); err != nil {
			t.Fatal(err)
		}
		place := Place{Root: s.root, Data: far}
		if linked {
			place.Data = s.path(".terraform")
			if err := os.Symlink(far, place.Data); err != nil {
				t.Fatal(err)
			}
		}
		of := func() map[string]string {
			c, err := Of(place)
			if err != nil {
				t.Fatal(err)
			}
			return c.Files
		}
		before := of()
		for name, want := range map[string]bool{
			"terraform.tfstate": false, "environment": false, "modules/v/main.tf": false, ".terraform.tfstate.lock.info": true,
			"providers/registry.opentofu.org/acme/unlocked/1.0.0/linux_amd64/terraform-provider-x": false, "providers/registry.opentofu.org/hashicorp/null/3.2.1/linux_amd64/terraform-provider-null": true,
		} {
			path := filepath.Join(far, name)
			was, _ := os.ReadFile(path)
			if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := maps.Equal(before, of()); got != want {
				t.Errorf("linked %t: %s changed, the same closure: %t, want %t", linked, name, got, want)
			}
			if err := os.WriteFile(path, was, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
