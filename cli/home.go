package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence/disk"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/debrief"
	"handrail/session/report"
	"handrail/steps"
	"handrail/tui"
)

// home opens the command centre; without a terminal it prints what it would
// show and how to get there.
func home(ctx context.Context, p *process.Program, o process.Output) error {
	c, err := newConfig(p)
	if err != nil {
		return err
	}
	if p.Interactive() && o != process.AsJSON {
		if err := signIn(ctx, p, &c); err != nil {
			return err
		}
		if err := draw(ctx, p, face(p, c)); err != nil && !interrupted(ctx, err) {
			return err
		}
		return nil
	}
	h, err := commandCentre(p, c)
	if err != nil {
		return err
	}
	answers := rightNow(ctx, p, c)
	if o == process.AsJSON {
		return process.PrintJSON(p.Stdout, centreDoc(h, answers))
	}
	fmt.Fprintln(p.Stdout, "Open incidents:")
	open := 0
	for _, i := range h.Incidents {
		if i.Outcome == "" {
			open++
			fmt.Fprintf(p.Stdout, "  %s  %s  in %s  %s\n", process.Safe(i.ID), i.Severity, i.Phase, process.Safe(i.Title))
		}
	}
	if open == 0 {
		fmt.Fprintln(p.Stdout, "  none")
	}
	fmt.Fprintln(p.Stdout, "Carried debts:")
	for _, d := range h.Debts {
		due := ""
		if d.Overdue {
			due = ", overdue"
		}
		fmt.Fprintf(p.Stdout, "  %s: %s (%s, until %s%s)\n", process.Safe(d.Incident), process.Safe(d.Text), process.Safe(d.Owner), process.Safe(d.Until), due)
	}
	if len(h.Debts) == 0 {
		fmt.Fprintln(p.Stdout, "  none")
	}
	printCentre(p, answers)
	fmt.Fprintln(p.Stderr, "In a terminal, handrail opens here. Else: match, start RUNBOOK --plain, run, resume; see `handrail --help`.")
	return nil
}

// face is what the terminal UI needs of the rest of the program.
func face(p *process.Program, c session.Config) tui.Config {
	f := tui.Config{
		Home:   func(context.Context) (tui.Home, error) { return commandCentre(p, c) },
		Centre: func(ctx context.Context, tell func(steps.Answer)) { readCentre(ctx, p, c, tell) },
		Start: func(ctx context.Context, runbook string, given map[string]string) (tui.Incident, error) {
			rb, err := settings.Runbook(p, runbook)
			if err != nil {
				return nil, err
			}
			params, err := rb.Bind(given)
			if err != nil {
				return nil, err
			}
			return opened(session.Start(ctx, c, session.Begin{Runbook: rb, Params: params}))
		},
		Resume: func(ctx context.Context, id, why string) (tui.Incident, error) {
			path, err := bundle.Find(p, id)
			if err != nil {
				return nil, err
			}
			inside := *p
			inside.Drawing = true
			w, err := worldOf(ctx, &inside, path)
			if err != nil {
				return nil, err
			}
			w.config.Takeover = why
			s, err := w.resume(ctx, path)
			if errors.Is(err, disk.ErrLocked) { // another handrail has it: look on
				tape, err := session.Follow(path, bundle.Reading(p))
				if err := errors.Join(err, w.close()); err != nil {
					return nil, err
				}
				return tape, nil
			}
			if err != nil {
				return nil, errors.Join(err, w.close())
			}
			if w.drill == nil {
				return s, nil
			}
			return &practised{s, p, w}, nil
		},
		Debrief: func(ctx context.Context, inc tui.Incident) (*debrief.Drill, error) {
			if x, ok := inc.(*practised); ok {
				return x.world.debriefing(ctx, x.Session)
			}
			return nil, nil
		},
		Status:  report.Status,
		Save:    func(ctx context.Context, name string, r io.Reader) (string, error) { return saveNew(ctx, p, name, r) },
		Report:  func(ctx context.Context, path string) ([]byte, error) { return bundle.ReportNow(ctx, p, path) },
		Sealing: func(ctx context.Context) (tui.Sealing, error) { return bundle.Sealing(ctx, p) },
		Seal: func(ctx context.Context, order tui.SealOrder, tell func(string)) (tui.Sealed, error) {
			return bundle.SealFor(ctx, p, order, tell)
		},
		Drill: func(ctx context.Context, b string, c string, d func(string)) (tui.Incident, error) {
			return openDrill(ctx, p, b, c, d)
		}, Scrub: p.ScrubText,
		Params: func(id string) []steps.Field {
			rb, err := settings.Runbook(p, id)
			if err != nil {
				return nil
			}
			return rb.Params
		},
	}
	recognising(p, &f)
	return f
}

// recognising gives the screens what knows an error or a symptom.
func recognising(p *process.Program, f *tui.Config) {
	f.Match = func(text string) []tui.Hit {
		lib, err := settings.Library(p)
		if err != nil {
			return nil
		}
		return faced(lib, runbooks.Match(lib, text))
	}
	f.Symptoms = func() []tui.Symptom {
		lib, err := settings.Library(p)
		if err != nil {
			return nil
		}
		var out []tui.Symptom
		for _, s := range runbooks.Symptoms(lib) {
			out = append(out, tui.Symptom{Text: s.Text})
		}
		return out
	}
	f.BySymptoms = func(picked []string) []tui.Hit {
		lib, err := settings.Library(p)
		if err != nil {
			return nil
		}
		return faced(lib, runbooks.MatchSymptoms(lib, picked))
	}
	f.Alike = func(text string) []tui.Alike {
		list, err := alike(p, text)
		if err != nil {
			return nil
		}
		return list
	}
}

// faced are hits as the screens have them.
func faced(lib []*runbooks.Runbook, hits []runbooks.Hit) []tui.Hit {
	var out []tui.Hit
	for _, h := range hits {
		out = append(out, tui.Hit{Runbook: h.Runbook, Title: h.Title, Line: h.Line, Pattern: h.Pattern, Score: h.Score, Params: spoken(lib, h)})
	}
	return out
}

// spoken are the parameters of a runbook that the text which it recognises names,
// as far as they can be values of them.
func spoken(lib []*runbooks.Runbook, h runbooks.Hit) map[string]string {
	out := map[string]string{}
	for _, rb := range lib {
		if rb.ID != h.Runbook {
			continue
		}
		for _, f := range rb.Params {
			if v, ok := h.Groups[f.Name]; ok {
				if _, err := steps.ParseValue(f.Type, v); err == nil {
					out[f.Name] = v
				}
			}
		}
	}
	return out
}

// opened keeps a nil session from becoming an incident that is not nil.
func opened(s *session.Session, err error) (tui.Incident, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// commandCentre gathers what is on this machine; it asks no network.
func commandCentre(p *process.Program, c session.Config) (tui.Home, error) {
	var h tui.Home
	rows, err := bundle.Rows(p)
	if err != nil {
		return h, err
	}
	today := p.Now().Format(time.DateOnly)
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
	if h.Drills, err = drillRows(p); err != nil {
		return h, err
	}
	lib, err := settings.Library(p)
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
