package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"handrail/session/index/depot"
)

func bundlePull(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pull SRC", Short: "Copy a bundle of the team to this machine",
		Long: `pull copies the bundle SRC, a directory <id>.hrb, to the incidents of this machine.
It is verified in quarantine before it appears in any list. Nothing is ever
overwritten: an id that is here with other contents is refused.`,
		Args: exactly("a SRC: the path of a bundle"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		src, err := localDir(args[0])
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(src, "bundle.json")); err != nil {
			return usage("see what is there with `handrail bundle list --from DIR`", "%q is no bundle: %w", args[0], err)
		}
		dest, err := p.incidents()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dest, 0o700); err != nil {
			return fmt.Errorf("making the place for incidents: %w", err)
		}
		return p.receive(cmd.Context(), src, dest)
	}
	return cmd
}

// depotError gives what went wrong its exit code and the next safe move.
func depotError(err error) error {
	switch {
	case errors.Is(err, depot.ErrUnverified):
		return &problem{code: ExitTampered, err: err, next: "see each property with `handrail bundle verify`; nothing was made visible"}
	case errors.Is(err, depot.ErrOther):
		return &problem{code: ExitTampered, err: err, next: "verify both, and find out why one id has two histories; neither was changed"}
	case errors.Is(err, depot.ErrOlder):
		return &problem{code: ExitUsage, err: err, next: "keep the older one elsewhere first, or push to another directory"}
	}
	return err
}
