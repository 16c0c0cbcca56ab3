package cli

import (
	"context"
	"fmt"
	"time"

	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/tui"
)

// home opens the command centre; without a terminal it prints what it would
// show and how to get there.
func home(ctx context.Context, p *program) error {
	c, err := p.session()
	if err != nil {
		return err
	}
	if p.interactive() {
		if err := p.signIn(ctx, &c); err != nil {
			return err
		}
		if err := p.draw(ctx, p.face(c)); err != nil && !interrupted(ctx, err) {
			return err
		}
		return nil
	}
	h, err := p.commandCentre(c)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "Open incidents:")
	open := 0
	for _, i := range h.Incidents {
		if i.Outcome == "" {
			open++
			fmt.Fprintf(p.stdout, "  %s  %s  in %s  %s\n", safe(i.ID), i.Severity, i.Phase, safe(i.Title))
		}
	}
	if open == 0 {
		fmt.Fprintln(p.stdout, "  none")
	}
	fmt.Fprintln(p.stdout, "Carried debts:")
	for _, d := range h.Debts {
		due := ""
		if d.Overdue {
			due = ", overdue"
		}
		fmt.Fprintf(p.stdout, "  %s: %s (%s, until %s%s)\n", safe(d.Incident), safe(d.Text), safe(d.Owner), safe(d.Until), due)
	}
	if len(h.Debts) == 0 {
		fmt.Fprintln(p.stdout, "  none")
	}
	fmt.Fprintln(p.stderr, "In a terminal, handrail opens here. Else: match, start RUNBOOK --plain, run, resume; see `handrail --help`.")
	return nil
}

// face is what the terminal UI needs of the rest of the program.
func (p *program) face(c session.Config) tui.Config {
	return tui.Config{
		Now: p.now, Version: buildVersion().String(), NoColor: p.getenv("NO_COLOR") != "", In: p.stdin, Out: p.stdout,
		Home: func(context.Context) (tui.Home, error) { return p.commandCentre(c) },
		Start: func(ctx context.Context, runbook string, given map[string]string) (tui.Incident, error) {
			rb, err := p.runbook(runbook)
			if err != nil {
				return nil, err
			}
			params, err := rb.Bind(given)
			if err != nil {
				return nil, err
			}
			return opened(session.Start(ctx, c, session.Begin{Runbook: rb, Params: params}))
		},
		Resume: func(ctx context.Context, id string) (tui.Incident, error) {
			path, err := p.find(id)
			if err != nil {
				return nil, err
			}
			inside := *p
			inside.drawing = true
			w, err := inside.worldOf(ctx, path)
			if err != nil {
				return nil, err
			}
			return opened(w.resume(ctx, path))
		},
		Drill: p.openDrill,
		Match: func(text string) []tui.Hit {
			lib, err := p.library()
			if err != nil {
				return nil
			}
			var out []tui.Hit
			for _, h := range runbooks.Match(lib, text) {
				out = append(out, tui.Hit{Runbook: h.Runbook, Title: h.Title, Line: h.Line, Pattern: h.Pattern, Score: h.Score})
			}
			return out
		},
		Params: func(id string) []steps.Field {
			rb, err := p.runbook(id)
			if err != nil {
				return nil
			}
			return rb.Params
		},
	}
}

// opened keeps a nil session from becoming an incident that is not nil.
func opened(s *session.Session, err error) (tui.Incident, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// commandCentre gathers what is on this machine; it asks no network.
func (p *program) commandCentre(c session.Config) (tui.Home, error) {
	var h tui.Home
	rows, err := p.rows()
	if err != nil {
		return h, err
	}
	today := p.now().Format(time.DateOnly)
	for _, r := range rows {
		h.Incidents = append(h.Incidents, tui.IncidentRow{ID: r.ID, Title: r.Title, Runbook: r.Runbook,
			Severity: string(r.Severity), Phase: string(r.Phase), Opened: r.Opened, Drill: r.Drill, Outcome: r.Outcome})
		for _, d := range r.Debts {
			if d.Settled.How == "carried" {
				h.Debts = append(h.Debts, tui.DebtRow{Incident: r.ID, Text: d.Text, Owner: d.Settled.Owner,
					Until: d.Settled.Until, Overdue: d.Settled.Until < today})
			}
		}
	}
	if h.Drills, err = p.drillRows(); err != nil {
		return h, err
	}
	lib, err := p.library()
	if err != nil {
		return h, err
	}
	for _, rb := range lib {
		h.Runbooks = append(h.Runbooks, tui.RunbookRow{ID: rb.ID, Title: rb.Title, Severity: string(rb.Severity), Domain: rb.Domain})
	}
	if cluster := steps.Find(c.Header, "cluster"); cluster != "none" {
		h.Cluster = cluster
	}
	return h, nil
}
