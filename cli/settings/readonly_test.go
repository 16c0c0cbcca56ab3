package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/session/policy"
	"handrail/steps"
)

// placed is a program in the directory repo/module of a repository, with these files.
func placed(t *testing.T, files map[string]string) (p *process.Program, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"repo/.git", "repo/module", "other/.git", "loose/below"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		full := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte("apiVersion: handrail/v1\nkind: Config\n"+text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return &process.Program{Environ: []string{"HOME=" + root, "XDG_CONFIG_HOME=" + filepath.Join(root, "user")},
		Machine: filepath.Join(root, "machine"), Dir: filepath.Join(root, "repo", "module")}, root
}

const (
	inProject = "repo/.handrail/config.yaml"
	inModule  = "repo/module/.handrail/config.yaml"
	ofUser    = "user/handrail/config.yaml"
	ofMachine = "machine/config.yaml"
)

// TestReadOnlyByFileAndContext: whatever closes a gate closes it, no other file opens it
// again, and a file that is not understood closes it too.
func TestReadOnlyByFileAndContext(t *testing.T) {
	t.Parallel()
	drill := policy.Question{Drill: true}
	for name, tc := range map[string]struct {
		files   map[string]string
		context string
		q       policy.Question
		flag    bool
		unsure  error
		by      string
		why     string
	}{
		"nothing":                  {},
		"flag":                     {flag: true, by: "--readonly"},
		"flag in practice":         {flag: true, q: drill, by: "--readonly"},
		"machine":                  {files: map[string]string{ofMachine: "readOnly: true\n"}, by: "the machine", why: "machine/config.yaml:3"},
		"user":                     {files: map[string]string{ofUser: "readOnly: true\n"}, by: "the user", why: "user/handrail/config.yaml:3"},
		"project":                  {files: map[string]string{inProject: "# why\nreadOnly: true\n"}, by: "the project", why: "repo/.handrail/config.yaml:4"},
		"practice":                 {files: map[string]string{inProject: "readOnly: true\n"}, q: drill},
		"nearer one beside":        {files: map[string]string{inProject: "readOnly: true\n", inModule: "readOnlyContexts: [x]\n"}, by: "the project"},
		"false opens nothing":      {files: map[string]string{ofUser: "readOnly: true\n", inModule: "readOnly: false\n"}, by: "a broken file", why: "module/.handrail/config.yaml:3:11: readOnly can only be true"},
		"unknown key":              {files: map[string]string{inProject: "readonly: true\n"}, by: "a broken file", why: `.handrail/config.yaml:3:1: a configuration file has no key "readonly" (did you mean "readOnly"?)`},
		"approvers of a stranger":  {files: map[string]string{inProject: "approvers: mine\n"}, by: "a broken file", why: `has no key "approvers"`},
		"above the root":           {files: map[string]string{".handrail/config.yaml": "readOnly: true\n"}},
		"context":                  {files: map[string]string{ofUser: "readOnlyContexts: [prod-*]\n"}, context: "prod-eu", by: "context prod-eu", why: "config.yaml:3"},
		"other context":            {files: map[string]string{ofUser: "readOnlyContexts: [prod-*]\n"}, context: "my-prod-eu"},
		"context with slashes":     {files: map[string]string{ofUser: "readOnlyContexts: ['arn:*/live']\n"}, context: "arn:aws:eks:eu:1:cluster/live", by: "context arn:aws:eks:eu:1:cluster/live"},
		"dots are dots":            {files: map[string]string{ofUser: "readOnlyContexts: [a.b]\n"}, context: "axb"},
		"context of the target":    {files: map[string]string{ofUser: "readOnlyContexts: [prod]\n"}, context: "dev", q: policy.Question{Target: []steps.KV{{Key: "context", Value: "prod"}}}, by: "context prod"},
		"no context":               {files: map[string]string{ofUser: "readOnlyContexts: ['*']\n"}},
		"context that is not told": {files: map[string]string{ofUser: "readOnlyContexts: [prod]\n"}, unsure: errors.New("broken kubeconfig"), by: "an unknown context", why: "broken kubeconfig"},
		"module elsewhere":         {files: map[string]string{"other/.handrail/config.yaml": "readOnly: true\n"}, q: policy.Question{Target: []steps.KV{{Key: "directory", Value: "other/x"}}}, by: "the project"},
		"module outside of a repository": {files: map[string]string{"loose/below/.handrail/config.yaml": "readOnly: true\n"},
			q: policy.Question{Target: []steps.KV{{Key: "directory", Value: "loose/below"}}}, by: "the project"},
		"above a module outside": {files: map[string]string{"loose/.handrail/config.yaml": "readOnly: true\n"}, q: policy.Question{Target: []steps.KV{{Key: "directory", Value: "loose/below"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, root := placed(t, tc.files)
			p.ReadOnly = tc.flag
			if err := os.MkdirAll(filepath.Join(root, "other", "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			for i, kv := range tc.q.Target {
				if kv.Key == "directory" {
					tc.q.Target = append([]steps.KV(nil), tc.q.Target...)
					tc.q.Target[i].Value = filepath.Join(root, kv.Value)
				}
			}
			got := ReadOnly(p, tc.context, tc.unsure, tc.q)
			if got.By != tc.by || !strings.Contains(got.Why, tc.why) || (got.By != "") != (got.Cure != "") {
				t.Errorf("ReadOnly() = %+v, want by %q, why %q", got, tc.by, tc.why)
			}
		})
	}
}

// TestProjectFileIsNoLink: a link in a stranger's repository may lead anywhere.
func TestProjectFileIsNoLink(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".handrail", ".handrail/config.yaml"} {
		p, root := placed(t, map[string]string{"away/config.yaml": "readOnlyContexts: [x]\n"})
		link := filepath.Join(root, "repo", name)
		to := filepath.Join(root, "away", strings.TrimPrefix(strings.TrimPrefix(name, ".handrail"), "/"))
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
		if got := ReadOnly(p, "", nil, policy.Question{}); got.By != "a broken file" || !strings.Contains(got.Why, "is a link") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	p, root := placed(t, nil)
	p.Dir = filepath.Join(root, "gone")
	if got := ReadOnly(p, "", nil, policy.Question{}); got.By != "" {
		t.Errorf("a module that is not there: %+v", got)
	}
	p.Environ = nil
	if got := ReadOnly(p, "", nil, policy.Question{}); got.By != "a broken file" {
		t.Errorf("without a home: %+v", got)
	}
}

// TestProjectAsksForASecondPerson, and names none: approvers are those of a policy of the
// machine or of the user.
func TestProjectAsksForASecondPerson(t *testing.T) {
	t.Parallel()
	const asks = "secondPerson: [{gates: [repair], place: production}]\n"
	q := policy.Question{Kind: "kube/patch", Class: "repair", Target: []steps.KV{{Key: "server", Value: "https://api.prod.example.com"}}}
	p, root := placed(t, map[string]string{inProject: asks})
	if pair, err := SecondPerson(t.Context(), p, q); err == nil || !strings.Contains(err.Error(), "repo/.handrail/config.yaml:3") {
		t.Errorf("without approvers: %+v, %v", pair, err)
	}
	dir := filepath.Join(root, "user", "handrail")
	key := "grace@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "approvers"), []byte(key), 0o600),
		os.WriteFile(filepath.Join(dir, PolicyFile), []byte("apiVersion: handrail/v1\nkind: Policy\napprovers: approvers\nsecondPerson: []\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	pair, err := SecondPerson(t.Context(), p, q)
	if err != nil || pair == nil || !strings.Contains(pair.Why, "repo/.handrail/config.yaml:3") || len(pair.Signers.Approvers(9)) != 1 {
		t.Errorf("with approvers: %+v, %v", pair, err)
	}
	q.Target[0].Value = "https://api.dev.example.com"
	if pair, err := SecondPerson(t.Context(), p, q); pair != nil || err != nil {
		t.Errorf("elsewhere: %+v, %v", pair, err)
	}
}

// TestProjectProtects objects beside those of the team.
func TestProjectProtects(t *testing.T) {
	t.Parallel()
	p, _ := placed(t, map[string]string{inProject: "protected: [{key: ledger, value: main}]\n"})
	if got, err := ProtectedMarkers(p); err != nil || len(got) != 1 || got[0] != (steps.Marker{Key: "ledger", Value: "main"}) {
		t.Errorf("ProtectedMarkers() = %v, %v", got, err)
	}
	if got := Rules(p); !strings.HasPrefix(got[len(got)-1].Key, "config.yaml of the project ") || !strings.HasPrefix(got[len(got)-1].Value, "sha256:") {
		t.Errorf("Rules() = %v", got)
	}
	p, _ = placed(t, map[string]string{inProject: "protected: [{kee: ledger}]\n"})
	if got, err := ProtectedMarkers(p); err == nil {
		t.Errorf("ProtectedMarkers() of a broken file = %v", got)
	}
}
