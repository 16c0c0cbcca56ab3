package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/process"
)

func versionCommand(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Show the version", Args: process.Exactly()}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		v := process.BuildVersion()
		if *o == process.AsJSON {
			return process.PrintJSON(p, v)
		}
		_, err := fmt.Fprintf(p.Stdout, "handrail %s\n%s, %s\n", v, v.Go, v.Platform)
		return err
	}
	return cmd
}
