package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"handrail/cli/books"
	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/drills"
	"handrail/evidence/disk"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/debrief"
	"handrail/session/index"
	"handrail/session/policy"
	"handrail/session/replay"
	"handrail/session/report"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/steps/own"
	"handrail/triage"
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
		return process.PrintJSON(p, centreDoc(h, answers))
	}
	fmt.Fprintln(p.Stdout, "Open incidents:")
	open := 0
	for _, i := range h.Incidents {
		if i.Outcome == "" && i.Drill == "" && i.Kind == "" {
			open++
			printOpen(p, i)
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
	practised := false
	for _, i := range h.Incidents {
		if i.Outcome == "" && i.Drill != "" {
			if !practised {
				fmt.Fprintln(p.Stdout, "Drills:")
			}
			practised = true
			printOpen(p, i)
		}
	}
	reviews := false
	for _, i := range h.Incidents {
		if i.Outcome == "" && i.Kind != "" {
			if !reviews {
				fmt.Fprintln(p.Stdout, "Reviews:")
			}
			reviews = true
			printOpen(p, i)
		}
	}
	printCentre(p, answers)
	fmt.Fprintln(p.Stderr, "In a terminal, handrail opens here. Else: match, start RUNBOOK --plain, run, resume; see `handrail --help`.")
	return nil
}

// printOpen prints an incident that can be resumed: what it is, then where and who.
func printOpen(p *process.Program, i tui.IncidentRow) {
	fmt.Fprintf(p.Stdout, "  %s  %s  in %s  %s\n", process.Safe(i.ID), i.Severity, i.Phase, process.Safe(i.Title))
	about := "open for " + p.Now().Sub(i.Opened).Truncate(time.Minute).String()
	for _, part := range []string{i.Who, i.Where} {
		if part != "" {
			about += ", " + process.Safe(part)
		}
	}
	fmt.Fprintf(p.Stdout, "    %s\n", about)
}

// face is what the terminal UI needs of the rest of the program.
func face(p *process.Program, c session.Config) tui.Config {
	f := tui.Config{
		ReadOnly:   c.ReadOnly(policy.Question{}).By,
		Unconfined: !own.Confines(),
		Lacks:      settings.NoRecipient(p),

		Pause:  400 * time.Millisecond,
		Home:   func(context.Context) (tui.Home, error) { return commandCentre(p, c) },
		Centre: func(ctx context.Context, tell func(steps.Answer)) { readCentre(ctx, p, c, tell) },
		Start: func(ctx context.Context, start tui.Start) (tui.Incident, error) {
			rb, err := settings.Runbook(p, start.Runbook)
			if err != nil {
				return nil, err
			}
			params, err := rb.Bind(start.Given)
			if err != nil {
				return nil, err
			}
			return opened(session.Start(ctx, c, session.Begin{Runbook: rb, Params: params, Pasted: start.Text}))
		},
		OpenFor: openFor(p, c, func(id string) (*runbooks.Runbook, error) { b, err := settings.Look(p, id); return b.Runbook, err }),
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
				tape, err := replay.Follow(path, bundle.Reading(p))
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
			return &drillSession{s, p, w}, nil
		},
		Debrief: func(ctx context.Context, inc tui.Incident) (*debrief.Drill, error) {
			if x, ok := inc.(*drillSession); ok {
				return x.world.debriefing(ctx, x.Session)
			}
			return nil, nil
		},
		Story: func(inc tui.Incident) *tui.Story {
			if x, ok := inc.(*drillSession); ok {
				return x.world.story(p.Home())
			}
			return nil
		},
		Status:      report.Status,
		Save:        func(ctx context.Context, name string, r io.Reader) (string, error) { return saveNew(ctx, p, name, r) },
		Report:      func(ctx context.Context, path string) (report.Document, error) { return bundle.ReportNow(ctx, p, path) },
		SealOptions: func(ctx context.Context) (tui.SealOptions, error) { return bundle.SealOptions(ctx, p) },
		Seal: func(ctx context.Context, order tui.SealOrder, tell func(string)) (tui.SealResult, error) {
			return bundle.SealFor(ctx, p, order, tell)
		},
		Drill: func(ctx context.Context, b string, c string, d func(string)) (tui.Incident, error) {
			return openDrill(ctx, p, b, c, d)
		}, Scrub: p.ScrubText,
		Params: paramsOf(p),
	}
	f.Absent = func(path string) string { return absent(p, path) }
	f.Untrusted = func(_ context.Context, runbook string, given map[string]string) (*tui.Untrusted, error) {
		return untrusted(p, runbook, given)
	}
	f.Foreign = func(_ context.Context, runbook string) (*tui.Untrusted, error) { return foreign(p, runbook) }
	f.Trust = func(_ context.Context, of tui.Untrusted) error { return trustShown(p, of) }
	recognising(p, &f)
	return f
}

// absent says why there is no file of this name. It waits a moment at most: of a file that a
// network keeps from being seen nothing is said.
func absent(p *process.Program, path string) string {
	dir, err := p.WorkDir()
	if err != nil {
		return ""
	}
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	seen := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { seen <- err })
		_, err := os.Stat(at)
		seen <- err
	}()
	select {
	case err := <-seen:
		switch {
		case err == nil:
			return ""
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENOTDIR):
			return fmt.Sprintf("there is no file %q", steps.Clip(at, 120))
		}
		return steps.Clip(err.Error(), 120)
	case <-time.After(300 * time.Millisecond):
		return ""
	}
}

