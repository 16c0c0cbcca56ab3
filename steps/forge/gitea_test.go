package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/drills/lab"
	labforge "handrail/drills/lab/forge"
	"handrail/steps"
)

// realForge is one Gitea for all tests of the package, and what was done there.
var realForge struct {
	once sync.Once
	w    *realWorld
	err  error
	done func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if realForge.done != nil {
		realForge.done()
	}
	os.Exit(code)
}

type realWorld struct {
	world
	forge *labforge.Forge
	real  *labforge.Repo
	alice *labforge.User
	bob   *labforge.User
	run   *labforge.Runner

	waitingRun, waitingJob  string
	cancelledRun            string
	narrowToken, blindToken string
}

func giteaWorld(t *testing.T) *realWorld {
	t.Helper()
	if testing.Short() {
		t.Skip("a real Gitea is started")
	}
	realForge.once.Do(func() { realForge.w, realForge.err = buildGitea() })
	if realForge.err != nil {
		t.Fatal(realForge.err)
	}
	return realForge.w
}

const workflow = `on:
  push:
    branches: [ci, ci-2, ci-3]
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - name: tofu plan
        run: tofu plan
  apply:
    needs: plan
    runs-on: ubuntu-latest
    steps:
      - name: tofu apply
        run: tofu apply
`

// buildGitea does on a real Gitea what the contract asks about.
func buildGitea() (*realWorld, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "handrail-forge-")
	if err != nil {
		return nil, err
	}
	realForge.done = func() { _ = os.RemoveAll(dir) }
	f, err := labforge.Start(ctx, lab.Options{}, dir)
	if err != nil {
		return nil, err
	}
	realForge.done = func() { _ = f.Close(); _ = os.RemoveAll(dir) }
	w := &realWorld{forge: f, world: world{vendor: gitea, repo: "platform/live", author: "alice", other: "bob"}}
	var failed error
	must := func(err error) {
		if err != nil && failed == nil {
			failed = err
		}
	}
	user := func(name string) *labforge.User {
		u, err := f.User(ctx, name)
		must(err)
		if u == nil {
			u = f.Admin
		}
		return u
	}
	w.alice, w.bob = user("alice"), user("bob")
	reader := user("reader")
	must(w.alice.Org(ctx, "platform"))
	w.real, err = w.alice.Repository(ctx, "platform", "live")
	must(err)
	if failed != nil {
		return nil, failed
	}
	r := w.real
	must(r.Share(ctx, w.alice, "bob", "write"))
	must(r.Share(ctx, w.alice, "reader", "read"))
	_, err = r.Commit(ctx, w.alice, "main", "", "CODEOWNERS", "env/prod/.* @bob\n", "owners")
	must(err)
	must(r.Protect(ctx, w.alice, labforge.Protection{Branch: "main", Approvals: 1, Checks: []string{"ci/plan"}}))

	// One that was approved at an older commit, and whose base moves.
	older, err := r.Commit(ctx, w.alice, "scale", "main", "env/prod/main.tf", "locals {}\n", "scale")
	must(err)
	stale, err := r.Pull(ctx, w.alice, "scale", "main", "Scale the pool")
	must(err)
	_, err = r.Review(ctx, w.bob, stale, "APPROVED", older, "fine")
	must(err)
	w.older = older
	w.head, err = r.Commit(ctx, w.alice, "scale", "", "env/prod/main.tf", "locals { a = 1 }\n", "scale more")
	must(err)
	must(r.Status(ctx, w.bob, w.head, "ci/plan", "failure", "https://ci.example.com/1", "refused"))
	must(until(ctx, func() (bool, error) {
		all, err := r.Reviews(ctx, w.bob, stale)
		return len(all) == 1 && all[0].Stale, err
	}))

	// One that was approved at its head and merged.
	merged, err := r.Commit(ctx, w.alice, "merged", "main", "env/dev/main.tf", "locals {}\n", "dev")
	must(err)
	done, err := r.Pull(ctx, w.alice, "merged", "main", "Dev")
	must(err)
	must(r.Status(ctx, w.bob, merged, "ci/plan", "success", "", "planned"))
	_, err = r.Review(ctx, w.bob, done, "APPROVED", merged, "The plan sha256:"+approvedPlan+", as CI made it.")
	must(err)
	must(until(ctx, func() (bool, error) {
		err := r.Merge(ctx, w.bob, done)
		if err != nil && strings.Contains(err.Error(), "try again later") {
			return false, nil
		}
		return true, err
	}))
	w.stale, w.merged = stale, done

	// Two runs: one whose plan failed, and one whose plan runs while its apply waits.
	w.run, err = f.Runner(ctx, "runner-7")
	must(err)
	if failed != nil {
		return nil, failed
	}
	w.failedHead, err = r.Commit(ctx, w.alice, "ci", "main", ".gitea/workflows/infra.yaml", workflow, "plan in CI")
	must(err)
	j, err := w.run.Take(ctx)
	must(err)
	if failed != nil {
		return nil, failed
	}
	must(j.Artifact(ctx, "tfplan", []byte("a plan"), time.Now().Add(-49*time.Hour)))
	must(j.Artifact(ctx, "report", []byte("a report"), time.Now().Add(73*time.Hour)))
	must(j.Step(ctx, "failure", "⭐ Run Main tofu plan", "OpenTofu v1.12.6", "on linux_amd64", "╷", "│ Error: Invalid reference", "│ ", "│   on main.tf line 3", "╵", "❌  Failure - Main tofu plan", "exitcode '1': failure"))
	must(j.End(ctx, "failure"))
	w.failedRun, w.failedJob = "1", count(j.Task)
	must(f.CleanUp(ctx))
	_, err = r.Commit(ctx, w.alice, "ci", "", "a.txt", "a", "again")
	must(err)
	j, err = w.run.Take(ctx)
	must(err)
	if failed != nil {
		return nil, failed
	}
	must(j.Step(ctx, "success", "⭐ Run Main tofu plan"))
	w.runningRun = "2"

	// One that a later push cancels while its plan runs.
	_, err = r.Commit(ctx, w.alice, "ci-3", "ci", "c.txt", "c", "cancelled by the next")
	must(err)
	j, err = w.run.Take(ctx)
	must(err)
	if failed != nil {
		return nil, failed
	}
	must(j.Step(ctx, "success", "⭐ Run Main tofu plan"))
	_, err = r.Commit(ctx, w.alice, "ci-3", "", "d.txt", "d", "the next")
	must(err)
	w.cancelledRun = "3"
	must(until(ctx, func() (bool, error) {
		all, err := r.Tasks(ctx, w.alice)
		return slices.ContainsFunc(all, func(k labforge.Task) bool { return k.ID == j.Task && k.Status == "cancelled" }), err
	}))
	next, err := w.run.Take(ctx)
	must(err)
	if failed != nil {
		return nil, failed
	}
	must(next.End(ctx, "failure"))

	// One whose plan is over, and whose apply no runner has taken.
	_, err = r.Commit(ctx, w.alice, "ci-2", "ci", "b.txt", "b", "once more") // on a branch of its own: a push cancels what runs on one
	must(err)
	j, err = w.run.Take(ctx)
	must(err)
	if failed != nil {
		return nil, failed
	}
	must(j.Step(ctx, "success", "⭐ Run Main tofu plan"))
	must(j.End(ctx, "success"))
	w.waitingRun, w.waitingJob = "5", count(j.Task)

	// The token may read the repository and nothing else.
	token, err := reader.NewToken(ctx, "read:repository")
	must(err)
	w.narrowToken, err = reader.NewToken(ctx, "read:user")
	must(err)
	w.blindToken = user("blind").Token
	seen, err := watched(f.URL)
	must(err)
	if failed != nil {
		return nil, failed
	}
	w.seen, w.token = seen, token
	w.environ = []string{"GITEA_SERVER_URL=" + seen.url, "GITEA_TOKEN=" + token}
	stop := realForge.done
	realForge.done = func() { seen.close(); stop() }
	return w, nil
}

