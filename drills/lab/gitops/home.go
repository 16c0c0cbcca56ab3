package gitops

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"handrail/drills/lab"
)

// fieldManager is by which the lab writes what belongs to the controllers.
const fieldManager = lab.UserAgent

const (
	plainJSON  = "application/json"
	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"

	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
)

// home is where the controllers of one tool live in a lab.
type home struct {
	lab       *lab.Lab
	namespace string
	everyone  bool     // they see all namespaces
	anew      bool     // definitions are written also where they are there
	kinds     []string // names of their definitions
}

func newHome(l *lab.Lab, namespace, usual string) *home {
	if namespace == "" {
		namespace = usual
	}
	return &home{lab: l, namespace: namespace, everyone: namespace == usual}
}

type object map[string]any

// goneWithin is how long the namespace of earlier controllers may take to go.
const goneWithin = time.Minute

// settle makes the namespace, once one that is being deleted is gone. One that stays belongs to others, or was left by them.
func (h *home) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, goneWithin, fmt.Errorf("namespace %q of the lab is still being deleted", h.namespace))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ns := object{"metadata": object{"name": h.namespace, "labels": object{"handrail-lab": "namespace"}}}
	for {
		err := h.lab.Request(ctx, http.MethodPost, "/api/v1/namespaces", plainJSON, ns, nil)
		if err == nil {
			return nil
		}
		var there struct{ Status struct{ Phase string } }
		unseen := h.lab.Request(ctx, http.MethodGet, "/api/v1/namespaces/"+h.namespace, "", nil, &there)
		if !lab.Missing(unseen) && there.Status.Phase != "Terminating" {
			return fmt.Errorf("making namespace %q in the lab: %w", h.namespace, err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// account makes an account that may do everything, and its kubeconfig in dir, whose context names the namespace.
func (h *home) account(ctx context.Context, name, dir string) (kubeconfig string, err error) {
	_, path, err := h.lab.Account(ctx, h.namespace, name)
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	kubeconfig = filepath.Join(dir, name+".kubeconfig")
	if err := os.WriteFile(kubeconfig, raw, 0o600); err != nil {
		return "", err
	}
	all := []string{"*"}
	return kubeconfig, h.lab.Allow(ctx, h.namespace, name, "all", true, []lab.Rule{{Group: "*", Resources: all, Verbs: all}})
}

var nameOf = regexp.MustCompile(`(?m)^  name: (\S+)$`)

// definition is what is asked about one.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Plural string }
		Versions []struct {
			Name    string
			Storage bool
		}
	}
	Status struct {
		Conditions []struct{ Type, Status string }
	}
}

func (d definition) served() bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c struct{ Type, Status string }) bool { return c.Type == "Established" && c.Status == "True" })
}

// path is where its objects are, of one namespace or, where that is "", of all.
func (d definition) path(namespace string) string {
	version := ""
	for _, v := range d.Spec.Versions {
		if v.Storage {
			version = v.Name
		}
	}
	path := "/apis/" + d.Spec.Group + "/" + version
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + d.Spec.Names.Plural
}

func (h *home) definition(ctx context.Context, name string) (d definition, err error) {
	err = h.lab.Request(ctx, http.MethodGet, definitions+name, "", nil, &d)
	return d, err
}

// define makes the definitions in files and waits until they are served. One that is there stays as it is, but for anew: a
// lab holds one version of each, and others work with it.
func (h *home) define(ctx context.Context, files []string) error {
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		m := nameOf.FindSubmatch(raw)
		if m == nil {
			return fmt.Errorf("%s names no definition", file)
		}
		name := string(m[1])
		h.kinds = append(h.kinds, name)
		_, err = h.definition(ctx, name)
		if lab.Missing(err) || h.anew {
			err = h.apply(ctx, definitions+name, raw)
		}
		if err != nil {
			return fmt.Errorf("definition %s in the lab: %w", name, err)
		}
	}
	for _, name := range h.kinds {
		if err := h.await(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Define makes the definitions of all controllers. Each change of one lets every Argo CD of a lab read the schema of its API
// server anew, which takes seconds, so that tests that run many begin with it.
func Define(ctx context.Context, l *lab.Lab) error {
	for _, name := range append([]string{"argocd", "external-secrets"}, fluxControllers...) {
		program, err := l.Controller(ctx, name, nil)
		if err != nil {
			return err
		}
		pattern := "*.yaml"
		if name == "argocd" {
			pattern = "*-crd.yaml"
		}
		crds, err := manifests(program, pattern)
		if err != nil {
			return err
		}
		if err := newHome(l, "", name).define(ctx, crds); err != nil {
			return err
		}
	}
	return nil
}

// servedWithin is how long a definition may take until its objects can be made.
const servedWithin = time.Minute

// await waits until the objects of a definition can be listed, which is later than the definition says that they can be.
func (h *home) await(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servedWithin, fmt.Errorf("definition %s is not served", name))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		d, err := h.definition(ctx, name)
		if err == nil && d.served() {
			if err = h.lab.Request(ctx, http.MethodGet, d.path("")+"?limit=1", "", nil, nil); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// apply writes an object as a manifest has it.
func (h *home) apply(ctx context.Context, path string, manifest []byte) error {
	return h.lab.Request(ctx, http.MethodPatch, path+"?force=true&fieldManager="+fieldManager, applyPatch, manifest, nil)
}

// leave removes the objects of the controllers, which are gone, whatever finalizers they wait for, and the namespace.
func (h *home) leave(ctx context.Context) error {
	var errs []error
	for _, kind := range h.kinds {
		errs = append(errs, h.empty(ctx, kind))
	}
	return errors.Join(append(errs, h.lab.DeleteNamespace(ctx, h.namespace))...)
}

func (h *home) empty(ctx context.Context, kind string) error {
	d, err := h.definition(ctx, kind)
	if err != nil {
		return present(err)
	}
	within := h.namespace
	if h.everyone {
		within = ""
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Name, Namespace string
				Finalizers      []string
			}
		}
	}
	if err := h.lab.Request(ctx, http.MethodGet, d.path(within), "", nil, &list); err != nil {
		return err
	}
	var errs []error
	for _, o := range list.Items {
		path := d.path(o.Metadata.Namespace) + "/" + o.Metadata.Name
		if len(o.Metadata.Finalizers) > 0 {
			bare := object{"metadata": object{"finalizers": nil}}
			errs = append(errs, present(h.lab.Request(ctx, http.MethodPatch, path+"?fieldManager="+fieldManager, mergePatch, bare, nil)))
		}
		errs = append(errs, present(h.lab.Request(ctx, http.MethodDelete, path, "", nil, nil)))
	}
	return errors.Join(errs...)
}

// present drops the error that says that something is gone.
func present(err error) error {
	if lab.Missing(err) {
		return nil
	}
	return err
}

// manifests are the files of a program that match.
func manifests(program, pattern string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(lab.Manifests(program), pattern))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s holds no %s", lab.Manifests(program), pattern)
	}
	return found, err
}
