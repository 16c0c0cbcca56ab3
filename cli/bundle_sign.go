package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"handrail/evidence"
)

func bundleSign(p *program) *cobra.Command {
	var key keyChoice
	cmd := &cobra.Command{
		Use: "sign BUNDLE", Short: "Add a signature to the seal of a bundle",
		Long: `sign verifies a sealed bundle and then signs its newest seal with an SSH key: the
one of --key, or one of the ssh-agent. Several people may sign; each signature is a
file of its own that ssh-keygen can verify. A key signs a seal once.`,
		Args: exactly("a BUNDLE: a path, or the id of an incident"),
	}
	key.flags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		// What does not keep the laws of the loop is not signed either.
		v, err := verify(path, evidence.Policy{}, p.approvers(nil))
		if err != nil {
			return err
		}
		if !v.OK {
			return &problem{code: ExitTampered, err: fmt.Errorf("bundle %q does not verify, and is not signed", path), next: "see `handrail bundle verify " + args[0] + "`"}
		}
		signer, done, err := p.signer(key)
		if err != nil {
			return err
		}
		defer done()
		name, err := evidence.Sign(path, signer, evidence.Options{})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "%s: signature %s\n", safe(path), name)
		return err
	}
	return cmd
}
