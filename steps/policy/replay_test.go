package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/policy/replay"
	"handrail/steps/stepstest"
)

// TestMain lets this binary judge, as handrail does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == replay.Word {
		os.Exit(replay.Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// TestReplay: one input, judged by the policies of two commits.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	version := func(tag, text string) {
		t.Helper()
		write("repo/policy/main.rego", text)
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", tag)
		git("tag", tag)
	}
	write("repo/policy/limits/data.yaml", "size: 3\n")
	git("init", "-q", "-b", "main")
	version("good", "package main\ndeny contains msg if {\n\tinput.size > data.limits.size\n\tmsg := \"too big\"\n}\n")
	version("bad", "package main\ndeny contains msg if {\n\tinput.size < data.limits.size\n\tmsg := \"too small\"\n}\n")
	version("broken", "package main\ndeny contains msg if {\n")
	version("empty", "package other\n")
	write("small.json", `{"size": 1}`)
	write("big.json", `{"size": 7}`)
	write("torn.json", `{"size": `)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, input, at, before      string
		now, was, changed, says, err string
	}{
		{name: "the policy moved", input: "small.json", at: "bad", before: "good", now: `"deny"`, was: `"allow"`, changed: "true", says: "too small"},
		{name: "the policy frees", input: "big.json", at: "bad", before: "good", now: `"allow"`, was: `"deny"`, changed: "true"},
		{name: "the change is at fault", input: "big.json", at: "good", before: "good", now: `"deny"`, was: `"deny"`, changed: "false", says: "too big"},
		{name: "it does not compile", input: "big.json", at: "broken", before: "good", now: `"error"`, was: `"deny"`, changed: "true", says: "rego_parse_error"},
		{name: "there is no rule", input: "big.json", at: "empty", before: "good", was: `"deny"`},
		{name: "no input", input: "torn.json", at: "good", before: "bad", err: "no JSON"},
		{name: "no such commit", input: "big.json", at: "good", before: "none", err: "no branch and no tag"},
		{name: "no such path", input: "none.json", at: "good", before: "bad", err: "none.json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			k := replayKind()
			in := steps.Params{"input": steps.PathOf(tc.input), "repo": steps.PathOf("repo"), "path": steps.StringOf("policy"), "query": steps.StringOf("data.main.deny"),
				"rego": steps.EnumOf("v1"), "at": steps.StringOf(tc.at), "before": steps.StringOf(tc.before)}
			env := steps.Env{Dir: dir, Self: self, Now: func() time.Time { return noon }}
			obs, err := stepstest.Observe(t.Context(), k.Reads(env), k.Facts, in, stepstest.NewSink())
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%v, want %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for fact, want := range map[string]string{"now": tc.now, "before": tc.was, "changed": tc.changed} {
				v, known := obs.Facts[fact].Raw(), obs.Facts[fact].Known()
				if known != (want != "") || known && !strings.Contains(string(v), want) {
					t.Errorf("%s = %s, want %s", fact, v, want)
				}
			}
			if text := string(obs.Facts["now_says"].Raw()); !strings.Contains(text, tc.says) {
				t.Errorf("says %q, want %q", text, tc.says)
			}
		})
	}
}
