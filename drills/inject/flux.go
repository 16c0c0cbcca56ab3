package inject

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"handrail/drills/lab"
	"handrail/drills/lab/gitops"
	"handrail/drills/stage"
)

const (
	fluxSources = "/apis/source.toolkit.fluxcd.io/v1/namespaces/%s/gitrepositories"
	fluxApps    = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/%s/kustomizations"
)

// runFlux is the verb flux.run: the controllers of Flux for the drill's namespace, the Git
// server that they read, and a source of one repository.
type runFlux struct {
	Repository string `key:"repository,required" as:"id"`
}

func (f runFlux) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting Flux; it is built the first time, which takes minutes")
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	if err := serveGit(ctx, st, f.Repository); err != nil {
		return err
	}
	st.Rec.Gitops.Flux = true
	home, err := os.MkdirTemp("", "handrail-flux-")
	if err != nil {
		return err
	}
	st.Rec.Folders = append(st.Rec.Folders, home)
	if err := st.Save(); err != nil {
		return err
	}
	parts, err := gitops.PlanFlux(ctx, st.World, home, st.Rec.Namespace.Name)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := st.AttendPart(ctx, p); err != nil {
			return err
		}
	}
	git, err := gitops.GitAt(st.Rec.Gitops.Git, st.GitDir())
	if err != nil {
		return err
	}
	ns := st.Rec.Namespace.Name
	fluxed := []lab.Rule{{Group: "kustomize.toolkit.fluxcd.io", Resources: []string{"kustomizations"}, Verbs: []string{"get", "patch"}},
		{Group: "source.toolkit.fluxcd.io", Resources: []string{"gitrepositories"}, Verbs: []string{"get", "patch"}}}
	if err := st.Admit(ctx, stage.NameRobot, fluxed, nil); err != nil {
		return err
	}
	if err := heldByFlux(st, fmt.Sprintf(fluxSources, ns)+"/"+f.Repository); err != nil {
		return err
	}
	source := map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": map[string]any{"name": f.Repository},
		"spec": map[string]any{"interval": "1h", "url": git.Open(f.Repository).URL, "ref": map[string]any{"branch": "main"}}}
	if err := st.World.Request(ctx, http.MethodPost, fmt.Sprintf(fluxSources, ns), "application/json", source, nil); err != nil {
		return err
	}
	inside := []lab.Rule{{Group: "kustomize.toolkit.fluxcd.io", Resources: []string{"kustomizations"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{Group: "source.toolkit.fluxcd.io", Resources: []string{"gitrepositories"}, Verbs: []string{"get", "list"}}}
	return st.Admit(ctx, stage.NameOperator, inside, nil)
}

// heldByFlux writes down, before it is made, an object that Flux puts its finalizer on: Stop
// ends the controllers that would take it off.
func heldByFlux(st *stage.Stage, path string) error {
	st.Rec.Held = append(st.Rec.Held, stage.HeldObject{Path: path, Finalizers: []string{"finalizers.fluxcd.io"}})
	return st.Save()
}

// fetched lets the source of Flux look at its repository, and waits until it holds a commit.
func fetched(ctx context.Context, st *stage.Stage, sha string) error {
	type source struct {
		Metadata struct{ Name string }
		Status   struct{ Artifact struct{ Revision string } }
	}
	at := fmt.Sprintf(fluxSources, st.Rec.Namespace.Name)
	var list struct{ Items []source }
	if err := st.World.Request(ctx, http.MethodGet, at, "", nil, &list); err != nil {
		return err
	}
	now := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"reconcile.fluxcd.io/requestedAt": st.Now().Format(time.RFC3339Nano)}}}
	for _, s := range list.Items {
		if err := st.World.Request(ctx, http.MethodPatch, at+"/"+s.Metadata.Name, "application/merge-patch+json", now, nil); err != nil {
			return err
		}
	}
	return st.Wait(ctx, "the source of Flux did not come to hold the new commit", func() (bool, error) {
		var list struct{ Items []source }
		err := st.World.Request(ctx, http.MethodGet, at, "", nil, &list)
		return err == nil && len(list.Items) > 0 && strings.HasSuffix(list.Items[0].Status.Artifact.Revision, sha), err
	})
}

// kustomize is the verb flux.app: a Kustomization of the repository, brought to its end. It
// reconciles again in an hour, so that a hand edit stands until then.
type kustomize struct {
	Name       string `key:"name,required" as:"id"`
	Repository string `key:"repository,required" as:"id"`
	Path       string `key:"path,required" as:"id"`
	Ends       string `key:"ends" oneof:"True False"` // of its condition Ready; True
	Waits      string `key:"waits" as:"id"`           // ConfigMap that must be there before a reconciliation counts as done
}

func (k kustomize) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("kustomization %s", k.Name)
	if st.Rec.Gitops == nil || !st.Rec.Gitops.Flux {
		return errors.New("this drill has no Flux: begin with flux.run")
	}
	ns := st.Rec.Namespace.Name
	at := fmt.Sprintf(fluxApps, ns)
	app := map[string]any{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": map[string]any{"name": k.Name},
		"spec": map[string]any{"interval": "1h", "retryInterval": "1h", "timeout": "30s", "path": "./" + k.Path, "prune": true, "targetNamespace": ns,
			"sourceRef": map[string]any{"kind": "GitRepository", "name": k.Repository}}}
	if k.Waits != "" {
		check := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": k.Waits, "namespace": ns}
		app["spec"].(map[string]any)["healthChecks"] = []any{check}
	}
	if err := heldByFlux(st, at+"/"+k.Name); err != nil {
		return err
	}
	if err := st.World.Request(ctx, http.MethodPost, at, "application/json", app, nil); err != nil {
		return err
	}
	end := k.Ends
	if end == "" {
		end = "True"
	}
	return st.Wait(ctx, "the Kustomization did not come to be Ready="+end, func() (bool, error) {
		var o struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := st.World.Request(ctx, http.MethodGet, at+"/"+k.Name, "", nil, &o); err != nil {
			return false, err
		}
		for _, c := range o.Status.Conditions {
			if c.Type == "Ready" && c.Status == end {
				return true, nil
			}
		}
		return false, nil
	})
}

// suspendApp is the verb flux.suspend: a person suspends a Kustomization, as the tool of Flux
// does.
type suspendApp struct {
	Name string `key:"name,required" as:"id"`
}

func (s suspendApp) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("suspending the kustomization %s", s.Name)
	at := fmt.Sprintf(fluxApps, st.Rec.Namespace.Name) + "/" + s.Name + "?fieldManager=flux"
	return st.World.Request(ctx, http.MethodPatch, at, "application/merge-patch+json", map[string]any{"spec": map[string]any{"suspend": true}}, nil)
}
