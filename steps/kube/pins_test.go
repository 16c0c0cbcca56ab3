package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// pin is a module whose custom resource definitions the tests use as they are.
// It is no dependency: go downloads it and checks it against sum.
type pin struct {
	module, sum string
	files       []string
	names       map[string]string // file to the name of its definition
}

func pinned() []pin {
	return []pin{
		of("github.com/argoproj/argo-cd/v3@v3.5.7", "h1:Xm1BF+I5OgDKUG3SDK49vn2/Y5AMyaNVko+/JT08gj0=",
			"manifests/crds/application-crd.yaml", "applications.argoproj.io",
			"manifests/crds/applicationset-crd.yaml", "applicationsets.argoproj.io"),
		of("github.com/fluxcd/kustomize-controller@v1.9.6", "h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=",
			"config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml", "kustomizations.kustomize.toolkit.fluxcd.io"),
		of("github.com/fluxcd/helm-controller@v1.6.4", "h1:u/Ew7LehrwDQaE/NqWdaB3XnNDCxRGDcp1FZl7RKj4g=",
			"config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml", "helmreleases.helm.toolkit.fluxcd.io"),
		of("github.com/fluxcd/source-controller@v1.9.6", "h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=",
			"config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml", "gitrepositories.source.toolkit.fluxcd.io"),
		of("github.com/external-secrets/external-secrets@v0.19.2", "h1:bdOpEt9Pww2e8QGh4apX7M0nehwNOVAQJLd8z6hAXWI=", // that of lab/external-secrets, whose controller a drill runs in the same lab
			"config/crds/bases/external-secrets.io_externalsecrets.yaml", "externalsecrets.external-secrets.io",
			"config/crds/bases/external-secrets.io_secretstores.yaml", "secretstores.external-secrets.io"),
		of("github.com/kyverno/kyverno@v1.19.1", "h1:/MkgFii3/VlQfKR1JpC9tVwNNVNQTt2S4U6qCsafsTU=",
			"config/crds/policyreport/wgpolicyk8s.io_policyreports.yaml", "policyreports.wgpolicyk8s.io"),
	}
}

// pinnedPolicies are definitions that change what a sweep of the cluster counts, and
// go into clusters of their own.
func pinnedPolicies() []pin {
	return []pin{
		of("github.com/kyverno/kyverno@v1.19.1", "h1:/MkgFii3/VlQfKR1JpC9tVwNNVNQTt2S4U6qCsafsTU=",
			"config/crds/kyverno/kyverno.io_clusterpolicies.yaml", "clusterpolicies.kyverno.io",
			"config/crds/policies.kyverno.io/policies.kyverno.io_namespaceddeletingpolicies.yaml", "namespaceddeletingpolicies.policies.kyverno.io"),
		of("github.com/open-policy-agent/frameworks/constraint@v0.0.0-20260616163050-e1eaa1bf6d62", "h1:2YhLEut4c/JkPCvgtH3pp0nuS5xNJoQ0kSmTUiyUZl8=",
			"deploy/crds.yaml", "constrainttemplates.templates.gatekeeper.sh"),
	}
}

func of(module, sum string, filesAndNames ...string) pin {
	p := pin{module: module, sum: sum, names: map[string]string{}}
	for i := 0; i < len(filesAndNames); i += 2 {
		p.files = append(p.files, filesAndNames[i])
		p.names[filesAndNames[i]] = filesAndNames[i+1]
	}
	return p
}

// download returns the folder of the module in go's own cache.
func (p pin) download(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.module)
	cmd.Dir = os.TempDir() // outside of any module: nothing is added to one
	out, err := cmd.Output()
	var got struct{ Dir, Sum, Error string }
	if jerr := json.Unmarshal(out, &got); jerr != nil {
		return "", fmt.Errorf("downloading %s: %w (%s)", p.module, jerr, out)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("downloading %s: %w: %s", p.module, err, got.Error)
	case got.Sum != p.sum:
		return "", fmt.Errorf("%s has the sum %s, want %s", p.module, got.Sum, p.sum)
	}
	return got.Dir, nil
}
