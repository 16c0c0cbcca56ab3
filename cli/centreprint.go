package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/session"
	"handrail/steps"
	"handrail/tui"
)

// rightNow asks the twelve questions and waits for all of them, in their order.
func rightNow(ctx context.Context, p *process.Program, c session.Config) []steps.Answer {
	var out []steps.Answer
	readCentre(ctx, p, c, func(a steps.Answer) { out = append(out, a) })
	order := func(a steps.Answer) int {
		return slices.IndexFunc(steps.Questions(), func(q steps.Question) bool { return q.ID == a.Question })
	}
	slices.SortFunc(out, func(a, b steps.Answer) int { return order(a) - order(b) })
	return out
}

// printCentre prints a line for each question and one for each row below it.
func printCentre(p *process.Program, answers []steps.Answer) {
	fmt.Fprintln(p.Stdout, "Right now:")
	titles := map[string]string{}
	for _, q := range steps.Questions() {
		titles[q.ID] = q.Title
	}
	for _, a := range answers {
		switch n := len(a.Rows) + a.More; {
		case n > 0:
			fmt.Fprintf(p.Stdout, "  %s: %d\n", titles[a.Question], n)
		case len(a.Blind()) == 0:
			fmt.Fprintf(p.Stdout, "  %s: nothing in %s\n", titles[a.Question], process.Safe(strings.Join(a.Seen, ", ")))
		case len(a.Seen) > 0:
			fmt.Fprintf(p.Stdout, "  %s: nothing in %s, and not all was seen\n", titles[a.Question], process.Safe(strings.Join(a.Seen, ", ")))
		default:
			fmt.Fprintf(p.Stdout, "  %s: not seen\n", titles[a.Question])
		}
		for _, r := range a.Rows {
			fmt.Fprintf(p.Stdout, "    %s: %s: %s%s\n", r.Level, process.Safe(r.Where), process.Safe(r.What), beside(p, r))
			if r.Runbook != "" {
				fmt.Fprintf(p.Stdout, "      handrail start %s%s\n", r.Runbook, given(r.Params))
			}
		}
		if a.More > 0 {
			fmt.Fprintf(p.Stdout, "    and %d more\n", a.More)
		}
		for _, why := range a.Unseen() {
			fmt.Fprintf(p.Stdout, "    not seen: %s\n", process.Safe(why))
		}
	}
}

// beside is the age and the owner of a row.
func beside(p *process.Program, r steps.Standing) string {
	var parts []string
	if !r.Since.IsZero() {
		parts = append(parts, "for "+p.Now().Sub(r.Since).Truncate(time.Second).String())
	}
	if r.Owner != "" {
		parts = append(parts, process.Safe(r.Owner))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// given are parameters as the command line takes them.
func given(params map[string]string) string {
	out := ""
	for _, k := range process.SortedKeys(params) {
		out += " -p " + steps.Quote(k+"="+params[k])
	}
	return process.Safe(out)
}

// centreOut is what `handrail -o json` prints.
type centreOut struct {
	Incidents []incidentOut  `json:"incidents"`
	Debts     []debtOut      `json:"debts"`
	Answers   []steps.Answer `json:"answers"`
}

type incidentOut struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Runbook  string     `json:"runbook"`
	Severity string     `json:"severity"`
	Phase    string     `json:"phase"`
	Opened   *time.Time `json:"opened,omitempty"`
	Where    string     `json:"where,omitempty"`
	Who      string     `json:"who,omitempty"`
	Drill    string     `json:"drill,omitempty"`
}

type debtOut struct {
	Incident string `json:"incident"`
	Text     string `json:"text"`
	Owner    string `json:"owner"`
	Until    string `json:"until"`
	Overdue  bool   `json:"overdue"`
}

func centreDoc(h tui.Home, answers []steps.Answer) centreOut {
	out := centreOut{Incidents: []incidentOut{}, Debts: []debtOut{}, Answers: answers}
	for i := range answers {
		answers[i].Rows, answers[i].Seen = process.OrEmpty(answers[i].Rows), process.OrEmpty(answers[i].Seen)
	}
	for _, i := range h.Incidents {
		if i.Outcome == "" {
			out.Incidents = append(out.Incidents, incidentOut{ID: i.ID, Title: i.Title, Runbook: i.Runbook, Severity: i.Severity, Phase: i.Phase, Opened: bundle.Known(i.Opened), Where: i.Where, Who: i.Who, Drill: i.Drill})
		}
	}
	for _, d := range h.Debts {
		out.Debts = append(out.Debts, debtOut(d))
	}
	return out
}
