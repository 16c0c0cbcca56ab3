package books

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/session/trial"
	"handrail/steps/catalog"
	"handrail/steps/strict"
)

// tested is the public form of what the tests of a runbook showed.
type tested struct {
	Runbook  string       `json:"runbook"`
	File     string       `json:"file"`
	Cases    []testedCase `json:"cases"`
	Branches int          `json:"branches"`
	Gone     int          `json:"gone"`
	Missed   []string     `json:"missed"`
}

type testedCase struct {
	Name  string            `json:"name"`
	Line  int               `json:"line"`
	Wrong []string          `json:"wrong"`
	Phase string            `json:"phase"`
	Stop  string            `json:"stop,omitempty"`
	Armed []string          `json:"armed"`
	Shut  map[string]string `json:"shut"`
	Said  map[string]string `json:"said"`
}

func testCommand(p *process.Program) *cobra.Command {
	var missed, talk bool
	cmd := &cobra.Command{
		Use: "test RUNBOOK...", Short: "Run the tests of runbooks: recorded reads and answers in, conclusions and gates out",
		Long: `test walks each case of NAME.test.yaml, which stands beside NAME.yaml, through the
real loop, with what the case records in place of the world: no cluster, no state and no
program is asked. It says which cases fail and how many of the branches of the runbook
were walked: each case of a conclusion or a proposal, each condition and requirement when
it is true and when it is false, each runbook that comes next. It ends with 3 where a
case fails.

What a floor of a gate says needs a real target and is no part of a test.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return process.Usage("usage: "+cmd.UseLine(), "%s needs a RUNBOOK", cmd.CommandPath())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&missed, "missed", false, "list the branches that no case walks")
	cmd.Flags().BoolVarP(&talk, "verbose", "v", false, "say how each case ended")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, names []string) error {
		docs, failed := []tested{}, 0
		for _, name := range names {
			t, err := testBook(p, name)
			if err != nil {
				return err
			}
			for _, c := range t.Cases {
				if len(c.Wrong) > 0 {
					failed++
				}
			}
			docs = append(docs, t)
			if *o != process.AsJSON {
				printTested(p, t, missed, talk)
			}
		}
		if *o == process.AsJSON {
			if err := process.PrintJSON(p, docs); err != nil {
				return err
			}
		}
		if failed > 0 {
			return &process.Problem{Code: process.ExitOpen, Err: fmt.Errorf("%s failed", process.Counted(failed, "case"))}
		}
		return nil
	}
	return cmd
}

// testBook runs the tests of one runbook, which needs no trust: nothing is read.
func testBook(p *process.Program, name string) (tested, error) {
	if strings.HasSuffix(name, runbooks.TestSuffix) {
		name = strings.TrimSuffix(name, runbooks.TestSuffix) + ".yaml"
	}
	b, err := settings.Look(p, name)
	if err != nil {
		return tested{}, err
	}
	var file string
	var src []byte
	if b.Origin == settings.OfHandrail {
		file, src, err = runbooks.LibraryTest(b.ID)
	} else {
		file = strings.TrimSuffix(b.Path, filepath.Ext(b.Path)) + runbooks.TestSuffix
		src, err = settings.ReadUpTo(file, strict.MaxSize)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return tested{}, process.Usage("write it; docs/authoring.md shows how", "the runbook %s has no tests: there is no %s", b.ID, file)
	}
	if err != nil {
		return tested{}, err
	}
	d, err := trial.Parse(file, src, b.Runbook, catalog.New())
	if err != nil {
		return tested{}, &process.Problem{Code: process.ExitUsage, Err: err}
	}
	r, err := trial.Run(d, b.Runbook, catalog.New())
	if err != nil {
		return tested{}, err
	}
	out := tested{Runbook: b.ID, File: file, Branches: len(r.Branches), Missed: []string{}}
	for _, c := range r.Cases {
		out.Cases = append(out.Cases, testedCase{c.Name, c.Line, process.OrEmpty(c.Wrong), string(c.Phase), c.Stop, process.OrEmpty(c.Armed), c.Shut, c.Said})
	}
	for _, m := range r.Missed() {
		out.Missed = append(out.Missed, m.String())
	}
	out.Gone = out.Branches - len(out.Missed)
	return out, nil
}

func printTested(p *process.Program, t tested, missed, talk bool) {
	w := p.Stdout
	for _, c := range t.Cases {
		if len(c.Wrong) == 0 {
			fmt.Fprintf(w, "ok    %s: %s\n", t.Runbook, process.Safe(c.Name))
		} else {
			fmt.Fprintf(w, "FAIL  %s: %s (%s:%d)\n", t.Runbook, process.Safe(c.Name), process.Safe(t.File), c.Line)
		}
		for _, wrong := range c.Wrong {
			process.Lines(w, "      ", wrong)
		}
		if !talk {
			continue
		}
		fmt.Fprintf(w, "      ends in %s: %s\n", c.Phase, process.Safe(c.Stop))
		for _, topic := range process.SortedKeys(c.Said) {
			fmt.Fprintf(w, "      %s: %s\n", topic, process.Safe(c.Said[topic]))
		}
		if len(c.Armed) > 0 {
			fmt.Fprintf(w, "      armed: %s\n", strings.Join(c.Armed, ", "))
		}
		for _, gate := range process.SortedKeys(c.Shut) {
			if c.Shut[gate] != "" {
				process.Lines(w, "      ", "shut: "+gate+": "+c.Shut[gate])
			}
		}
	}
	fmt.Fprintf(w, "%s: %d of %d branches walked\n", t.Runbook, t.Gone, t.Branches)
	if missed {
		for _, m := range t.Missed {
			process.Lines(w, "  not walked: ", m)
		}
	}
}
