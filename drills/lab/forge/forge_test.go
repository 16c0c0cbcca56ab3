package forge_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/drills/lab/forge"
)

// refusedWith fails unless Gitea refused with this status and these words.
func refusedWith(t *testing.T, err error, status int, words string) {
	t.Helper()
	var no *forge.RefusedError
	if !errors.As(err, &no) || no.Status != status || !strings.Contains(no.Says, words) {
		t.Errorf("the forge says %v, want %d with %q", err, status, words)
	}
}

// TestForgeRefuses walks a protected branch on a real Gitea: what a pull request may not do, and what it may.
func TestForgeRefuses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	built := time.Now()
	if _, err := lab.Service(ctx, lab.Options{}, "gitea"); err != nil {
		t.Fatal(err)
	}
	t.Logf("built or found in %s", time.Since(built).Round(time.Millisecond))
	started := time.Now()
	f, err := forge.Start(ctx, lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Logf("ready with an administrator in %s, %s resident", time.Since(started).Round(time.Millisecond), resident(f.PID()))
	at, err := lab.Listeners(f.PID())
	if err != nil || len(at) != 1 {
		t.Errorf("it listens on %v, %v, want one address", at, err)
	}
	for _, a := range at {
		if !a.Is4() || !a.IsLoopback() {
			t.Errorf("it listens on %s", a)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	alice, err := f.User(ctx, "alice")
	must(err)
	bob, err := f.User(ctx, "bob")
	must(err)
	must(alice.Org(ctx, "platform"))
	repo, err := alice.Repository(ctx, "platform", "live")
	must(err)
	must(repo.Share(ctx, alice, "bob", "write"))
	must(repo.Protect(ctx, alice, forge.Protection{Branch: "main", Approvals: 1, Checks: []string{"ci/plan"}, Dismiss: true}))
	head, err := repo.Commit(ctx, alice, "fix", "main", "env/prod/main.tf", "locals {}\n", "size the pool")
	must(err)
	pull, err := repo.Pull(ctx, alice, "fix", "main", "Size the pool")
	must(err)

	refusedWith(t, eventually(func() error { return repo.Merge(ctx, alice, pull) }), 405, "Not all required status checks successful")
	must(repo.Status(ctx, bob, head, "ci/plan", "success", "", "planned"))
	refusedWith(t, repo.Merge(ctx, alice, pull), 405, "Does not have enough approvals")
	_, err = repo.Review(ctx, alice, pull, "APPROVED", head, "")
	refusedWith(t, err, 422, "approve your own pull is not allowed")
	if err := repo.Push(ctx, bob, t.TempDir(), "main", "env/prod/main.tf", "locals { a = 1 }\n"); err == nil || !strings.Contains(err.Error(), "pre-receive hook declined") {
		t.Errorf("a push to the protected branch: %v", err)
	}
	early, err := repo.Review(ctx, bob, pull, "APPROVED", head, "")
	must(err)
	if err := repo.Push(ctx, bob, t.TempDir(), "fix", "env/prod/other.tf", "locals {}\n"); err != nil {
		t.Errorf("a push to another branch: %v", err)
	}
	newer, err := repo.Head(ctx, bob, "fix")
	must(err)
	if newer == head {
		t.Error("the push moved nothing")
	}
	// Gitea dismisses what was approved before a push in a queue of its own.
	must(await(func() (bool, error) {
		all, err := repo.Reviews(ctx, bob, pull)
		return len(all) == 1 && all[0].ID == early && all[0].Dismissed, err
	}))
	must(repo.Status(ctx, bob, newer, "ci/plan", "success", "", "planned"))
	refusedWith(t, eventually(func() error { return repo.Merge(ctx, alice, pull) }), 405, "Does not have enough approvals")
	_, err = repo.Review(ctx, bob, pull, "APPROVED", newer, "")
	must(err)
	must(eventually(func() error { return repo.Merge(ctx, alice, pull) }))
	if raw, err := os.ReadFile(f.Log()); err != nil || strings.Contains(string(raw), alice.Token) {
		t.Errorf("its log holds a token, or cannot be read: %v", err)
	}
}

// TestForgeRuns lets a runner take a job of a real Gitea and fail it: the commit status follows.
func TestForgeRuns(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f, err := forge.Start(ctx, lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.Admin.Org(ctx, "platform"))
	repo, err := f.Admin.Repository(ctx, "platform", "live")
	must(err)
	runner, err := f.Runner(ctx, "lab-1")
	must(err)
	_, err = repo.Commit(ctx, f.Admin, "main", "", ".gitea/workflows/plan.yaml", "on: push\njobs:\n  plan:\n    runs-on: ubuntu-latest\n    steps:\n      - name: tofu plan\n        run: tofu plan\n", "plan in CI")
	must(err)
	job, err := runner.Take(ctx)
	must(err)
	if got, err := repo.Tasks(ctx, f.Admin); err != nil || len(got) != 1 || got[0].Status != "running" || got[0].ID != job.Task {
		t.Errorf("a job that runs: %v, %v", got, err)
	}
	must(job.Step(ctx, "failure", "$ tofu plan", "│ Error: Invalid reference"))
	must(job.End(ctx, "failure"))
	if got, err := repo.Tasks(ctx, f.Admin); err != nil || len(got) != 1 || got[0].Status != "failure" {
		t.Errorf("a job that failed: %v, %v", got, err)
	}
}

// eventually tries until Gitea has looked at the pull request: it checks for conflicts in a queue of its own, and says
// "Please try again later" until then.
func eventually(do func() error) (err error) {
	return errors.Join(await(func() (bool, error) {
		err = do()
		return err == nil || !strings.Contains(err.Error(), "try again later"), nil
	}), err)
}

// await asks until it is so: Gitea tells no one when its queue is done.
func await(is func() (bool, error)) error {
	end := time.After(30 * time.Second)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		if ok, err := is(); ok || err != nil {
			return err
		}
		select {
		case <-end:
			return errors.New("it did not come to that within 30 s")
		case <-look.C:
		}
	}
}

func resident(pid int) string {
	raw, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	return "unknown"
}
