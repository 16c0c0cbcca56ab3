//go:build unix

package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"handrail/drills/lab"
	"handrail/drills/lab/gitops"
	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/render"
)

// TestMain lets this binary render, as handrail does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == render.Word {
		os.Exit(render.Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// side is one controller under the contract: the same incident on Argo CD and on Flux.
type side struct {
	*testing.T
	lab     *lab.Lab
	env     steps.Env
	control *gitops.Controllers
	git     *gitops.Git
	repo    *gitops.Repository
	target  string // namespace that is deployed into
	kind    steps.Params
	argo    bool
	path    string
	redacts *redact.Redactor // nil where no Secret is read
}

const within = 3 * time.Minute

// TestContract walks one application through its life on each controller, and reads it
// with the same probes and the same gates.
func TestContract(t *testing.T) {
	klog.SetLogger(logr.Discard())
	opts, err := lab.ForTests("steps-gitops")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	git, err := gitops.StartGit(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = git.Close() })
	t.Run("copies", func(t *testing.T) {
		t.Parallel()
		copied(t, l)
	})
	for name, of := range map[string]struct {
		start func(context.Context, *lab.Lab, string, string) (*gitops.Controllers, error)
		argo  bool
	}{"Argo CD": {gitops.StartArgoCD, true}, "Flux": {gitops.StartFlux, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := side{T: t, lab: l, argo: of.argo}
			home := fmt.Sprintf("contract-%t", of.argo)
			s.control, err = of.start(t.Context(), l, t.TempDir(), home)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if t.Failed() {
					for _, name := range s.control.Names() {
						t.Logf("end of the log of %s:\n%s", name, s.control.Log(name))
					}
				}
				if err := s.control.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			s.prepare(git, home)
			s.walk()
			s.elsewhere()
			s.packed()
			s.adopts()
			s.charts()
		})
	}
}

// prepare makes the repository, the namespace to deploy into, and the account that looks.
func (s *side) prepare(git *gitops.Git, home string) {
	s.Helper()
	var err error
	s.git = git
	if s.repo, err = git.Repository(s.Context(), home); err != nil {
		s.Fatal(err)
	}
	ns, err := s.lab.Namespace(s.Context(), "delivered")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = s.lab.VacateNamespace(context.WithoutCancel(s.Context()), ns.Name) })
	s.target = ns.Name
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	s.env = steps.Env{Self: self, Kubeconfig: s.lab.Kubeconfig(), Home: s.TempDir(), Now: time.Now, Version: "test"}
	s.kind = steps.Params{"resource": steps.StringOf("kustomizations.kustomize.toolkit.fluxcd.io"), "name": steps.StringOf("shop"), "namespace": steps.StringOf(home)}
	if s.argo {
		s.kind["resource"] = steps.StringOf("applications.argoproj.io")
	}
}

func (s *side) commit(files ...string) string {
	s.Helper()
	tree := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		tree[files[i]] = &fstest.MapFile{Data: []byte(files[i+1]), Mode: 0o644}
	}
	sha, err := s.repo.Commit(s.Context(), "Change it", tree)
	if err != nil {
		s.Fatal(err)
	}
	return sha
}

func settings(colour string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {colour: " + colour + "}\n"
}

// deploy makes the application, with auto-sync off on Argo CD: Flux has no such thing.
func (s *side) deploy() {
	s.Helper()
	ns := s.control.Namespace
	if s.argo {
		s.path = s.make("/apis/argoproj.io/v1alpha1/namespaces/"+ns+"/applications", "argoproj.io/v1alpha1", "Application", "shop", map[string]any{
			"project": "default", "source": map[string]any{"repoURL": s.repo.URL, "path": "app", "targetRevision": "main"},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": s.target},
			"syncPolicy":  map[string]any{"automated": map[string]any{}}})
		return
	}
	s.make("/apis/source.toolkit.fluxcd.io/v1/namespaces/"+ns+"/gitrepositories", "source.toolkit.fluxcd.io/v1", "GitRepository", "shop",
		map[string]any{"interval": "2s", "url": s.repo.URL, "ref": map[string]any{"branch": "main"}})
	s.path = s.make("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/"+ns+"/kustomizations", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "shop",
		map[string]any{"interval": "1h", "retryInterval": "2s", "path": "./app", "prune": true, "targetNamespace": s.target, "timeout": "30s",
			"sourceRef": map[string]any{"kind": "GitRepository", "name": "shop"}})
}

