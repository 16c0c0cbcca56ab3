package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// clone is a repository that a test makes with git itself.
type clone struct {
	*testing.T
	dir string
}

func (c clone) git(args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "git", append([]string{"-C", c.dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=author", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c clone) commit(name, text string) string {
	c.Helper()
	name = filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "change "+filepath.Base(name))
	return c.git("rev-parse", "HEAD")
}

func newClone(t *testing.T) clone {
	c := clone{t, t.TempDir()}
	c.git("init", "-q", "-b", "main")
	return c
}

func (c clone) ask(kind int, dir string, pairs ...string) (steps.Observation, error) {
	c.Helper()
	k := Kinds()[kind]
	in := steps.Params{"dir": steps.PathOf(dir), "path": steps.StringOf("."), "at": steps.StringOf("HEAD"), "head": steps.StringOf("HEAD")}
	for i := 0; i < len(pairs); i += 2 {
		in[pairs[i]] = steps.StringOf(pairs[i+1])
	}
	return stepstest.Observe(c.Context(), k.Reads(steps.Env{}), k.Facts, in, stepstest.NewSink())
}

// TestLast: the newest change of a path is the one that git names.
func TestLast(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	first := c.commit("policy/a.rego", "one")
	other := c.commit("README", "x")
	second := c.commit("policy/a.rego", "two")
	c.commit("README", "y")
	c.commit("README", "z")
	for _, tc := range []struct {
		at, path, commit, before string
		there                    bool
	}{
		{"HEAD", "policy", second, other, true},
		{"HEAD", "policy/a.rego", second, other, true},
		{other, "policy/a.rego", first, "", true},
		{"HEAD", "none", "", "", false},
	} {
		obs, err := c.ask(0, c.dir, "path", tc.path, "at", tc.at)
		if err != nil {
			t.Fatal(err)
		}
		f := obs.Facts
		if f["commit"].Known() && f["commit"].Text() != tc.commit || f["before"].Known() != (tc.before != "") || f["before"].Known() && f["before"].Text() != tc.before || f["there"].Bool() != tc.there || f["commit"].Known() != (tc.commit != "") {
			t.Errorf("%+v: %v", tc, f)
		}
	}
	if obs, _ := c.ask(0, c.dir, "path", "policy"); obs.Facts["since"].Int() != 2 || obs.Facts["author"].Text() != "author" || obs.Facts["subject"].Text() != "change a.rego" {
		t.Errorf("%v", obs.Facts)
	}
	shallow := clone{t, t.TempDir()}
	shallow.git("clone", "-q", "--depth=1", "file://"+c.dir, "copy")
	obs, err := c.ask(0, filepath.Join(shallow.dir, "copy"), "path", "policy")
	if err != nil || obs.Facts["commit"].Known() || len(obs.Gaps) == 0 {
		t.Errorf("a shallow clone: %v, %v", obs.Facts, err)
	}
	for _, bad := range []string{"/etc", "../x"} {
		if _, err := c.ask(0, c.dir, "path", bad); err == nil {
			t.Errorf("path %s is followed", bad)
		}
	}
	if _, err := c.ask(0, t.TempDir()); err == nil {
		t.Error("no clone is no error")
	}
}

// TestBase: two commits are as far apart as git counts.
func TestBase(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	fork := c.commit("a", "1")
	c.git("checkout", "-q", "-b", "topic")
	c.commit("b", "1")
	head := c.commit("b", "2")
	c.git("checkout", "-q", "main")
	base := c.commit("a", "2")
	check := func(base, head string, moved, merged bool) map[string]steps.Value {
		t.Helper()
		obs, err := c.ask(1, c.dir, "base", base, "head", head)
		if err != nil {
			t.Fatal(err)
		}
		f := obs.Facts
		want := strings.Fields(c.git("rev-list", "--left-right", "--count", base+"..."+head))
		if strconv.FormatInt(f["behind"].Int(), 10) != want[0] || strconv.FormatInt(f["ahead"].Int(), 10) != want[1] {
			t.Errorf("%s...%s: %v, git counts %v", base, head, f, want)
		}
		if f["base_moved"].Bool() != moved || f["merged"].Bool() != merged || !f["base_moved"].Known() || !f["merged"].Known() {
			t.Errorf("%s...%s: %v", base, head, f)
		}
		return f
	}
	if f := check("main", "topic", true, false); f["merge_base"].Text() != fork || f["base_commit"].Text() != base || f["head_commit"].Text() != head {
		t.Errorf("%v", f)
	}
	check(fork, "topic", false, false)
	check("topic", fork, true, true)
	c.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
	if f := check("main", "topic", true, true); f["merge_base"].Text() != head {
		t.Errorf("%v", f)
	}
	check("main", "main", false, true)
	// Each has merged the other: two merge bases.
	c.git("checkout", "-q", "-b", "left", base)
	c.git("merge", "-q", "--no-ff", "-m", "left", head)
	c.git("checkout", "-q", "-b", "right", head)
	c.git("merge", "-q", "--no-ff", "-m", "right", base)
	if f := check("left", "right", true, false); f["merge_base"].Known() {
		t.Errorf("one of two merge bases: %v", f)
	}
	c.git("checkout", "-q", "--orphan", "alone")
	c.commit("c", "1")
	if f := check("main", "alone", true, false); f["merge_base"].Known() {
		t.Errorf("a merge base of nothing: %v", f)
	}
	shallow := clone{t, t.TempDir()}
	shallow.git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+c.dir, "copy")
	obs, err := c.ask(1, filepath.Join(shallow.dir, "copy"), "base", "origin/main", "head", "origin/topic")
	if err != nil || obs.Facts["ahead"].Known() || obs.Facts["base_moved"].Known() || !obs.Facts["merged"].Bool() {
		t.Errorf("a shallow clone: %v, %v", obs.Facts, err)
	}
}
