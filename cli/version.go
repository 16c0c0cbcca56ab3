package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func versionCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Say which build this is", Args: exactly()}
	o := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		v := buildVersion()
		if *o == asJSON {
			return printJSON(p.stdout, v)
		}
		_, err := fmt.Fprintf(p.stdout, "handrail %s\n%s, %s\n", v, v.Go, v.Platform)
		return err
	}
	return cmd
}