// until asks until it is so: Gitea does much in queues of its own.
func until(ctx context.Context, is func() (bool, error)) error {
	for {
		ok, err := is()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not come to that: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// seenServer stands before a forge and notes what it is asked.
type seenServer struct {
	url   string
	close func()
	mu    sync.Mutex
	all   []string
}

func (s *seenServer) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r.Method+" "+r.URL.EscapedPath())
}

func watched(to string) (*seenServer, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	s := &seenServer{}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: &http.Transport{Proxy: nil}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		pass.ServeHTTP(w, r)
	}))
	s.url, s.close = server.URL, server.Close
	return s, nil
}

// TestGiteaHidesWhatWaits: every task of the run is over, and the run is not: its next job has no task, and shows in the
// statuses of the commit alone. The job that was asked for is over all the same.
func TestGiteaHidesWhatWaits(t *testing.T) {
	w := giteaWorld(t)
	obs, _, err := w.look(t, "run", steps.Params{"run": steps.IdentOf(w.waitingRun)})
	if err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"jobs": "plan=success", "state": queued, "run_over": "no", "result": "?", "ended": "?"})
	if obs, _, err = w.look(t, "run", steps.Params{"job": steps.IdentOf(w.waitingJob)}); err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"run": w.waitingRun, "state": over, "run_over": "yes", "result": success})
}

// TestGiteaCancels: a later push cancels a run. It is over, although Gitea leaves the status of its job pending.
func TestGiteaCancels(t *testing.T) {
	w := giteaWorld(t)
	obs, out, err := w.look(t, "run", steps.Params{"run": steps.IdentOf(w.cancelledRun)})
	if err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"jobs": "plan=cancelled", "state": over, "run_over": "yes", "result": cancelled})
	if t.Failed() {
		t.Logf("the statuses: %s", keptOf(out, "checks"))
	}
}

// TestGiteaTokens: one that may see nothing of the repository, and one that may read no repository at all.
func TestGiteaTokens(t *testing.T) {
	w := giteaWorld(t)
	for _, tc := range []struct {
		name, token string
		is          error
	}{{"of another account", w.blindToken, errNotSeen}, {"of another scope", w.narrowToken, steps.ErrDenied}} {
		environ := []string{"GITEA_SERVER_URL=" + w.seen.url, "GITEA_TOKEN=" + tc.token}
		for kind, in := range map[string]steps.Params{"pull": {"number": steps.IntOf(w.stale)}, "run": {"run": steps.IdentOf(w.failedRun)}, "artifacts": {"run": steps.IdentOf(w.failedRun)}} {
			if _, _, err := w.lookAs(t, kind, environ, in); !errors.Is(err, tc.is) || strings.Contains(err.Error(), tc.token) {
				t.Errorf("%s, a token %s: %v, want %q", kind, tc.name, err, tc.is)
			}
		}
		if _, _, err := w.lookAs(t, "pull", environ, steps.Params{"branch": steps.StringOf("no-such-branch")}); !errors.Is(err, tc.is) {
			t.Errorf("by branch, a token %s: %v, want %q and never absent", tc.name, err, tc.is)
		}
	}
}
