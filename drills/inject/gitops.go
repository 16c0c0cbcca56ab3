package inject

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/drills/lab"
	"handrail/drills/lab/gitops"
	"handrail/drills/stage"
	"handrail/steps/strict"
)

const applicationsPath = "/apis/argoproj.io/v1alpha1/namespaces/%s/applications"

// runArgo is the verb argocd.run: an Argo CD of the drill's namespace, and the Git server
// that it reads.
type runArgo struct {
	Repository string `key:"repository,required" as:"id"`
}

// apply starts both on loopback, and lets the operator read and sync what lives there.
func (a runArgo) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting Argo CD; it is built the first time, which takes minutes")
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	if err := serveGit(ctx, st, a.Repository); err != nil {
		return err
	}
	// A socket has a short path.
	home, err := os.MkdirTemp("", "handrail-argocd-")
	if err != nil {
		return err
	}
	st.Rec.Folders = append(st.Rec.Folders, home)
	if err := st.Save(); err != nil {
		return err
	}
	parts, err := gitops.PlanArgoCD(ctx, st.World, home, st.Rec.Namespace.Name)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := st.Attend(ctx, p); err != nil {
			return err
		}
	}
	inside := []lab.Rule{{Group: "argoproj.io", Resources: []string{"applications"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{Group: "argoproj.io", Resources: []string{"applicationsets", "appprojects"}, Verbs: []string{"get", "list"}}}
	return st.Admit(ctx, stage.NameOperator, inside, nil)
}

// serveGit starts the Git server of a drill, with one empty repository.
func serveGit(ctx context.Context, st *stage.Stage, repository string) error {
	dir := st.GitDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ports, err := lab.LastingPorts(1)
	if err != nil {
		return err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", ports[0])
	server, _, err := st.World.Process(ctx, "git", dir, addr)
	if err != nil {
		return err
	}
	if err := st.Attend(ctx, server); err != nil {
		return err
	}
	st.Rec.Gitops = &stage.GitopsRecord{Git: "http://" + addr}
	git, err := gitops.GitAt(st.Rec.Gitops.Git, dir)
	if err != nil {
		return err
	}
	_, err = git.Repository(ctx, repository)
	return err
}

// publish is the verb git.publish: what the branch main of a repository holds from now on.
type publish struct {
	Repository string            `key:"repository,required" as:"id"`
	Message    string            `key:"message,required"`
	Files      map[string]string `key:"files,required" of:"a file"`
}

func (p publish) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("committing: %s", p.Message)
	to, err := gitRepository(st, p.Repository)
	if err != nil {
		return err
	}
	tree, err := p.tree(st)
	if err != nil {
		return err
	}
	if err := hold(st, p.holding()...); err != nil {
		return errors.Join(err, os.RemoveAll(tree))
	}
	sha, err := to.Commit(ctx, p.Message, os.DirFS(tree))
	if err = errors.Join(err, os.RemoveAll(tree)); err != nil {
		return err
	}
	if st.Rec.Gitops.Flux {
		return fetched(ctx, st, sha)
	}
	return awaitRefreshed(ctx, st, "compare with the new commit", func(a argoApp) bool { return a.Status.Sync.Revision == sha })
}

// gitRepository is one of the drill's Git server.
func gitRepository(st *stage.Stage, name string) (*gitops.Repository, error) {
	if st.Rec.Gitops == nil {
		return nil, errors.New("this drill has no Git server: begin with argocd.run or flux.run")
	}
	git, err := gitops.GitAt(st.Rec.Gitops.Git, st.GitDir())
	if err != nil {
		return nil, err
	}
	return git.Open(name), nil
}

// patience is how many looks an application may take to answer. Argo CD drops a look that its repository server fails, and
// the question then waits for the next change of the application.
const patience = 12

// awaitRefreshed lets each application look at its repository now, until each is so. A look that was under way when it
// was asked for takes the question away and answers with what was there before: such a one is asked again, and so is one
// that does not answer.
func awaitRefreshed(ctx context.Context, st *stage.Stage, what string, so func(argoApp) bool) error {
	at := fmt.Sprintf(applicationsPath, st.Rec.Namespace.Name)
	var failed error
	ask := func(name, before string) {
		how := "hard"
		if before == how { // another value is a change
			how = "normal"
		}
		now := map[string]any{"metadata": map[string]any{"annotations": map[string]any{refreshNote: how}}}
		failed = st.World.Request(ctx, http.MethodPatch, at+"/"+name, "application/merge-patch+json", now, nil)
	}
	asked := map[string]int{} // looks since it was asked first
	err := awaitApps(ctx, st, what, func(a argoApp) bool {
		name := a.Metadata.Name
		how, waits := a.Metadata.Annotations[refreshNote]
		switch {
		case failed != nil:
			return true
		case waits && asked[name] > 0:
			if asked[name]++; asked[name]%patience == 0 {
				ask(name, how)
			}
			return failed != nil
		case asked[name] > 0 && so(a):
			return true
		}
		asked[name]++
		ask(name, how)
		return failed != nil
	})
	return errors.Join(failed, err)
}

// tree lays the files out in a folder of their own.
func (p publish) tree(st *stage.Stage) (string, error) {
	dir, err := os.MkdirTemp(st.Home, "tree-")
	if err != nil {
		return "", err
	}
	for name, text := range p.Files {
		text = strings.ReplaceAll(text, "${drill.namespace}", st.Rec.Namespace.Name)
		path := filepath.Join(dir, filepath.FromSlash(name))
		if !filepath.IsLocal(name) {
			return "", fmt.Errorf("file %q leads out of the repository", name)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// holding are the objects of the files that have finalizers: what a controller makes of them would keep the namespace from
// going as well as what the drill makes.
func (p publish) holding() []manifest {
	var out []manifest
	for _, text := range p.Files {
		for doc := range strings.SplitSeq(text, "\n---\n") {
			var f struct {
				Version  string `yaml:"apiVersion"`
				Kind     string `yaml:"kind"`
				Metadata struct {
					Name       string   `yaml:"name"`
					Finalizers []string `yaml:"finalizers"`
				} `yaml:"metadata"`
			}
			root := (&strict.Reader{What: "an object"}).Document([]byte(doc))
			if root == nil || root.Decode(&f) != nil || len(f.Metadata.Finalizers) == 0 {
				continue // no object: a chart, a policy, a text
			}
			if i := slices.IndexFunc(objectKinds(), func(k objectKind) bool { return k.apiVersion == f.Version && k.kind == f.Kind }); i >= 0 {
				out = append(out, manifest{objectKind: objectKinds()[i], name: f.Metadata.Name, finalizers: f.Metadata.Finalizers})
			}
		}
	}
	return out
}

// deliver is the verb argocd.app: an application of the repository, brought to its end.
type deliver struct {
	Name       string `key:"name,required" as:"id"`
	Repository string `key:"repository,required" as:"id"`
	Path       string `key:"path,required" as:"id"`
	Into       string `key:"into" as:"id"` // word of the further namespace that it applies to
	Automated  bool   `key:"automated"`
	Ends       string `key:"ends" oneof:"Succeeded Failed Running"` // phase in which its first sync ends, or stays; Succeeded
}

// refreshNote is the annotation by which Argo CD looks at the repository now; it takes it off once it has.
const refreshNote = "argocd.argoproj.io/refresh"

// argoApp is what is asked of an application.
type argoApp struct {
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Operation map[string]any
	Status    struct {
		Sync           struct{ Status, Revision string }
		OperationState struct{ Phase, Message string }
		Conditions     []struct{ Type, Message string }
	}
}

// String is what a wait in vain says of an application.
func (a argoApp) String() string {
	s := fmt.Sprintf("%s: sync status %q at %q, phase %q %s", a.Metadata.Name, a.Status.Sync.Status, a.Status.Sync.Revision, a.Status.OperationState.Phase, a.Status.OperationState.Message)
	for _, c := range a.Status.Conditions {
		s += fmt.Sprintf("; %s: %s", c.Type, c.Message)
	}
	return s
}

func (d deliver) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("application %s", d.Name)
	if st.Rec.Gitops == nil {
		return errors.New("this drill has no Argo CD: begin with argocd.run")
	}
	git, err := gitops.GitAt(st.Rec.Gitops.Git, st.GitDir())
	if err != nil {
		return err
	}
	ns := st.Rec.Namespace.Name
	spec := map[string]any{"project": "default",
		"source":      map[string]any{"repoURL": git.Open(d.Repository).URL, "path": d.Path, "targetRevision": "main"},
		"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": spaceOf(st, d.Into)}}
	if d.Automated {
		spec["syncPolicy"] = map[string]any{"automated": map[string]any{}}
	}
	app := map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": d.Name}, "spec": spec}
	end := d.Ends
	if end == "" {
		end = "Succeeded"
	}
	if !d.Automated { // its first sync is begun by hand
		app["operation"] = firstSync(end)
	}
	if err := st.World.Request(ctx, http.MethodPost, fmt.Sprintf(applicationsPath, ns), "application/json", app, nil); err != nil {
		return err
	}
	return awaitFirst(ctx, st, d, end)
}

// firstSync is the operation by which an application is brought to its end.
func firstSync(end string) map[string]any {
	operation := map[string]any{"initiatedBy": map[string]any{"username": "release"}, "sync": map[string]any{"revision": "main"}}
	if end == "Succeeded" { // the parts of Argo CD may still be starting
		operation["retry"] = map[string]any{"limit": 5, "backoff": map[string]any{"duration": "2s"}}
	}
	return operation
}

// awaitFirst waits for the end of the first sync. It ends as Error where Argo CD could not begin, since a part of it or the
// API server was not ready: it is begun again then, as a person would.
func awaitFirst(ctx context.Context, st *stage.Stage, d deliver, end string) error {
	var failed error
	again := map[string]any{"operation": firstSync(end)}
	at := fmt.Sprintf(applicationsPath, st.Rec.Namespace.Name) + "/" + d.Name
	err := awaitApps(ctx, st, "end as "+end, func(a argoApp) bool {
		if a.Metadata.Name == d.Name && a.Operation == nil && a.Status.OperationState.Phase == "Error" && !d.Automated && failed == nil {
			failed = st.World.Request(ctx, http.MethodPatch, at, "application/merge-patch+json", again, nil)
		}
		return failed != nil || ended(a, d.Name, end)
	})
	return errors.Join(failed, err)
}

// awaitApps waits until each application of the drill is so.
func awaitApps(ctx context.Context, st *stage.Stage, what string, so func(argoApp) bool) error {
	var last []argoApp
	err := st.Wait(ctx, "an application did not come to "+what, func() (bool, error) {
		var list struct{ Items []argoApp }
		if err := st.World.Request(ctx, http.MethodGet, fmt.Sprintf(applicationsPath, st.Rec.Namespace.Name), "", nil, &list); err != nil {
			return false, err
		}
		last = list.Items
		for _, a := range last {
			if !so(a) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil && len(last) > 0 {
		return fmt.Errorf("%w: %v", err, last)
	}
	return err
}

// editLive is the verb kube.edit: a person changes one object by hand.
type editLive struct {
	Resource objectKind `key:"resource,required" as:"resource"`
	Name     string     `key:"name,required" as:"id"`
	Merge    any        `key:"merge,required" as:"json"`
	In       string     `key:"in" as:"id"`   // word of the further namespace that it is in
	Differs  bool       `key:"differs"`      // wait until every application sees it
	Seen     string     `key:"seen" as:"id"` // wait until this application sees it
}

// spaceOf is the drill's namespace, or a further one by its word.
func spaceOf(st *stage.Stage, word string) string {
	if word == "" {
		return st.Rec.Namespace.Name
	}
	return st.Rec.Namespace.Name + "-" + word
}

// further is the verb space.more.
type further struct {
	Word string `key:"word,required" as:"id"`
}

func (f further) apply(ctx context.Context, st *stage.Stage) error {
	name, err := st.World.More(ctx, st.Rec.Namespace.Name, f.Word)
	if err == nil {
		st.Say("a further namespace: %s", name)
	}
	return err
}

// suspendArgo is the verb argocd.suspend.
type suspendArgo struct {
	Name string `key:"name,required" as:"id"`
}

func (s suspendArgo) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("switching off the auto-sync of %s", s.Name)
	at := fmt.Sprintf(applicationsPath, st.Rec.Namespace.Name) + "/" + s.Name + "?fieldManager=argocd-server"
	off := map[string]any{"spec": map[string]any{"syncPolicy": map[string]any{"automated": map[string]any{"enabled": false}}}}
	return st.World.Request(ctx, http.MethodPatch, at, "application/merge-patch+json", off, nil)
}

func (e editLive) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("editing %s/%s by hand", e.Resource.plural, e.Name)
	if err := st.Robot.Patch(ctx, e.Resource.path(spaceOf(st, e.In), e.Name)+"?fieldManager=kubectl-edit", e.Merge); err != nil {
		return err
	}
	if !e.Differs && e.Seen == "" {
		return nil
	}
	return awaitApps(ctx, st, "see the edit", func(a argoApp) bool {
		return e.Seen != "" && a.Metadata.Name != e.Seen || a.Status.Sync.Status == "OutOfSync"
	})
}

// ended reports whether the operation of an application ended in a phase; any other application has. One that is to stay
// Running has come to where it waits for something.
func ended(a argoApp, name, end string) bool {
	op := a.Status.OperationState
	// Between two waves it says for a moment that it waits for the health of the next one.
	waits := strings.HasPrefix(op.Message, "waiting for completion of hook") || strings.HasPrefix(op.Message, "waiting for deletion of")
	return a.Metadata.Name != name || op.Phase == end && a.Status.Sync.Status != "" && (end != "Running" || waits)
}
