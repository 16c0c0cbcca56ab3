package bundle

import (
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
)

func bundleSign(p *process.Program) *cobra.Command {
	var key KeyChoice
	cmd := &cobra.Command{
		Use: "sign BUNDLE", Short: "Sign the seal of a bundle",
		Long: `sign verifies a sealed bundle and then signs its newest seal with an SSH key: the
one of --key, or one of the ssh-agent. Several people may sign; each signature is a
file of its own that ssh-keygen can verify. A key signs a seal once.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	key.Flags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		// What does not keep the laws of the loop is not signed either.
		v, err := verify(path, evidence.Policy{}, settings.Approvers(p, nil))
		if err != nil {
			return err
		}
		if !v.OK {
			return &process.Problem{Code: process.ExitTampered, Err: fmt.Errorf("bundle %q does not verify, and is not signed", path), Next: "see `handrail bundle verify " + args[0] + "`"}
		}
		signer, done, err := Signer(p, key)
		if err != nil {
			return err
		}
		defer done()
		name, err := evidence.Sign(path, signer, evidence.Options{})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Stdout, "%s: signature %s\n", process.Safe(path), name)
		return err
	}
	return cmd
}
