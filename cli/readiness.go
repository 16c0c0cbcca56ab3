package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/runbooks/ready"
	"handrail/session"
	"handrail/session/index"
	"handrail/session/journal"
	"handrail/session/walk"
	"handrail/steps/catalog"
	"handrail/triage"
)

func readinessCommand(p *process.Program) *cobra.Command {
	var pairs []string
	var file, components string
	var plain, template bool
	cmd := &cobra.Command{
		Use: "readiness", Short: "Review how ready the platform is to recover",
		Long: `readiness goes through fourteen things that a platform has before an incident, or misses
in it. What the cluster, the directory and the bundles of this machine show is read and
proposed; the rest is asked. Whatever is not answered yes gets an owner and a date. It
reads, and changes nothing. The review is a bundle of its own kind, with the failure
models of components; handrail bundle export prints it as Markdown or HTML, with what changed since the
review before. A review that was not finished is gone on with.

It ends with 0 when every question has an answer and every gap an owner and a date.`,
		Args: process.Exactly(),
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter, as `name=value`: dir, workspace, plan, exceptions, controller, secrets")
	cmd.Flags().StringVar(&file, "answers", "", "walk it headless, by this answers `file`")
	cmd.Flags().StringVar(&components, "components", "", "failure models of your own components, from this YAML `file`")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.Flags().BoolVar(&template, "template", false, "print an answers file to fill in, and open nothing")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if template && (file != "" || plain) {
			return process.Usage("leave out --answers and --plain", "--template only prints a file to fill in")
		}
		if *o == process.AsJSON && file == "" {
			return process.Usage("give --answers FILE, or print the review with `handrail bundle export BUNDLE --format json`", "-o json is for a review by an answers file")
		}
		rows, err := bundle.Rows(p)
		if err != nil {
			return err
		}
		past := reviewsOf(rows)
		parts, err := componentsOf(past, components)
		if err != nil {
			return err
		}
		rb, err := ready.Runbook(catalog.New(), parts)
		if err != nil {
			return err
		}
		given, err := settings.Pairs(pairs)
		if err != nil {
			return err
		}
		if template {
			return printReviewTemplate(p, past, parts)
		}
		var answers *walk.Answers
		all := map[string]string{}
		if file != "" {
			if answers, err = readAnswers(p, file, rb); err != nil {
				return err
			}
			maps.Copy(all, answers.Params)
		}
		maps.Copy(all, given)
		if path := past.open; path != "" {
			if len(given) > 0 || components != "" {
				return process.Usage("finish it with `handrail readiness`, or close it as open", "the review %s is not finished, and has its parameters already", bundle.IDOf(path))
			}
			fmt.Fprintf(p.Stderr, "The review %s is not finished; it goes on.\n", process.Safe(bundle.IDOf(path)))
			return resume(cmd.Context(), p, path, resuming{answers: answers, plain: answers != nil || plainly(p, plain), as: *o})
		}
		if err := fillReview(rb, all, rows, past, p.Now().Format("2006-01-02")); err != nil {
			return err
		}
		params, err := settings.Bind(rb, all)
		if err != nil {
			return err
		}
		c, err := newConfig(p)
		if err != nil {
			return err
		}
		linear := answers == nil && plainly(p, plain)
		if err := signIn(cmd.Context(), p, &c); err != nil {
			return err
		}
		s, err := session.Start(cmd.Context(), c, session.Begin{Runbook: rb, Params: params, Kind: triage.Readiness, Parts: parts})
		if err != nil {
			return err
		}
		if answers != nil {
			for _, key := range answers.Missing(rb) {
				fmt.Fprintf(p.Stderr, "The answers file has no word for %s, which is required: the review will stop there.\n", key)
			}
			return play(cmd.Context(), p, world{}, s, world{}.script(p, answers), *o)
		}
		return drive(cmd.Context(), p, world{config: c}, s, linear)
	}
	return cmd
}

// reviews are those of this machine: the one that goes on, and the newest that ended.
type reviews struct{ open, last string }

func reviewsOf(rows []index.Row) reviews {
	var out reviews
	for _, r := range rows { // the newest first
		switch {
		case r.Kind != triage.Readiness || r.Err != "":
		case r.Outcome == "" && out.open == "":
			out.open = r.Path
		case r.Outcome == triage.Reviewed && out.last == "":
			out.last = r.Path
		}
	}
	return out
}

// answersOf are what a review said, by question, with the debts that are open still.
func answersOf(path string) (said map[string]triage.Step, debts map[string]triage.Debt, err error) {
	said, debts = map[string]triage.Step{}, map[string]triage.Debt{}
	if path == "" {
		return said, debts, nil
	}
	st, err := journal.LoadState(path)
	if err != nil {
		return nil, nil, process.Hint(err, "see what is wrong with `handrail bundle verify "+bundle.IDOf(path)+"`")
	}
	for _, s := range st.Steps {
		if s.Kind == triage.AskStep {
			said[journal.Bare(s.ID)] = s
		}
	}
	for _, d := range st.Debts {
		if d.Settled.How == "carried" {
			debts[journal.Bare(d.Of)] = d
		}
	}
	return said, debts, nil
}

