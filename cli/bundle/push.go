package bundle

import (
	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/index/depot"
)

func bundlePush(p *process.Program) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use: "push BUNDLE DEST", Short: "Copy a bundle to where the team keeps them",
		Long: `push copies a bundle to DEST: into a directory, as <id>.hrb; into an S3 bucket
(s3://BUCKET/PREFIX), as the object <id>.hrb.tar.gz; or into a repository of an OCI
registry (oci://HOST/REPOSITORY), as an artifact with the tag <id>. It is verified
before it appears under its name, and a push that was broken off goes on. Nothing
is ever overwritten: an id that is there with other contents is refused.

With --follow it pushes an incident that is open, to a bucket or a repository, and
again after new entries, at most every five seconds, until the incident is closed.
That copy stands beside the bundle's own name, as <id>.live, and is the one thing that
is replaced there: handrail follow DEST/<id> shows it.

Credentials, region and endpoint of a bucket are those of the AWS tools, those of
a registry come from the configuration of docker.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident", "a DEST: "+places),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "push an open incident, and again after new entries, until it is closed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		if FarScheme(args[1]) == "" && follow {
			return process.Usage("give a bucket or a repository, or let them watch the bundle itself: handrail follow "+path, "--follow does not push to a directory")
		}
		if FarScheme(args[1]) == "" {
			dest, err := localDir(args[1])
			if err != nil {
				return err
			}
			got, err := depot.Receive(ctx, path, dest)
			return received(p, got, err)
		}
		to, err := far(ctx, p, args[1])
		if err != nil {
			return err
		}
		work, err := outgoing(p)
		if err != nil {
			return err
		}
		if live, ok := to.(depot.Replacer); ok && follow {
			return pushFollow(ctx, p, path, live, work)
		}
		show := transfer(p, "sending")
		r, err := depot.Push(ctx, path, work, to, show.Tell)
		show.End()
		return received(p, r, err)
	}
	return cmd
}
