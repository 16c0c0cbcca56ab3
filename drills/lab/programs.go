package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// terraforms are the versions of the other tool that tests run beside tofu, and a drill the
// older one. They are built where they run and are never shipped: the licence of the newer
// one does not allow it. Later ones cannot be built from the module proxy.
func terraforms() []Part {
	const target = "github.com/hashicorp/terraform"
	return []Part{
		{Name: "terraform", Program: "terraform", module: filepath.Join("lab", "terraform"), target: target,
			// Otherwise it calls itself a -dev prerelease, which version constraints treat apart.
			ldflags: "-s -w -X github.com/hashicorp/terraform/version.dev=no"},
		{Name: "terraform15", Program: "terraform", module: filepath.Join("lab", "terraform15"), target: target, ldflags: "-s -w"},
	}
}

// Terraform returns the path of a built terraform 1.8, building it when it is
// missing.
func Terraform(ctx context.Context, o Options) (string, error) { return terraformAt(ctx, o, 0) }

// Terraform15 is the same of 1.5, the last one under the old licence.
func Terraform15(ctx context.Context, o Options) (string, error) { return terraformAt(ctx, o, 1) }

func terraformAt(ctx context.Context, o Options, i int) (string, error) {
	o, err := o.filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, terraforms()[i])
}

// BuildTerraforms makes sure that every one is there.
func BuildTerraforms(ctx context.Context, o Options) error {
	for i := range terraforms() {
		if _, err := terraformAt(ctx, o, i); err != nil {
			return err
		}
	}
	return nil
}

// writersProgram plays those who write into a cluster in a drill: a webhook, a
// node, a loop. lab/writers says how.
func writersProgram() Part {
	return Part{Name: "writers", Program: "handrail-writers", module: filepath.Join("lab", "writers"), target: ".", ldflags: "-s -w"}
}

// Writers returns the path of that program, building it when it is missing:
// seconds, once.
func (l *Lab) Writers(ctx context.Context) (string, error) {
	o, err := l.options().filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, writersProgram())
}

// controllers are the servers that reconcile a cluster with Git, and helm, which shares most of its
// packages with those of Flux. They make their users wait no longer for being
// compiled without optimisation, and it takes half the time.
func controllers() []Part {
	const flux = "github.com/fluxcd/"
	plain := []string{"all=-N -l -dwarf=false", "std="}
	of := func(name string) Part {
		return Part{Name: name, Program: name, module: filepath.Join("lab", "flux"), target: flux + name, ldflags: "-s -w", gcflags: plain,
			beside: []beside{{flux + name, "config/crd/bases/*.yaml"}}}
	}
	const argo = "github.com/argoproj/argo-cd/v3"
	const external = "github.com/external-secrets/external-secrets"
	const gatekeeper = "github.com/open-policy-agent/gatekeeper/v3"
	return []Part{
		{Name: "argocd", Program: "argocd", module: filepath.Join("lab", "argocd"), target: ".", gcflags: plain,
			ldflags: "-s -w -X " + argo + "/common.version=3.2.1",
			beside:  []beside{{argo, "manifests/crds/*-crd.yaml"}, {argo, "manifests/base/config/argocd-*.yaml"}}},
		of("source-controller"), of("kustomize-controller"), of("helm-controller"),
		{Name: "helm", Program: "helm", module: filepath.Join("lab", "flux"), target: "helm.sh/helm/v4/cmd/helm", ldflags: "-s -w", gcflags: plain},
		// It comes with the clients of three dozen stores; the one that a drill reads is a cluster.
		{Name: "external-secrets", Program: "external-secrets", module: filepath.Join("lab", "external-secrets"), target: external, ldflags: "-s -w", gcflags: plain,
			over: over{external, map[string]string{"pkg/provider/register/register.go": "providers/register.go", "pkg/generator/register/register.go": "generators/register.go"}},
			beside: []beside{{external, "config/crds/bases/external-secrets.io_externalsecrets.yaml"}, {external, "config/crds/bases/external-secrets.io_secretstores.yaml"},
				{external, "config/crds/bases/external-secrets.io_clustersecretstores.yaml"}, {external, "config/crds/bases/generators.external-secrets.io_generatorstates.yaml"}}},
		// Its metrics would listen on all addresses of the machine; lab/gatekeeper says what else is left out.
		{Name: "gatekeeper", Program: "gatekeeper", module: filepath.Join("lab", "gatekeeper"), target: gatekeeper, ldflags: "-s -w", gcflags: plain,
			over: over{gatekeeper, map[string]string{"pkg/metrics/registry/registry.go": "registry/registry.go",
				"pkg/export/dapr/dapr.go": "dapr/dapr.go", "pkg/export/dapr/fake_dapr_client.go": "dapr/empty.go"}},
			beside: []beside{{gatekeeper, "charts/gatekeeper/crds/*-customresourcedefinition.yaml"}}},
	}
}

