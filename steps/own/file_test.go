package own

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// reader is an operator who trusted one directory to be read.
func reader(t *testing.T) steps.Env {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return steps.Env{Dir: dir, Runbook: "d1", TrustedRunbook: func(string) error { return nil }, Known: func(of string) error {
		if of != dir {
			return errors.New("look at it first")
		}
		return nil
	}}
}

// TestFileIsReadBelowTheTrustedDirectory: what is read, and what leads out.
func TestFileIsReadBelowTheTrustedDirectory(t *testing.T) {
	t.Parallel()
	env := reader(t)
	outside := filepath.Join(t.TempDir(), "secret.json")
	for name, text := range map[string]string{outside: `{"depth":9}`, filepath.Join(env.Dir, "status.json"): `{"depth":5}`, filepath.Join(env.Dir, "long.json"): strings.Repeat("x", mostRead+1)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out.json": outside, "up.json": "../secret.json", "in.json": "status.json", "parent": ".."} {
		if err := os.Symlink(to, filepath.Join(env.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	distrust, unknown := env, env
	distrust.TrustedRunbook, unknown.Known = nil, nil
	depth := output("depth", steps.Int, "doc.depth", "")
	for _, tc := range []struct {
		name, path, dir string
		env             steps.Env
		want            string // of depth, or the error
	}{
		{"plain", "status.json", ".", env, "5"},
		{"a link inside", "in.json", ".", env, "5"},
		{"nothing there", "none.json", ".", env, "unknown"},
		{"a link out", "out.json", ".", env, "path escapes from parent"},
		{"a link up", "up.json", ".", env, "path escapes from parent"},
		{"through a directory", "parent/" + filepath.Base(env.Dir) + "/status.json", ".", env, "path escapes from parent"},
		{"a way up", "../secret.json", ".", env, "leads out of"},
		{"from the root", outside, ".", env, "leads out of"},
		{"a directory", ".", ".", env, "is not a regular file"},
		{"another directory", "secret.json", filepath.Dir(outside), env, "look at it first"},
		{"too long", "long.json", ".", env, "has more than the 4 MiB"},
		{"no trust in the runbook", "status.json", ".", distrust, "nothing says that a person trusts"},
		{"nothing tells of directories", "status.json", ".", unknown, "below trusted directories only"},
	} {
		in := steps.Params{"dir": steps.PathOf(tc.dir), "path": steps.StringOf(tc.path), "as": steps.EnumOf(asJSON)}
		sink := stepstest.NewSink()
		obs, err := stepstest.Observe(t.Context(), fileProbe{tc.env, []steps.Output{depth}}, fieldsOf("own/file", []steps.Output{depth}), in, sink)
		got := obs.Facts["depth"].Text()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) || (got == "unknown") != (tc.want == "unknown") {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if err == nil && (obs.Facts["exists"].Bool() != (tc.want != "unknown") || tc.want == "5" && sink.Media["file"] != steps.MediaJSON) {
			t.Errorf("%s: %+v", tc.name, obs)
		}
	}
}

// TestPathIsVetted: the linter says what the reading would refuse.
func TestPathIsVetted(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"a/b.json": true, "${params.env}/x.json": true, "/etc/passwd": false, "../x": false, "a/../../x": false, "a..b": true} {
		if err := vetPath([]steps.Written{{Text: path}}); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
