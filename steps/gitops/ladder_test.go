package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/gitread"
)

// TestStanding: what keeps an object from its place comes before what it differs in, and what was not
// read is never as wanted.
func TestStanding(t *testing.T) {
	t.Parallel()
	const want = `{"apiVersion":"v1","kind":"X","metadata":{"name":"a"},"spec":{"n":1}}`
	res := app.Resource{Kind: "X", Namespace: "shop", Name: "a"}
	failed := app.App{Controller: app.ArgoCD, Link: app.LinkApply, Says: "one failed", Operation: app.Operation{Results: []app.Result{{Resource: res, Status: "SyncFailed", Message: "field is immutable"}}}}
	for name, tc := range map[string]struct {
		a    app.App
		s    side3
		live string
		want string
	}{
		"as wanted":       {app.App{}, side3{}, want, "as wanted"},
		"absent":          {app.App{}, side3{}, "", "absent"},
		"absent, refused": {failed, side3{}, "", "absent: field is immutable"},
		"refused":         {failed, side3{}, want, "unhealthy: field is immutable"},
		"of another name": {app.App{Link: app.LinkApply, Operation: app.Operation{Results: []app.Result{{Resource: app.Resource{Kind: "X", Namespace: "shop", Name: "b"}, Status: "SyncFailed", Message: "no"}}}}, side3{}, want, "as wanted"},
		"differs":         {app.App{}, side3{}, strings.Replace(want, `"n":1`, `"n":2`, 1), "differs: the live side moved: spec.n"},
		"says itself":     {app.App{}, side3{}, strings.Replace(want, `"spec"`, `"status":{"conditions":[{"type":"Ready","status":"False","message":"no bucket"}]},"spec"`, 1), "unhealthy: Ready is False: no bucket"},
		"not all ready":   {app.App{}, side3{}, `{"apiVersion":"v1","kind":"X","metadata":{"name":"a"},"spec":{"n":1,"replicas":3},"status":{"readyReplicas":1}}`, "unhealthy: 1 of 3 are ready"},
		"going":           {failed, side3{}, strings.Replace(want, `"name":"a"`, `"name":"a","deletionTimestamp":"2026-07-29T08:11:02Z","finalizers":["x/y"]`, 1), "terminating: being deleted since 2026-07-29T08:11:02Z, held by x/y"},
		"degraded":        {app.App{Controller: app.ArgoCD, Resources: []app.Resource{{Kind: "X", Namespace: "shop", Name: "a", Health: app.Degraded, Says: "crash"}}}, side3{}, want, "unhealthy: degraded: crash"},
		"not read":        {app.App{}, side3{unread: "forbidden"}, "", "unknown: forbidden"},
		"no such kind":    {app.App{}, side3{unread: "no kind X", unserved: true}, "", "absent: no kind X"},
		"made anew":       {app.App{}, side3{varies: map[string]bool{"spec.n": true}}, want, "unknown: spec.n comes out otherwise at each rendering"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.s
			s.name, s.of = "x/shop/a", res
			if s.unread == "" {
				s.desired, s.recorded = objectOf(t, want), objectOf(t, want)
			}
			if tc.live != "" {
				o, err := cluster.ParseObject([]byte(tc.live))
				if err != nil {
					t.Fatal(err)
				}
				s.live, s.actual = o, o.Object
			}
			if got := standingOf(tc.a, &s).String(); got != tc.want {
				t.Errorf("it stands %q, want %q", got, tc.want)
			}
		})
	}
	surplus := side3{name: "x/shop/a", of: res, actual: objectOf(t, want), delivered: true}
	if got := standingOf(app.App{}, &surplus).String(); got != "differs: no longer wanted, and still there" {
		t.Errorf("what Git gave up stands %q", got)
	}
}

// TestLadder: the way goes from the source down, a rung stands once, and the one that fails has the
// controller's words.
func TestLadder(t *testing.T) {
	t.Parallel()
	a := app.App{Controller: app.ArgoCD, Kind: "Application", Namespace: "argocd", Name: "shop", Sync: app.OutOfSync, Health: app.Healthy, Link: app.LinkRender, Says: "kustomize build failed", Tried: strings.Repeat("a", 40),
		Sources: []app.Source{{Repo: "https://git/x.git", Revision: "main", Path: "apps/shop"}}}
	root := app.App{Controller: app.ArgoCD, Kind: "Application", Namespace: "argocd", Name: "root", Sync: app.Synced, Health: app.Healthy, Link: app.LinkNone, Suspension: &app.Suspension{How: "x"}}
	var l ladder
	by := l.application(root)
	of := fallen{a: a, from: manifests.Source{Of: a.Sources, Revision: a.Tried}, more: 2}
	for i := range mostFine + 2 {
		of.stands = append(of.stands, standing{name: "x/" + strings.Repeat("i", i+1), is: standsWanted})
	}
	of.stands = append(of.stands, standing{name: "x/gone", is: standsAbsent})
	for range 2 { // what is there is not put twice
		l.drop(of, l.application(a, l.source(a, of.from), by))
	}
	text := strings.Join(l.lines(), "\n")
	for _, want := range []string{"argocd application argocd/root held: synced, suspended since when is not recorded", "source https://git/x.git\npath apps/shop main at aaaaaaaa fails: kustomize build failed\nargocd application argocd/shop fails: out of sync, fails at render\n  x/gone fails: absent\n  x/i\n",
		"  2 more objects of argocd application argocd/shop\n  2 objects of argocd application argocd/shop that come of other files unknown: left out here"} {
		if !strings.Contains(text, want) {
			t.Errorf("the way has not\n%s\nin\n%s", want, text)
		}
	}
	f := steps.NewFacts(pathFacts())
	l.tell(f)
	g, ok := ladderDrawing().Graph(map[string]steps.Value{"way": f.Got("way"), "from": f.Got("from"), "what": f.Got("what"), "states": f.Got("states")})
	if !ok || len(g.Nodes) != len(l) || g.Nodes[3].State != steps.NodeFails || g.Nodes[0].State != steps.NodeHeld {
		t.Errorf("drawn as %+v", g.Nodes)
	}
}

// TestTakes: an application takes in a base beside its own directory, and nothing that it does not name.
func TestTakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	for name, text := range map[string]string{"apps/shop/kustomization.yaml": "resources: [../../base]\n", "base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n", "other/x.yaml": "a: b\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("add", ".")
	git("commit", "-qm", "x")
	commit := git("rev-parse", "HEAD")
	clone, err := gitread.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"base/web.yaml": true, "base": true, "other": false, "bas": false, "other/x.yaml": false} {
		a := app.App{Sources: []app.Source{{Path: "apps/shop"}}}
		r := &descent{git: clone, path: path}
		if got, err := r.takes(t.Context(), a, commit, map[string]bool{}); err != nil || got != want {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	full := map[string]bool{}
	for i := range mostOpened {
		full[strings.Repeat("x", i)] = false
	}
	if _, err := (&descent{git: clone, path: "base"}).takes(t.Context(), app.App{Sources: []app.Source{{Path: "apps/shop"}}}, commit, full); err == nil {
		t.Error("there is no bound")
	}
}
