package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"handrail/evidence"
	"handrail/session"
	"handrail/session/index"
	"handrail/session/report"
	"handrail/steps/catalog"
)

func bundleCommand(p *program) *cobra.Command {
	return group("bundle", "Evidence bundles", bundleList(p), bundleShow(p), bundleVerify(p),
		bundleQuery(p), bundlePush(p), bundlePull(p))
}

// row is the public form of an incident.
type row struct {
	ID       string     `json:"id"`
	Path     string     `json:"path"`
	Runbook  string     `json:"runbook"`
	Severity string     `json:"severity"`
	Outcome  string     `json:"outcome"` // "" while the incident goes on
	Sealed   bool       `json:"sealed"`
	Opened   *time.Time `json:"opened"`
	Closed   *time.Time `json:"closed"`
	Drill    string     `json:"drill,omitempty"`
	Problem  string     `json:"problem,omitempty"`
}

func (p *program) rows() ([]index.Row, error) {
	dir, err := p.incidents()
	if err != nil {
		return nil, err
	}
	return index.Rows(dir)
}

func bundleList(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the bundles of this machine, the newest first", Args: exactly()}
	from := cmd.Flags().String("from", "", "directory of bundles, instead of this machine's")
	o := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		store, err := p.store(*from)
		if err != nil {
			return err
		}
		list, err := store.Rows()
		if err != nil {
			return err
		}
		if *o == asJSON {
			out := []row{}
			for _, r := range list {
				out = append(out, row{r.ID, r.Path, r.Runbook, string(r.Severity), r.Outcome, r.Sealed,
					known(r.Opened), known(r.Closed), r.Drill, r.Err})
			}
			return printJSON(p.stdout, out)
		}
		if len(list) == 0 {
			fmt.Fprintln(p.stderr, "There are no bundles yet.")
			return nil
		}
		var rows [][]string
		for _, r := range list {
			state := r.Outcome
			switch {
			case r.Err != "":
				state = "unreadable: " + r.Err
			case state == "":
				state = "in " + string(r.Phase)
			}
			rows = append(rows, []string{r.ID, string(r.Severity), r.Runbook, state, stamp(r.Opened), r.Path})
		}
		return table(p.stdout, []string{"ID", "SEVERITY", "RUNBOOK", "STATE", "OPENED", "PATH"}, rows)
	}
	return cmd
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func bundleShow(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show BUNDLE", Short: "Show an incident as a report, from its bundle alone",
		Args: exactly("a BUNDLE: a path, or the id of an incident"),
	}
	o := outputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		st, err := session.LoadState(path)
		if err != nil {
			return hint(err, "see what is wrong with `handrail bundle verify "+args[0]+"`")
		}
		if *o == asJSON {
			return printJSON(p.stdout, st)
		}
		return report.Markdown(p.stdout, st)
	}
	return cmd
}

// verdict is what verify says: the bytes first, then the laws.
type verdict struct {
	Path    string          `json:"path"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"`
	Entries int64           `json:"entries"`
	Head    string          `json:"head"`
	Root    string          `json:"root"`
	Lines   []evidence.Line `json:"lines"`
}

func bundleVerify(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify BUNDLE", Short: "Recompute everything in a bundle; ends with 0 or 7",
		Long: `verify trusts nothing that is stored: it recomputes every hash from the bytes on
disk, folds the journal again and judges every gate again from the runbook that is
stored in the bundle. Each property has a line of its own. It changes nothing and
needs no key.`,
		Args: exactly("a BUNDLE: a path, or the id of an incident"),
	}
	o := outputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		v, err := verify(path)
		if err != nil {
			return err
		}
		if *o == asJSON {
			err = printJSON(p.stdout, v)
		} else {
			err = printVerdict(p.stdout, v)
		}
		if err == nil && !v.OK {
			return ended(ExitTampered)
		}
		return err
	}
	return cmd
}

func verify(path string) (verdict, error) {
	r, err := evidence.Verify(path)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Path: r.Path, ID: r.ID, OK: r.OK(), Entries: r.Entries, Head: r.Head, Root: r.Root, Lines: r.Lines}
	laws, err := session.Audit(path, catalog.New())
	if err != nil {
		// What cannot be audited is not verified; why, the bytes may say above.
		v.OK = false
		v.Lines = append(v.Lines, evidence.Line{Property: "laws of the loop", Detail: err.Error()})
		return v, nil
	}
	v.OK = v.OK && laws.OK()
	for _, l := range laws.Lines {
		v.Lines = append(v.Lines, evidence.Line(l))
	}
	return v, nil
}

func printVerdict(w io.Writer, v verdict) error {
	for _, l := range v.Lines {
		mark := "ok  "
		if !l.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "%s  %s: %s\n", mark, safe(l.Property), safe(l.Detail))
	}
	result := "verified"
	if !v.OK {
		result = "NOT verified: this bundle proves nothing as it is"
	}
	_, err := fmt.Fprintf(w, "%s: %s, %d entries\n", safe(v.Path), result, v.Entries)
	return err
}