func (s *side) make(collection, version, kind, name string, spec map[string]any) string {
	s.Helper()
	body := map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
	if err := s.lab.Request(s.Context(), http.MethodPost, collection, "application/json", body, nil); err != nil {
		s.Fatal(err)
	}
	return collection + "/" + name
}

func (s *side) merge(path string, in map[string]any) {
	s.Helper()
	if err := s.lab.Request(s.Context(), http.MethodPatch, path, "application/merge-patch+json", in, nil); err != nil {
		s.Fatal(err)
	}
}

// probe runs one of the kinds.
func (s *side) probe(kind string, in steps.Params) steps.Observation {
	s.Helper()
	for _, k := range Kinds() {
		if k.Name != kind {
			continue
		}
		sink := steps.Sink(steps.SecretsOnly(nil))
		if s.redacts != nil {
			sink = bundleSink{r: s.redacts}
		}
		obs, err := k.Reads(s.env).Probe(s.Context(), in, sink)
		if err != nil {
			s.Fatalf("%s: %v", kind, err)
		}
		if more := k.Undeclared(obs.Facts); len(more) > 0 {
			s.Errorf("%s tells %q, which it does not declare", kind, more)
		}
		return obs
	}
	s.Fatalf("there is no %s", kind)
	return steps.Observation{}
}

// until reads the application until it is as wanted, and returns it.
func (s *side) until(what string, is func(map[string]steps.Value) bool) steps.Observation {
	s.Helper()
	deadline := time.Now().Add(within)
	for {
		obs := s.probe("gitops/app", s.kind)
		if is(obs.Facts) {
			return obs
		}
		if time.Now().After(deadline) {
			s.Fatalf("it has not come to be %s: %s %s", what, obs.Summary, told(obs))
		}
		tick := time.NewTimer(200 * time.Millisecond)
		select {
		case <-s.Context().Done():
			s.Fatal(s.Context().Err())
		case <-tick.C:
		}
	}
}

func told(obs steps.Observation) string {
	var b strings.Builder
	for name, v := range obs.Facts {
		fmt.Fprintf(&b, "\n%s=%s", name, shownValue(v))
	}
	return b.String()
}

func (s *side) want(obs steps.Observation, facts map[string]string) {
	s.Helper()
	for name, want := range facts {
		if v := obs.Facts[name]; !v.Known() && want != "unknown" || v.Known() && v.Text() != want {
			s.Errorf("%s is %s, want %s\n%s", name, shownValue(v), want, obs.Summary)
		}
	}
}

func shownValue(v steps.Value) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func textOf(facts map[string]steps.Value, name string) string {
	if v := facts[name]; v.Known() {
		return v.Text()
	}
	return "unknown"
}

func (s *side) colour() string {
	s.Helper()
	var cm struct{ Data map[string]string }
	if err := s.lab.Request(s.Context(), http.MethodGet, s.settingsPath(), "", nil, &cm); err != nil {
		s.Fatal(err)
	}
	return cm.Data["colour"]
}

func (s *side) settingsPath() string {
	return "/api/v1/namespaces/" + s.target + "/configmaps/settings"
}