// Controller returns the path of one of argocd, source-controller, kustomize-controller, helm-controller, helm, external-secrets and gatekeeper,
// building it when it is missing: minutes, once; progress, which may be nil, is told. [Manifests] are beside it.
func (l *Lab) Controller(ctx context.Context, name string, progress func(Progress)) (string, error) {
	all := controllers()
	i := slices.IndexFunc(all, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return "", fmt.Errorf("%q is no controller of the lab", name)
	}
	o := l.options()
	o.Progress = progress
	o, err := o.filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, all[i])
}

// buildControllers makes sure that every one is there.
func (o Options) buildControllers(ctx context.Context) error {
	o, err := o.filled()
	if err != nil {
		return err
	}
	for _, part := range controllers() {
		if _, err := o.ensure(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// Need is one program of the lab that something runs.
type Need struct {
	Part  string        `json:"part"`
	Built bool          `json:"built"`
	About time.Duration `json:"about,omitempty"` // to build it here, where nothing of it is compiled; 0 for one that is built or only fetched
}

// parts are all programs of the lab.
func parts() []Part {
	all := slices.Concat(Parts(), terraforms(), Services(), controllers())
	return append(all, kubernetesProvider(), writersProgram())
}

// work is the processor time that a build takes where nothing is compiled yet, as measured; what
// is not here takes less than half a minute or is fetched.
var work = map[string]time.Duration{
	"cluster":     8 * time.Minute,
	"tofu":        4 * time.Minute,
	"terraform15": 4 * time.Minute, // not measured: about as tofu
	"kubernetes":  2 * time.Minute,
	"records":     time.Minute,
	// With optimisation, so these are the most; the others of Flux after the first, with which they share most.
	"argocd":               7 * time.Minute,
	"source-controller":    8 * time.Minute,
	"kustomize-controller": 70 * time.Second,
	"helm":                 4 * time.Minute,
	"external-secrets":     3 * time.Minute, // half a minute after argocd
	"gatekeeper":           5 * time.Minute, // with optimisation, so it is the most
	"gitea":                7 * time.Minute, // a minute of it is the C of its database
}

// Needs says of programs of the lab whether they are built, and how long it takes where they are
// not. It builds nothing.
func Needs(o Options, names ...string) ([]Need, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if _, err := source(o.Source); err != nil {
		return nil, err
	}
	var out []Need
	for _, name := range names {
		all := parts()
		i := slices.IndexFunc(all, func(p Part) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is not a program of the lab", name)
		}
		n := Need{Part: name, Built: o.built(all[i]) != ""}
		if !n.Built {
			n.About = work[name] / time.Duration(processors())
		}
		out = append(out, n)
	}
	return out, nil
}

// processors is how many a build uses: past a few, a program waits for its longest package and
// its link.
func processors() int { return min(runtime.NumCPU(), 6) }
