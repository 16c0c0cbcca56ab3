package terraform

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// pinnedModule is a root module whose lock file a real tofu made from a mirror.
type pinnedModule struct {
	t                 *testing.T
	dir, mirror, home string
}

func newPinned(t *testing.T, packed bool) *pinnedModule {
	t.Helper()
	p := &pinnedModule{t: t, dir: t.TempDir(), mirror: t.TempDir(), home: t.TempDir()}
	program, err := lab.Service(t.Context(), lab.Options{}, "records")
	if err != nil {
		t.Fatal(err)
	}
	tofu, err := lab.Tofu(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := lab.Mirror(p.mirror, program)
	if err != nil {
		t.Fatal(err)
	}
	if packed {
		p.pack(at)
	}
	p.write(filepath.Join(p.dir, "main.tf"), "terraform {\n  required_providers {\n    records = {\n      source  = \"lab.example/lab/records\"\n      version = \"~> 0.1.0\"\n    }\n  }\n}\n")
	p.write(filepath.Join(p.home, ".tofurc"), "provider_installation {\n  filesystem_mirror {\n    path = \""+p.mirror+"\"\n  }\n}\n")
	cmd := exec.CommandContext(t.Context(), tofu, "init", "-input=false", "-no-color")
	cmd.Dir, cmd.Env = p.dir, []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + filepath.Join(p.home, ".tofurc")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.git("init", "-q", "-b", "main")
	p.git("add", "main.tf", ".terraform.lock.hcl")
	p.git("commit", "-q", "-m", "pin")
	return p
}

func (p *pinnedModule) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pinnedModule) git(args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// pack turns the package at a place into an archive, as registries hand them out.
func (p *pinnedModule) pack(at string) {
	p.t.Helper()
	kind := filepath.Dir(filepath.Dir(at))
	out, err := os.Create(filepath.Join(kind, "terraform-provider-records_0.1.0_"+runtime.GOOS+"_"+runtime.GOARCH+".zip"))
	if err != nil {
		p.t.Fatal(err)
	}
	z := zip.NewWriter(out)
	if err := z.AddFS(os.DirFS(at)); err != nil {
		p.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(at)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pinnedModule) read() steps.Observation {
	p.t.Helper()
	env := steps.Env{Dir: p.dir, Home: p.home, Environ: []string{"HOME=" + p.home}}
	obs, err := probe(p.t.Context(), env, "terraform/lock-file", steps.Params{"dir": steps.PathOf(p.dir)}, stepstest.NewSink())
	if err != nil {
		p.t.Fatal(err)
	}
	return obs
}

// inWords is a fact in words.
func inWords(v steps.Value) string {
	switch v.Type() {
	case steps.Bool:
		return fmt.Sprint(v.Bool())
	case steps.Strings:
		return fmt.Sprint(v.Strings())
	}
	return v.Text()
}

func (p *pinnedModule) want(facts map[string]string) {
	p.t.Helper()
	obs := p.read()
	for name, want := range facts {
		got := obs.Facts[name]
		if !got.Known() {
			p.t.Errorf("%s is unknown: %s", name, got.Why())
		} else if inWords(got) != want {
			p.t.Errorf("%s = %s, want %s", name, inWords(got), want)
		}
	}
}

// TestLockFile holds what the probe says against lock files that tofu made.
func TestLockFile(t *testing.T) {
	t.Parallel()
	for name, packed := range map[string]bool{"unpacked": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPinned(t, packed)
			p.want(map[string]string{"found": "true", "checksum": "match", "changed": "false", "in_base": "true", "mirrored": "true"})
			lock := filepath.Join(p.dir, ".terraform.lock.hcl")
			raw, err := os.ReadFile(lock)
			if err != nil {
				t.Fatal(err)
			}
			// Other checksums under the same version, in the file.
			other := strings.NewReplacer("h1:", "h1:x", "zh:", "zh:x").Replace(string(raw))
			p.write(lock, other)
			p.want(map[string]string{"checksum": "mismatch", "changed": "true"})
			if obs := p.read(); !strings.Contains(inWords(obs.Facts["changes"]), "same version, other checksums") {
				t.Errorf("changes = %s", inWords(obs.Facts["changes"]))
			}
			// A pin that the configuration does not want, and that the mirror lacks.
			p.write(lock, strings.Replace(string(raw), `"0.1.0"`, `"0.2.0"`, 1))
			obs := p.read()
			for fact, want := range map[string]string{"unsatisfied": "lab.example/lab/records", "missing": "lab.example/lab/records"} {
				if !strings.Contains(inWords(obs.Facts[fact]), want) {
					t.Errorf("%s = %s", fact, inWords(obs.Facts[fact]))
				}
			}
			if obs.Facts["checksum"].Known() {
				t.Errorf("checksum = %s of a package that is not there", inWords(obs.Facts["checksum"]))
			}
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			p.want(map[string]string{"found": "false", "changed": "true"})
			if obs := p.read(); obs.Facts["checksum"].Known() {
				t.Error("a checksum matches that is not locked")
			}
		})
	}
}