func (s *side) with(more steps.Params) steps.Params {
	out := steps.Params{}
	for k, v := range s.kind {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// preview of the sync gate.
func (s *side) preview(more steps.Params) steps.Preview {
	s.Helper()
	p, err := newSyncGate(s.env).Preview(s.Context(), s.with(more), steps.SecretsOnly(nil))
	if err != nil {
		s.Fatal(err)
	}
	return p
}

func (s *side) refused(p steps.Preview, why string) {
	s.Helper()
	for _, n := range p.Unmet {
		if strings.Contains(n.Why, why) {
			if n.Cure == "" {
				s.Errorf("%q has no cure", n.Why)
			}
			return
		}
	}
	s.Errorf("nothing refuses with %q: %v", why, p.Unmet)
}

// seen waits until the controller has seen the newest spec and does nothing by an older one.
// Argo CD keeps no observed generation: it takes its refresh annotation away.
func (s *side) seen() {
	s.Helper()
	if s.argo {
		s.merge(s.path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "normal"}}})
	}
	s.await("a controller that has seen the newest spec", func() bool {
		var o struct {
			Metadata struct {
				Generation  int64
				Annotations map[string]string
			}
			Operation any
			Status    struct {
				ObservedGeneration int64
				OperationState     struct{ Phase string }
			}
		}
		if err := s.lab.Request(s.Context(), http.MethodGet, s.path, "", nil, &o); err != nil {
			s.Fatal(err)
		}
		if s.argo {
			return o.Metadata.Annotations["argocd.argoproj.io/refresh"] == "" && o.Operation == nil && o.Status.OperationState.Phase != "Running"
		}
		return o.Status.ObservedGeneration >= o.Metadata.Generation
	})
}

