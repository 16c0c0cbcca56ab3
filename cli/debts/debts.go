package debts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session/journal"
	"handrail/steps/policy/register"
	"handrail/steps/strict"
	"handrail/triage"
)

// list is what is owed, and what could not be read.
type list struct {
	Items  []Item   `json:"items"`
	Unread []string `json:"unread"`
}

// Command is `handrail debts`.
func Command(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "debts", Short: "List what incidents still owe, and break-glass sessions that are past their end",
		Long: `debts lists, the oldest first, what is open or carried in the incidents of this machine:

  what acts left owing (reconcile, resume, unfinished) and repairs by hand (proof)
  what stood live and not in Git when it was read last (live); it stays until a read of
  the same application finds no difference, in whatever incident
  repairs by hand after which no one read what Git has (by-hand)
  break-glass sessions that are past their end, without an end, or not reviewed (session),
  from the register that breakGlassRegister names in interface.yaml

  what the last review of readiness found wanting

What a drill owes is not listed. With --older-than it ends with 3 where a debt is older, or
where an incident or the register cannot be read: there may be one. It takes how long ago
(36h, 7d) or a date.`,
		Args: process.Exactly(),
	}
	older := cmd.Flags().String("older-than", "", "end with 3 where a debt is older than this, as 7d")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		limit, err := bundle.TimeFlag("--older-than", *older, p.Now(), false)
		if err != nil {
			return process.Usage("give how long ago as 36h or 7d, or a date", "--older-than %q is not a time", *older)
		}
		l, err := gather(p)
		if err != nil {
			return err
		}
		if err := o.Print(p, l, func() error { return l.print(p) }); err != nil {
			return err
		}
		late := slices.ContainsFunc(l.Items, func(it Item) bool { return it.since.Before(limit) })
		if *older != "" && (late || len(l.Unread) > 0) {
			return process.Ended(process.ExitOpen)
		}
		return nil
	}
	return cmd
}

// gather reads every incident of this machine and the register.
func gather(p *process.Program) (list, error) {
	l := list{Items: []Item{}, Unread: []string{}}
	rows, err := bundle.Rows(p)
	if err != nil {
		return l, err
	}
	var books []book
	reviewed := false
	for _, r := range rows { // the newest first
		if r.Drill != "" || r.Kind != "" && (reviewed || r.Outcome != triage.Reviewed) {
			continue // of reviews the last that ended counts
		}
		reviewed = reviewed || r.Kind != ""
		st, err := journal.LoadState(r.Path)
		if err != nil || r.Err != "" {
			l.Unread = append(l.Unread, fmt.Sprintf("incident %s is not read to its end: see `handrail bundle verify %s`", r.ID, r.ID))
		}
		books = append(books, book{r, st})
	}
	now := p.Now()
	l.Items = append(l.Items, owed(books, now)...)
	reg, err := Register(p)
	switch {
	case err != nil:
		l.Unread = append(l.Unread, "the register of break-glass sessions: "+err.Error())
	case reg != nil:
		l.Items = append(l.Items, sessions(reg, now)...)
	}
	l.arrange(p, now)
	return l, nil
}

// arrange sorts the items, the oldest first, and takes secrets out of them.
func (l *list) arrange(p *process.Program, now time.Time) {
	slices.SortStableFunc(l.Items, func(a, b Item) int {
		if d := a.since.Compare(b.since); d != 0 {
			return d
		}
		return strings.Compare(a.Incident+" "+a.ID+" "+a.Object, b.Incident+" "+b.ID+" "+b.Object)
	})
	for i := range l.Items {
		it := &l.Items[i]
		for _, s := range []*string{&it.Object, &it.Text, &it.Who, &it.Closes, &it.Owner} {
			*s = p.ScrubText(*s)
		}
		if it.Since = bundle.Known(it.since); it.Since != nil {
			it.Age = aged(now.Sub(it.since))
		}
	}
	for i := range l.Unread {
		l.Unread[i] = p.ScrubText(l.Unread[i])
	}
}

// aged is a duration as a list has it.
func aged(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", max(0, int(d.Minutes())))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

func (l list) print(p *process.Program) error {
	for _, why := range l.Unread {
		fmt.Fprintf(p.Stderr, "not read: %s\n", process.Safe(why))
	}
	if len(l.Items) == 0 {
		fmt.Fprintln(p.Stderr, "Nothing is owed in what was read.")
		return nil
	}
	for _, it := range l.Items {
		head := []string{it.Kind}
		if it.Incident != "" {
			head = append(head, "incident "+it.Incident)
		}
		if it.ID != "" {
			head = append(head, it.ID)
		}
		if it.Age != "" {
			head = append(head, "for "+it.Age)
		}
		if it.Overdue {
			head = append(head, "overdue")
		}
		fmt.Fprintf(p.Stdout, "%s\n", process.Safe(strings.Join(head, ", ")))
		for _, line := range [][2]string{{"", it.Text}, {"object: ", it.Object}, {"by: ", it.Who}, {"owner: ", strings.TrimSuffix(it.Owner+", until "+it.Until, ", until ")}, {"closes once ", it.Closes}} {
			if line[1] != "" {
				fmt.Fprintf(p.Stdout, "  %s%s\n", line[0], process.Safe(line[1]))
			}
		}
	}
	return nil
}

// Register is the register of break-glass sessions that the settings name, nil for none.
func Register(p *process.Program) (*register.Register, error) {
	f, err := settings.Preferences(p)
	if err != nil || f.BreakGlassRegister == "" {
		return nil, err
	}
	src, err := settings.ReadUpTo(f.BreakGlassRegister, strict.MaxSize)
	if err != nil {
		return nil, err
	}
	return register.Read(f.BreakGlassRegister, src)
}

// Sessions are those of the register that are past their end, without an end, or not reviewed.
func Sessions(p *process.Program) ([]Item, error) {
	reg, err := Register(p)
	if reg == nil {
		return nil, err
	}
	l := list{Items: sessions(reg, p.Now())}
	l.arrange(p, p.Now())
	return l.Items, nil
}
