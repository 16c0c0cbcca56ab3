package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The provider of real objects, as tofu and terraform name it after their own
// registry.
const (
	kubernetesName    = "hashicorp/kubernetes"
	kubernetesVersion = "1.13.4"
)

// kubernetesProvider is the real provider, built from its Go module.
func kubernetesProvider() Part {
	return Part{Name: "kubernetes", Program: "terraform-provider-kubernetes", module: filepath.Join("lab", "kubernetes"),
		target: "github.com/hashicorp/terraform-provider-kubernetes", ldflags: "-s -w"}
}

// KubernetesProvider returns the path of the provider kubernetes, building it
// when it is missing: a minute, once. Only drills whose objects must exist use it.
func KubernetesProvider(ctx context.Context, o Options) (string, error) {
	o, err := o.filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, kubernetesProvider())
}

// MirrorKubernetes puts the provider at program into a filesystem mirror in dir,
// where both tools look for it.
func MirrorKubernetes(dir, program string) error {
	for _, registry := range []string{"registry.opentofu.org", "registry.terraform.io"} {
		at := filepath.Join(dir, registry, filepath.FromSlash(kubernetesName), kubernetesVersion, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return fmt.Errorf("mirror of providers: %w", err)
		}
		// A link: it has 40 MB.
		err := os.Symlink(program, filepath.Join(at, "terraform-provider-kubernetes_v"+kubernetesVersion))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("mirror of providers: %w", err)
		}
	}
	return nil
}