// fillReview gives a review what this machine knows: counts of its bundles, and what the
// review before said. What the person gave stays.
func fillReview(rb *runbooks.Runbook, given map[string]string, rows []index.Row, past reviews, today string) error {
	set := func(name, value string) error {
		if _, ok := given[name]; ok {
			return process.Usage("leave it out", "%s is counted in the bundles of this machine", name)
		}
		given[name] = value
		return nil
	}
	counts := countReview(rows, today)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if err := set(name, strconv.Itoa(counts[name])); err != nil {
			return err
		}
	}
	said, _, err := answersOf(past.last)
	if err != nil || past.last == "" {
		return err
	}
	if err := set("last", bundle.IDOf(past.last)); err != nil {
		return err
	}
	for _, s := range rb.Steps {
		if s.Kind == triage.AskStep && said[s.ID].Answer != "" {
			if err := set("last_"+s.ID, said[s.ID].Holds()); err != nil {
				return err
			}
		}
	}
	return nil
}

// brokeOff are the drills in which an apply breaks off.
var brokeOff = []string{"killed-runner", "partial-apply", "five-creates", "endless-retry"}

// countReview counts in the bundles of this machine what a review asks of them.
func countReview(rows []index.Row, today string) map[string]int {
	out := map[string]int{"practised": 0, "practised_apply": 0, "unlocks": 0, "by_hand": 0, "unmerged": 0, "drift_open": 0, "overdue": 0}
	for _, r := range rows {
		switch {
		case r.Err != "" || r.Kind != "":
			continue
		case r.Drill != "":
			if r.Outcome == "recovered" {
				out["practised"]++
				if name, _, _ := strings.Cut(r.Drill, "/"); slices.Contains(brokeOff, name) {
					out["practised_apply"]++
				}
			}
			continue
		}
		for _, a := range r.Acts {
			if a.Uses == "terraform/force-unlock" && a.Outcome == "done" {
				out["unlocks"]++
			}
		}
		for _, d := range r.Debts {
			if d.Kind == triage.ProofDebt {
				out["by_hand"]++
			}
			if d.Kind == "reconcile" && (d.Settled.How == "" || d.Settled.How == "carried") {
				out["unmerged"]++
			}
			if d.Settled.How == "carried" && d.Settled.Until < today {
				out["overdue"]++
			}
		}
		if r.Outcome == "" && (r.Failure == "LiveStateDiverged" || r.Failure == "RecordedStateDiverged") {
			out["drift_open"]++
		}
	}
	return out
}

// componentsOf are the failure models of the review that goes on, else those of a new one.
func componentsOf(past reviews, file string) ([]triage.Component, error) {
	if past.open == "" || file != "" { // a file beside an open review is refused later
		return componentsFor(file)
	}
	st, err := journal.LoadState(past.open)
	return st.Parts, err
}

// componentsFor are the failure models that a review states: the worked ones, and the
// team's. One of the team's goes before a worked one of the same name.
func componentsFor(file string) ([]triage.Component, error) {
	list, err := ready.Components()
	if err != nil || file == "" {
		return list, err
	}
	info, err := os.Stat(file)
	if err == nil && info.Size() > 1<<20 {
		err = errors.New("it is over 1 MiB")
	}
	var src []byte
	if err == nil {
		src, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, process.Usage("name a file that can be read", "reading the components: %w", err)
	}
	own, err := ready.ParseComponents(filepath.Base(file), src)
	if err != nil {
		return nil, &process.Problem{Code: process.ExitUsage, Err: err}
	}
	return ready.Over(own, list), nil
}

// printReviewTemplate prints an answers file that begins with the answers of the last
// review. An answer that is left empty is refused, so that none is taken over unread.
func printReviewTemplate(p *process.Program, past reviews, parts []triage.Component) error {
	said, debts, err := answersOf(past.last)
	if err != nil {
		return err
	}
	w := p.Stdout
	fmt.Fprintf(w, "# Answers for a review of readiness.\n#\n# handrail readiness --answers FILE\n#\n# value: yes, partly, no or unknown; how: where it stands, or who knows it.\n# A failure model of a component that is not here has the value none.\n")
	if past.last != "" {
		fmt.Fprintf(w, "# The answers are those of %s: go through each.\n", process.Safe(bundle.IDOf(past.last)))
	}
	fmt.Fprintf(w, "apiVersion: handrail/v1\nkind: Answers\nrunbook: %s\nparams:\n  dir: .\nanswers:\n", ready.ID)
	asked := slices.Concat(ready.Items(), ready.Models(parts))
	for i, it := range asked {
		fmt.Fprintf(w, "  # %d. %s\n", i+1, process.Safe(it.Ask))
		if it.Read != "" {
			fmt.Fprintf(w, "  #    Read: %s.\n", it.Read)
		}
		s := said[it.ID]
		fmt.Fprintf(w, "  %s: {value: %s, how: %s}\n", it.ID, strconv.Quote(process.Safe(s.Answer)), strconv.Quote(process.Safe(s.How)))
	}
	fmt.Fprint(w, "# Who closes a gap, and until when: friday, +7d or 2026-12-01. Each answer but yes needs one.\n")
	if len(debts) > 0 {
		fmt.Fprintln(w, "debts:")
	} else {
		fmt.Fprintln(w, "# debts:")
	}
	for _, it := range asked {
		d := debts[it.ID].Settled
		mark := "# "
		if d.Owner != "" {
			mark = ""
		}
		fmt.Fprintf(w, "  %s%s: {carry: {owner: %s, until: %s}}\n", mark, it.ID, strconv.Quote(process.Safe(d.Owner)), strconv.Quote(process.Safe(cmp.Or(d.Until, "+14d"))))
	}
	return nil
}
