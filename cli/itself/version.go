package itself

import (
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/process"
)

// Version is `handrail version`.
func Version(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Show the version", Args: process.Exactly()}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		v := process.BuildVersion()
		return o.Print(p, v, func() error {
			_, err := fmt.Fprintf(p.Stdout, "handrail %s\n%s, %s\n", v, v.Go, v.Platform)
			return err
		})
	}
	return cmd
}
