package bundle

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/evidence/redact"
	"handrail/evidence/visible"
	"handrail/session/report"
)

// handled writes down beside a bundle that something was done with it, and how
// that ended. Where it cannot, that is said once and nothing else changes.
func handled(p *process.Program, bundle string, h evidence.Handling, err error) {
	h.Exit = process.ExitCode(err)
	if err != nil && h.Result == "" {
		h.Result = "failed: " + err.Error()
	}
	h.Result = cmp.Or(h.Result, "done")
	h.At = p.Now()
	if c, err := Keeper(p); err == nil {
		h.Actor = c.Actor.ID
	}
	team, _ := settings.TeamRules(p) // what is wrong with the file is said where it counts
	s, err := redact.NewScrubber(settings.KnownSecrets(p), team)
	if err == nil {
		err = evidence.Handle(bundle, h, s.Text)
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "This is not in the handling log of the bundle: %s\n", process.Safe(err.Error()))
	}
}

// handling is what verify says of the handling log; it judges nothing.
type handling struct {
	Path   string `json:"path"`
	Events int    `json:"events"`
	Sound  bool   `json:"sound"`
	Detail string `json:"detail"`
}

// handlingOf reads the log beside a bundle; nil where there is none.
func handlingOf(bundle string) *handling {
	l, err := evidence.Handled(bundle)
	switch {
	case err != nil:
		return &handling{Path: evidence.HandlingPath(bundle), Detail: "it cannot be read: " + err.Error()}
	case len(l.Lines)+l.Damaged == 0:
		return nil
	}
	h := &handling{Path: l.Path, Events: len(l.Lines), Sound: l.Sound(), Detail: process.Counted(len(l.Lines), "event") + ", chained"}
	foreign := 0
	for _, x := range l.Lines {
		if !x.Fits {
			foreign++
		}
	}
	if !h.Sound {
		h.Detail = fmt.Sprintf("%s; %d damaged lines, %d that do not follow the one before, %d about a journal that is not this one",
			process.Counted(len(l.Lines), "event"), l.Damaged, l.Broken, foreign)
	}
	if n := len(l.Lines); n > 0 {
		last := l.Lines[n-1]
		h.Detail += fmt.Sprintf("; the newest: %s by %s, %s", last.What, cmp.Or(last.Actor, "an unknown person"), stamp(last.At))
	}
	return h
}

// handlingFor gives a report the log of a bundle, as far as it can be read.
func handlingFor(bundle string) report.Option {
	l, err := evidence.Handled(bundle)
	var out []report.Handling
	for _, h := range l.Lines {
		out = append(out, report.Handling{At: h.At, Actor: visible.Line(h.Actor), What: visible.Line(h.What), Form: visible.Line(h.Form),
			Place: visible.Line(h.Place), Result: visible.Line(h.Result), Exit: h.Exit, Entries: h.Entries, Fits: h.Fits})
	}
	say := ""
	switch {
	case err != nil:
		say = "The handling log cannot be read: " + err.Error()
	case !l.Sound():
		say = "The handling log was damaged or changed: see bundle verify."
	}
	return report.WithHandling(out, visible.Line(say))
}

// noted lets a command that copies bundles write down what it did: a push where
// the bundle came from, a pull beside the copy that arrived. A copy has a log of
// its own, since what is done with two copies differs from then on.
func noted(p *process.Program, what string, cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if process.ExitCode(err) == process.ExitUsage {
			return err // nothing was done
		}
		place := args[len(args)-1]
		if !strings.Contains(place, "://") {
			place = absolute(place)
		}
		bundle := arrived(p, place)
		if what == "push" {
			bundle, _ = Find(p, args[0]) // the command has found it
		}
		if bundle != "" {
			handled(p, bundle, evidence.Handling{What: what, Place: place}, err)
		}
		return err
	}
	return cmd
}

// arrived is the bundle of this machine that came from a place, "" for none.
func arrived(p *process.Program, place string) string {
	dir, err := p.Incidents()
	if err != nil {
		return ""
	}
	id := place[strings.LastIndexAny(place, `/:\`)+1:]
	for _, end := range []string{".gz", ".tar", ".hrb"} {
		id = strings.TrimSuffix(id, end)
	}
	at := filepath.Join(dir, id+".hrb")
	if _, err := os.Lstat(filepath.Join(at, "bundle.json")); id == "" || err != nil {
		return ""
	}
	return at
}
