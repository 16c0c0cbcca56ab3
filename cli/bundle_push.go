package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/session/index/depot"
)

func bundlePush(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "push BUNDLE DEST", Short: "Copy a bundle to where the team keeps them",
		Long: `push copies a bundle into the directory DEST, as <id>.hrb. The copy is verified
before it appears under its name; until then it lies in quarantine, from where a
push that was broken off goes on. Nothing is ever overwritten: an id that is
there with other contents is refused.`,
		Args: exactly("a BUNDLE: a path, or the id of an incident", "a DEST: a directory"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		dest, err := localDir(args[1])
		if err != nil {
			return err
		}
		return p.receive(cmd.Context(), path, dest)
	}
	return cmd
}

// receive copies a bundle into a directory and says what came of it.
func (p *program) receive(ctx context.Context, path, dest string) error {
	r, err := depot.Receive(ctx, path, dest)
	if err != nil {
		return depotError(err)
	}
	if r.Already {
		fmt.Fprintf(p.stderr, "%s is there already, with the same contents.\n", safe(r.Path))
	} else {
		fmt.Fprintf(p.stderr, "%s, %s, verified.\n", counted(r.Files, "file"), counted(int(r.Bytes), "byte"))
	}
	fmt.Fprintln(p.stdout, safe(r.Path))
	return nil
}

// localDir refuses places that are named by a URL, which are not built yet.
func localDir(place string) (string, error) {
	scheme, rest, ok := strings.Cut(place, "://")
	switch {
	case !ok:
		return filepath.Abs(place)
	case scheme == "file" && strings.HasPrefix(rest, "/"):
		return filepath.Clean(rest), nil
	case scheme == "s3" || scheme == "oci":
		return "", usage("give a directory, for example one that is mounted or synchronised", "%s:// is not built yet: bundles go to and come from a directory", scheme)
	}
	return "", usage("give a directory", "%q is no place for bundles", place)
}
