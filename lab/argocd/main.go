// Command argocd is the parts of Argo CD that reconcile, from its own module, in one program: the application controller,
// the repository server, what answers git's questions for credentials, and the kustomize that the repository server runs. As
// in Argo CD's own program the name picks the role.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	gitaskpass "github.com/argoproj/argo-cd/v3/cmd/argocd-git-ask-pass/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
	kustomize "sigs.k8s.io/kustomize/kustomize/v5/commands"
)

// roleVariable names the role of a program called argocd: by it git asks the repository server for credentials. The
// kustomize of an application with credentials has it in its environment too.
const roleVariable = "ARGOCD_BINARY_NAME"

func main() {
	role := filepath.Base(os.Args[0])
	if role == "argocd" {
		role = os.Getenv(roleVariable)
	}
	command, ok := map[string]func() *cobra.Command{
		"argocd-application-controller": controllerCommand,
		"argocd-repo-server":            reposerver.NewCommand,
		"argocd-git-ask-pass":           gitaskpass.NewCommand,
		"kustomize":                     kustomize.NewDefaultCommand,
	}[role]
	if !ok {
		fmt.Fprintf(os.Stderr, "argocd: %q is no role of this program\n", role)
		os.Exit(2)
	}
	if err := command().Execute(); err != nil {
		os.Exit(1)
	}
}
