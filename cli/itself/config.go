package itself

import (
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
)

// Config is `handrail config`.
func Config(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show every setting, who said it, and in which file and line",
		Long: `config shows every setting that is in force here: what flags and the environment say,
each key of each file of the machine, of yours and of the project, and what holds where
none says otherwise. It changes nothing and asks no cluster. Secrets are taken out.

A file that is not understood is named with what is wrong in it; it ends with 2 then,
and gates stay shut until the file is mended. docs/settings.md has the files.`,
		Args: process.Exactly(),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		list, err := settings.Settings(p)
		if err != nil {
			return err
		}
		listing := process.Listing[settings.Setting]{
			Head: []string{"SETTING", "VALUE", "SOURCE", "WHERE"},
			Row:  func(s settings.Setting) []string { return []string{s.Name, s.Value, s.Source, where(s)} },
			JSON: func(s settings.Setting) any { return s },
		}
		if err := listing.Print(p, *o, list); err != nil {
			return err
		}
		bad := 0
		for _, s := range list {
			if s.Wrong != "" {
				bad++
				process.Lines(p.Stderr, "", "handrail: "+s.Name+": "+s.Wrong)
			}
		}
		if bad > 0 {
			return process.Usage("mend it or move it away; until then it is in force nowhere, and what it would close stays shut", "%s not understood", process.Counted(bad, "setting"))
		}
		return nil
	}
	return cmd
}

func where(s settings.Setting) string {
	if s.File == "" || s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}