// sync acts as a person does who types the phrase.
func (s *side) sync(more steps.Params) steps.Outcome {
	s.Helper()
	p := s.preview(more)
	if len(p.Unmet) > 0 {
		s.Fatalf("the sync is refused: %v", p.Unmet)
	}
	a, err := steps.Confirm(p, "incident", "sync", p.Digest("incident", "sync"), p.Phrase)
	if err != nil {
		s.Fatal(err)
	}
	o, err := newSyncGate(s.env).Act(s.Context(), a, steps.SecretsOnly(nil))
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// threeWays reads the application with what Git has, and without a clone of it.
func (s *side) threeWays(first string) {
	s.Helper()
	with := steps.Params{"clone": steps.PathOf(s.repo.Clone())}
	line := "configmap/" + s.target + `/settings data.colour: wanted "green", applied "green", live "red"`
	obs := s.probe("gitops/desired", s.with(with))
	s.want(obs, map[string]string{"rendered": "true", "unrendered": "", "revision": first, "objects": "1", "moved": "live"})
	for fact, want := range map[string]string{"live_moved": line, "git_moved": "", "unclear": "", "missing": "", "surplus": ""} {
		if v := obs.Facts[fact]; !v.Known() || strings.Join(v.Strings(), "; ") != want {
			s.Errorf("%s is %s, want %q", fact, shownValue(v), want)
		}
	}
	if f := obs.Facts; f["wanted"].Text() != f["recorded"].Text() || f["wanted"].Text() == f["actual"].Text() {
		s.Errorf("wanted %s, recorded %s, actual %s", shownValue(f["wanted"]), shownValue(f["recorded"]), shownValue(f["actual"]))
	}
	// Argo CD keeps what it applied on the object, Flux nowhere.
	obs = s.probe("gitops/desired", s.with(nil))
	s.want(obs, map[string]string{"rendered": "false", "moved": "unknown", "git_moved": "unknown"})
	if v := obs.Facts["live_moved"]; s.argo != v.Known() || s.argo && !slices.Equal(v.Strings(), []string{line}) {
		s.Errorf("without a clone live_moved is %s", shownValue(v))
	}
	other, err := s.git.Repository(s.Context(), "other-"+s.control.Namespace)
	if err != nil {
		s.Fatal(err)
	}
	if obs := s.probe("gitops/desired", s.with(steps.Params{"clone": steps.PathOf(other.Clone())})); obs.Facts["rendered"].Text() != "false" || !strings.Contains(obs.Facts["unrendered"].Text(), "does not have the object") {
		s.Errorf("a clone without the commit: %s", shownValue(obs.Facts["unrendered"]))
	}
}

// descends asks what comes of a file that was changed live. The repository is named: that of the other controller
// may have the same commit, made in the same second.
func (s *side) descends() {
	s.Helper()
	object := "configmap/" + s.target + "/settings"
	for name, of := range map[string]struct {
		in   steps.Params
		want map[string]string
	}{
		"file":        {steps.Params{"path": steps.StringOf("app/settings.yaml"), "clone": steps.PathOf(s.repo.Clone()), "repository": steps.StringOf(s.repo.URL)}, map[string]string{"whole": "false", "differs": object}},
		"above it":    {steps.Params{"path": steps.StringOf("."), "clone": steps.PathOf(s.repo.Clone()), "repository": steps.StringOf(s.repo.URL)}, map[string]string{"whole": "true", "differs": object}},
		"application": {s.with(steps.Params{"clone": steps.PathOf(s.repo.Clone())}), map[string]string{"whole": "true", "differs": object}},
	} {
		obs := s.probe("gitops/path", of.in)
		s.want(obs, map[string]string{"exists": "true", "link": "none", "whole": of.want["whole"]})
		if v := obs.Facts["differs"]; !v.Known() || strings.Join(v.Strings(), " ") != of.want["differs"] {
			s.Errorf("%s: differs %s\n%s", name, shownValue(v), obs.Summary)
		}
		app := string(map[bool]app.Controller{true: app.ArgoCD, false: app.Flux}[s.argo]) + " " + map[bool]string{true: "application", false: "kustomization"}[s.argo] + " " + s.control.Namespace + "/shop"
		way, states := strings.Join(obs.Facts["way"].Strings(), "\n"), obs.Facts["states"].Table()
		if !strings.Contains(way, s.repo.URL) || !strings.HasSuffix(way, app+"\n"+object) || states[app] != steps.NodeHeld || states[object] != steps.NodeDiffers {
			s.Errorf("%s: the way is\n%s\n%v", name, way, states)
		}
	}
	if obs := s.probe("gitops/path", steps.Params{"path": steps.StringOf("elsewhere"), "clone": steps.PathOf(s.repo.Clone())}); textOf(obs.Facts, "exists") != "false" {
		s.Errorf("what renders nothing: %s", obs.Summary)
	}
	if obs := s.probe("gitops/path", steps.Params{"path": steps.StringOf("app"), "repository": steps.StringOf("other.git")}); textOf(obs.Facts, "exists") != "false" {
		s.Errorf("of another repository: %s", obs.Summary)
	}
}

// unrendered syncs what does not render: Argo CD keeps the results of the sync before, and that nothing was written is told
// by the objects.
func (s *side) unrendered(kustomize string) {
	s.Helper()
	acted := time.Now()
	s.await("another second: books count in them", func() bool { return time.Now().Unix() > acted.Unix()+1 })
	torn := s.commit("app/kustomization.yaml", kustomize, "app/settings.yaml", "data: {colour: [}\n")
	s.merge(s.path, map[string]any{"operation": map[string]any{"sync": map[string]any{"revision": torn}}})
	obs := s.until("without manifests", func(f map[string]steps.Value) bool {
		return textOf(f, "phase") == string(app.Failed) && textOf(f, "link") == string(app.LinkRender)
	})
	s.want(obs, map[string]string{"wrote": "false", "done": "unknown", "of": "unknown"})
	s.merge(s.path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "hard"}}})
	obs = s.until("compared with nothing", func(f map[string]steps.Value) bool { return textOf(f, "sync") == "unknown" })
	s.want(obs, map[string]string{"link": string(app.LinkRender), "pruned": "unknown", "differing": "unknown"})
}

