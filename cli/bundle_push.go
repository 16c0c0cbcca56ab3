package cli

import (
	"github.com/spf13/cobra"

	"handrail/session/index/depot"
)

func bundlePush(p *program) *cobra.Command {
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
is replaced there: handrail follow DEST/<id> looks on.

Credentials, region and endpoint of a bucket are those of the AWS tools, those of
a registry come from the configuration of docker.`,
		Args: exactly("a BUNDLE: a path, or the id of an incident", "a DEST: "+places),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "push an open incident, and again after new entries, until it is closed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		if farScheme(args[1]) == "" && follow {
			return usage("give a bucket or a repository, or let them look at the bundle itself: handrail follow "+path, "in a directory nothing is pushed again")
		}
		if farScheme(args[1]) == "" {
			dest, err := localDir(args[1])
			if err != nil {
				return err
			}
			return p.received(depot.Receive(ctx, path, dest))
		}
		to, err := p.far(ctx, args[1])
		if err != nil {
			return err
		}
		work, err := p.outgoing()
		if err != nil {
			return err
		}
		if live, ok := to.(depot.Replacer); ok && follow {
			return p.pushFollow(ctx, path, live, work)
		}
		show := p.transfer("sending")
		r, err := depot.Push(ctx, path, work, to, show.tell)
		show.end()
		return p.received(r, err)
	}
	return cmd
}
