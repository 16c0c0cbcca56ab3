package bundle

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/index/depot"
)

func bundlePull(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pull SRC", Short: "Copy a bundle of the team to this machine",
		Long: `pull copies the bundle SRC to the incidents of this machine: a directory <id>.hrb,
s3://BUCKET/PREFIX/<id>.hrb.tar.gz, or oci://HOST/REPOSITORY:<id>. It is verified in
quarantine before it appears in any list. Nothing is ever overwritten: an id that is
here with other contents is refused.`,
		Args: process.Exactly("a SRC: a bundle in a directory, a bucket or a repository"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		dest, err := p.Incidents()
		if err != nil {
			return err
		}
		if FarScheme(args[0]) != "" {
			from, id, err := FarBundle(ctx, p, args[0])
			if err != nil {
				return err
			}
			if err := placeFor(dest); err != nil {
				return err
			}
			show := transfer(p, "fetching")
			r, err := depot.Pull(ctx, from, id, dest, show.Tell)
			show.End()
			return received(p, r, err)
		}
		src, err := localDir(args[0])
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(src, "bundle.json")); err != nil {
			return process.Usage("see what is there with `handrail bundle list --from DIR`", "%q is not a bundle: %w", args[0], err)
		}
		if err := placeFor(dest); err != nil {
			return err
		}
		got, err := depot.Receive(ctx, src, dest)
		return received(p, got, err)
	}
	return cmd
}

func placeFor(incidents string) error {
	if err := os.MkdirAll(incidents, 0o700); err != nil {
		return fmt.Errorf("making the place for incidents: %w", err)
	}
	return nil
}