// recognising gives the screens what knows an error or a symptom.
func recognising(p *process.Program, f *tui.Config) {
	f.Match = func(text string) []tui.Hit {
		lib, err := settings.Library(p)
		if err != nil {
			return nil
		}
		return faced(lib, runbooks.Match(lib, text), text, pasteOf(text))
	}
	f.Nearest = func(text string) []tui.Hit {
		lib, err := settings.Library(p)
		if err != nil {
			return nil
		}
		return faced(lib, runbooks.Nearest(lib, text, nearest), text, pasteOf(text))
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
		return faced(lib, runbooks.MatchSymptoms(lib, picked), "", "")
	}
	f.Alike = func(text string) []tui.Alike {
		list, err := alike(p, text)
		if err != nil {
			return nil
		}
		return list
	}
}

// faced are hits as the screens have them, with what their text and its file say.
func faced(lib []*runbooks.Runbook, hits []runbooks.Hit, text, file string) []tui.Hit {
	var out []tui.Hit
	for _, h := range hits {
		out = append(out, tui.Hit{Runbook: h.Runbook, Title: h.Title, Line: h.Line, Pattern: h.Pattern, Score: h.Score, Params: spoken(lib, h, text, file)})
	}
	return out
}

// pasteOf is what stands for a text as a log: one of several lines that is no notification.
func pasteOf(text string) string {
	if _, alerts := runbooks.Alerts(text); alerts || !strings.Contains(strings.TrimSpace(text), "\n") {
		return ""
	}
	return triage.Pasted
}

// spoken are the parameters of a runbook that the text which it recognises names, and
// the log where the text is one of a file, or was pasted: what is told in words is none, and
// what a runbook reads of another run than the one that failed is not that text.
func spoken(lib []*runbooks.Runbook, h runbooks.Hit, text, file string) map[string]string {
	i := slices.IndexFunc(lib, func(rb *runbooks.Runbook) bool { return rb.ID == h.Runbook })
	if i < 0 {
		return nil
	}
	out := lib[i].Found(text, h.Groups)
	log := slices.IndexFunc(lib[i].Params, func(f steps.Field) bool { return f.Matched })
	if file == "" || log < 0 {
		return out
	}
	switch name := lib[i].Params[log].Name; {
	case file != triage.Pasted:
		out[name] = absolute(file)
	case h.Pattern != "" && out[name] == "": // the file that it names is more than what was copied of it
		out[name] = triage.Pasted
	}
	return out
}

// absolute is a path that means the same file in any directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// opened keeps a nil session from becoming an incident that is not nil.
func opened(s *session.Session, err error) (tui.Incident, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// stoppedDrills tells of an incident whether it is that of a drill that was stopped:
// what it was about is gone, so that it cannot be resumed.
func stoppedDrills(p *process.Program) (func(index.Row) bool, error) {
	state, err := p.StateDir()
	if err != nil {
		return nil, err
	}
	active, err := drills.ListActive(state)
	if err != nil {
		return nil, err
	}
	return func(r index.Row) bool {
		goesOn := func(a drills.Active) bool {
			return a.ID == r.Drill && (a.Bundle == "" || filepath.Base(a.Bundle) == filepath.Base(r.Path))
		}
		return r.Drill != "" && !slices.ContainsFunc(active, goesOn)
	}, nil
}

// commandCentre gathers what is on this machine; it asks no network.
func commandCentre(p *process.Program, c session.Config) (tui.Home, error) {
	var h tui.Home
	rows, err := bundle.Rows(p)
	if err != nil {
		return h, err
	}
	over, err := stoppedDrills(p)
	if err != nil {
		return h, err
	}
	today := p.Now().Format(time.DateOnly)
	for _, r := range rows {
		if r.Outcome == "" && over(r) {
			continue
		}
		h.Incidents = append(h.Incidents, incidentRow(r))
		for _, d := range r.Debts {
			if d.Settled.How == "carried" && r.Drill == "" { // what a drill owes goes with its lab
				h.Debts = append(h.Debts, tui.DebtRow{Incident: r.ID, Text: d.Text, Owner: d.Settled.Owner,
					Until: d.Settled.Until, Overdue: d.Settled.Until < today})
			}
		}
	}
	if h.Drills, err = drillRows(p); err != nil {
		return h, err
	}
	shelf, err := settings.ShelfOf(p)
	if err != nil {
		return h, err
	}
	for _, b := range shelf.Books {
		row := tui.RunbookRow{ID: shelf.Name(b), Title: b.Title, Severity: string(b.Severity), Domain: b.Domain}
		if b.Origin != settings.OfHandrail {
			row.From = books.From(p, b)
		}
		h.Runbooks = append(h.Runbooks, row)
	}
	for _, b := range shelf.Bad { // to begin with it says what is wrong
		h.Runbooks = append(h.Runbooks, tui.RunbookRow{ID: b.ID, Title: "cannot be used as it is", From: string(b.Origin)})
	}
	if cluster := steps.Find(c.Header, "cluster"); cluster != "none" {
		h.Cluster = cluster
	}
	return h, nil
}
