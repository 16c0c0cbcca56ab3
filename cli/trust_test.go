package cli

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/terraform/closure"
	"handrail/steps/terraform/state"
)

// TestChangesAreListed tells what a person must look at before they trust again.
func TestChangesAreListed(t *testing.T) {
	t.Parallel()
	was := manifest{Servers: []string{"https://a"}, Files: map[string]string{"main.tf": "1", "gone.tf": "2", "same.sh": "3", "/home/.tofurc": closure.Absent, "left": closure.Absent}}
	now := manifest{Servers: []string{"https://a", "https://b"}, Files: map[string]string{"main.tf": "9", "new.sh": "4", "same.sh": "3", "/home/.tofurc": "5", "left": closure.Absent}}
	want := "Added: /home/.tofurc, new.sh. Changed: main.tf. Removed: gone.tf. Servers that are new: https://b"
	if got := changes(was, now); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	many := manifest{Files: map[string]string{}}
	for _, name := range strings.Split("abcdefghij", "") {
		many.Files[name] = "1"
	}
	if got := changes(manifest{}, many); got != "Added: a, b, c, d, e, f and 4 more" {
		t.Errorf("%q", got)
	}
	if got := changes(was, was); got != "Something that is no file changed" {
		t.Errorf("%q", got)
	}
}

// TestPackagesAreShownWithoutTheirLocks: only a lock beside its package is left out.
func TestPackagesAreShownWithoutTheirLocks(t *testing.T) {
	t.Parallel()
	const dir = "/ws/.terraform/providers/"
	l := trustReview{manifest: manifest{Files: map[string]string{dir + "a": "package 1", dir + "a.lock": "package 2", dir + "b.lock": "package 3", "/ws/main.tf": "4"}}}
	got := used(&process.Program{Stderr: &process.Scrubber{W: io.Discard, From: func() ([]string, []redact.TeamRule) { return nil, nil }}}, l)
	if len(got) != 1 || !slices.Equal(got[0].List, []string{"a", "b.lock"}) {
		t.Errorf("%v", got)
	}
}

// TestTrustedCloneGivenAnotherBackend: init's settings of a trusted clone are
// exchanged. Typing handrail there sends the password of the environment
// nowhere, runs nothing, and says what changed.
func TestTrustedCloneGivenAnotherBackend(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { heard.Add(1) }))
	t.Cleanup(srv.Close)
	dir, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	backend := func(kind, config string) {
		put(".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"`+kind+`","config":{`+config+`}}}`)
	}
	put("main.tf", `terraform { backend "http" {} }`)
	backend("http", `"address":"https://127.0.0.1:1/s"`)
	p := &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now, State: t.TempDir(),
		Environ: []string{"HOME=" + t.TempDir(), "TF_HTTP_USERNAME=me", "TF_HTTP_PASSWORD=mine", "AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=mine"}}
	if err := trustDir(p, dir); err != nil {
		t.Fatal(err)
	}
	if err := checkTrust(p, dir); err != nil {
		t.Fatal(err)
	}
	put("creds", "[default]\ncredential_process = touch "+ran+"\n")
	for name, change := range map[string]func(){
		"http": func() { backend("http", `"address":"`+srv.URL+`/s"`) },
		"s3": func() {
			backend("s3", `"bucket":"b","key":"k","region":"r-1","endpoints":{"s3":"`+srv.URL+`"},"shared_credentials_files":["creds"]`)
		},
		"kubernetes": func() {
			backend("kubernetes", `"host":"`+srv.URL+`","secret_suffix":"s","exec":[{"command":"touch","args":["`+ran+`"],"api_version":"client.authentication.k8s.io/v1"}]`)
		},
	} {
		change()
		err := checkTrust(p, dir)
		if err == nil || !strings.Contains(err.Error(), "Changed: .terraform/terraform.tfstate") || !strings.Contains(err.Error(), "handrail trust") {
			t.Errorf("%s: %v, want what changed and what to do", name, err)
		}
		env, err := stepEnv(p)
		if err != nil {
			t.Fatal(err)
		}
		env.Dir = dir
		for _, q := range []string{steps.LockedRuns, steps.PartialApplies} {
			if a, _ := state.Ask(t.Context(), env, q, func(string) {}); len(a.Gaps) != 1 {
				t.Errorf("%s: %s: %+v", name, q, a)
			}
		}
	}
	if _, err := os.Stat(ran); err == nil || heard.Load() > 0 {
		t.Errorf("a program ran: %t, requests: %d", err == nil, heard.Load())
	}
}

// TestFilesThatSettingsNameAreTrustedAsTheyAre: a kubeconfig, profiles and a CLI
// configuration that lie elsewhere decide as much as what lies in the directory;
// the operator's own may change.
func TestFilesThatSettingsNameAreTrustedAsTheyAre(t *testing.T) {
	t.Parallel()
	home, far := t.TempDir(), t.TempDir()
	kubeconfig := func(server string) string {
		return "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: \"" + server + "\"}}]\nusers: [{name: u, user: {}}]\n"
	}
	for _, tc := range []struct {
		name, backend, config string
		file, before, after   string
		says                  string // "" where the trust goes on
	}{
		{"a kubeconfig", "kubernetes", `"config_path":"` + far + `/kube","secret_suffix":"s"`, far + "/kube", kubeconfig("https://one.example"), kubeconfig("https://two.example"), "new: https://two.example"},
		{"profiles", "s3", `"bucket":"b","key":"k","shared_config_files":["` + far + `/profiles"]`, far + "/profiles", "[default]\n", "[default]\nendpoint_url = https://evil.example\n", "new: https://evil.example"},
		{"own profiles", "s3", `"bucket":"b","key":"k","shared_config_files":["~/.aws/config"]`, home + "/.aws/config", "[default]\n", "[default]\nx = 1\n", ""},
		{"own kubeconfig", "kubernetes", `"config_path":"~/.kube/config","secret_suffix":"s"`, home + "/.kube/config", kubeconfig("https://one.example"), kubeconfig("https://two.example"), ""},
		{"a file of keys that is there now", "consul", `"address":"c.example:8500","path":"p","key_file":"` + far + `/key"`, far + "/key", "", "key", "key"},
		{"a version chosen above", "local", ``, "ABOVE/.tool-versions", "", "opentofu 1.0.0", ".tool-versions"},
		{"CLI configuration", "local", ``, home + "/.tofurc", "", "provider_installation {}", ".tofurc"},
	} {
		t.Run(tc.name, func(t *testing.T) { // one after the other: they share a home
			dir := filepath.Join(t.TempDir(), "prod")
			tc.file = strings.ReplaceAll(tc.file, "ABOVE", filepath.Dir(dir))
			put := func(path, text string) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			put(filepath.Join(dir, "main.tf"), "")
			put(filepath.Join(dir, ".terraform", "terraform.tfstate"), `{"version":3,"backend":{"type":"`+tc.backend+`","config":{`+tc.config+`}}}`)
			if tc.before != "" {
				put(tc.file, tc.before)
			}
			p := &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now, State: t.TempDir(), Environ: []string{"HOME=" + home}}
			if err := errors.Join(trustDir(p, dir), checkTrust(p, dir)); err != nil {
				t.Fatal(err)
			}
			put(tc.file, tc.after)
			err := checkTrust(p, dir)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}

// trustDir trusts a directory, as the command does.
func trustDir(p *process.Program, dir string) error {
	now, list, err := shownDirectory(p, dir)
	if err != nil {
		return err
	}
	return trust(p, now, list)
}