// walk is the contract.
func (s *side) walk() {
	const kustomize = "resources: [settings.yaml]\n"
	first := s.commit("app/kustomization.yaml", kustomize, "app/settings.yaml", settings("green"))
	s.deploy()
	obs := s.until("synced", func(f map[string]steps.Value) bool {
		return textOf(f, "sync") == "synced" && textOf(f, "phase") == "succeeded"
	})
	s.want(obs, map[string]string{"exists": "true", "link": "none", "applied": first, "source_revision": first, "waiting": "false",
		"auto_sync": "true", "suspended": "false", "objects": "1", "says": ""})
	uid := textOf(obs.Facts, "uid")

	// Its own metrics, while nothing is wrong.
	s.measured()

	// Its controller dies, Git and a person go on, and it comes back.
	first = s.dead(kustomize)

	// Suspended by a person, with the author.
	if s.argo {
		s.merge(s.path, map[string]any{"spec": map[string]any{"syncPolicy": map[string]any{"automated": map[string]any{"enabled": false}}}})
	} else {
		s.merge(s.path, map[string]any{"spec": map[string]any{"suspend": true}})
	}
	s.seen()
	s.merge(s.settingsPath(), map[string]any{"data": map[string]any{"colour": "red"}})
	obs = s.until("suspended", func(f map[string]steps.Value) bool {
		return textOf(f, "suspended") == "true" && (!s.argo || textOf(f, "sync") == "out_of_sync")
	})
	if by := obs.Facts["suspended_by"]; !by.Known() || by.Text() == "" || !obs.Facts["suspended_for"].Known() {
		s.Errorf("suspended by %s for %s", shownValue(by), shownValue(obs.Facts["suspended_for"]))
	}
	if s.argo {
		s.want(obs, map[string]string{"auto_sync": "false"})
		if d := obs.Facts["differing"]; len(d.Strings()) != 1 || !strings.HasSuffix(d.Strings()[0], "/settings") {
			s.Errorf("differing %s", shownValue(d))
		}
	}
	listed := s.probe("gitops/suspended", steps.Params{"older": steps.DurationOf(0)})
	if raw, _ := json.Marshal(listed.Facts["suspended"]); !strings.Contains(string(raw), s.control.Namespace+"/shop") {
		s.Errorf("the ledger does not hold it: %s", raw)
	}

	// Git, what was applied and what is live: the live side moved.
	s.threeWays(first)

	// From the object up.
	trace := s.probe("gitops/trace", steps.Params{"resource": steps.StringOf("configmaps"), "name": steps.StringOf("settings"), "namespace": steps.StringOf(s.target)})
	s.want(trace, map[string]string{"managed": "true", "name": "shop", "namespace": s.control.Namespace, "applied": first})
	if src := textOf(trace.Facts, "source"); !strings.Contains(src, s.repo.URL) {
		s.Errorf("the source is %q\n%s", src, told(trace))
	}

	// From a path in Git down, and of the same application by its name.
	s.descends()

	// What a sync refuses.
	give := steps.Params{"uid": steps.IdentOf(uid), "revision": steps.IdentOf(first), "prune": steps.BoolOf(true), "wait": steps.DurationOf(time.Minute)}
	other := func(name string, v steps.Value) steps.Params {
		out := steps.Params{}
		for k, o := range give {
			out[k] = o
		}
		out[name] = v
		return out
	}
	s.refused(s.preview(other("revision", steps.IdentOf(strings.Repeat("a", 40)))), "has not been looked at")
	s.refused(s.preview(other("uid", steps.IdentOf("11111111-2222-3333-4444-555555555555"))), "another object of the same name")
	if !s.argo {
		s.refused(s.preview(give), "is suspended")
		s.merge(s.path, map[string]any{"spec": map[string]any{"suspend": false}})
		s.seen()
		s.refused(s.preview(other("prune", steps.BoolOf(false))), "cannot be asked to leave that once")
	}
	give["clone"] = steps.PathOf(s.repo.Clone())
	if p := s.preview(other("prune", steps.BoolOf(false))); len(p.Unmet) > 0 {
		s.Errorf("Git was rendered, nothing would be deleted, and it refuses: %v", p.Unmet)
	}

	if s.argo {
		s.refused(s.preview(other("unchanged", steps.BoolOf(true))), "is to change nothing, and 1 objects")
	}

	// What it does. A resumed Kustomization reconciles by itself, and takes the edit back.
	if s.argo {
		p := s.preview(give)
		if !strings.HasSuffix(p.Phrase, "shop@"+first[:8]) {
			s.Errorf("the phrase is %q", p.Phrase)
		}
		var shown []string
		for _, kv := range p.Shown {
			shown = append(shown, kv.Key+": "+kv.Value)
		}
		if text := strings.Join(shown, "\n"); !strings.Contains(text, `/settings: data.colour "red" -> "green" (changed live)`) || !strings.Contains(p.Effect, "it changes 1 fields, 1 of which were changed live") {
			s.Errorf("the preview does not say what is taken back: %s\n%s", p.Effect, text)
		}
		if p := s.preview(other("clone", steps.PathOf(""))); !slices.ContainsFunc(p.Shown, func(kv steps.KV) bool { return strings.Contains(kv.Value, `data.colour "red", was applied as "green"`) }) {
			s.Errorf("without a clone the preview does not say what is taken back: %v", p.Shown)
		}
	}
	o := s.sync(give)
	if o.Result != steps.Done {
		s.Errorf("%s: %s", o.Result, o.Response)
	}
	if c := s.colour(); c != "green" {
		s.Errorf("the colour is %s after %s", c, o.Response)
	}

	if s.argo {
		s.unrendered(kustomize)
	}

	// A revision that cannot be applied is told by its link, with the object.
	bad := s.commit("app/kustomization.yaml", kustomize, "app/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {colour: {not: text}}\n")
	if s.argo {
		s.until("compared with the new commit", func(f map[string]steps.Value) bool { return textOf(f, "source_revision") == bad })
		// Rehearsed, the refusal comes before the sync, and the object with it.
		s.refused(s.preview(other("revision", steps.IdentOf(bad))), "/settings as Git has it, so the sync would stop there")
		delete(give, "clone")
		if o := s.sync(other("revision", steps.IdentOf(bad))); o.Result != steps.Failed {
			s.Errorf("%s: %s", o.Result, o.Response)
		}
	}
	obs = s.until("failed", func(f map[string]steps.Value) bool {
		return (textOf(f, "phase") == "failed" || textOf(f, "phase") == "stalled") && textOf(f, "link") == string(app.LinkApply)
	})
	s.want(obs, map[string]string{"failing_name": "settings"})
	down := s.probe("gitops/path", s.kind)
	s.want(down, map[string]string{"exists": "true", "whole": "true", "link": string(app.LinkApply), "says": textOf(obs.Facts, "says")})
	object := "configmap/" + s.target + "/settings"
	if states := down.Facts["states"].Table(); states[object] != steps.NodeFails {
		s.Errorf("the object that is refused stands %q on the way\n%s", states[object], told(down))
	}

	// A source that is gone is above all else.
	if err := s.repo.Readers("reader:right"); err != nil {
		s.Fatal(err)
	}
	// Argo CD renders from its cache until it is told not to, and takes a failure for a passing one where a comparison of its own
	// comes first: it keeps what it compared before, for three minutes.
	hard := func() {
		if s.argo {
			s.merge(s.path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "hard"}}})
		}
	}
	hard()
	obs = s.until("without its source", func(f map[string]steps.Value) bool {
		if textOf(f, "link") != string(app.LinkSource) {
			return false
		}
		if s.argo && textOf(f, "sync") != string(app.SyncUnknown) {
			hard()
			return false
		}
		return true
	})
	if !strings.Contains(strings.ToLower(textOf(obs.Facts, "says")), "auth") {
		s.Errorf("it says %s", shownValue(obs.Facts["says"]))
	}
	why := "The source of"
	if s.argo {
		why = "does not know how"
	}
	s.refused(s.preview(give), why)
}
