package screen

import (
	"context"

	"handrail/session/view"
	"handrail/triage"
)

// Request is what a screen asks of the program: to show another screen, or to do
// what is not for one screen alone.
type Request interface{ request() }

type (
	// OpenGate shows a gate and asks for its preview, unless it is armed already, or
	// is only looked at.
	OpenGate struct {
		Step string
		Look bool
	}
	// Preview asks for the preview of a gate, with the reason that a wider pause
	// costs.
	Preview struct{ Step, Why string }
	// GoTo brings a step to the front, and puts the gate away.
	GoTo struct{ Step string }
	// CloseGate puts the gate away; what it is armed for stays as it is.
	CloseGate struct{}
	// ShowOutput shows what the step in front prints, or the raw artifact of its
	// newest result.
	ShowOutput struct{}
	// CopyRequest hands what a gate asks of a second person to the clipboard.
	CopyRequest struct{}
	// Open shows a screen as it comes to the front.
	Open struct{ Screen ID }
	// OpenEntry shows an entry with its raw artifacts: with the whole screen, or as
	// one that was opened from its step, where esc leads back to.
	OpenEntry struct {
		Seq          int64
		Full, Direct bool
	}
	// OpenOutput shows what a running step prints.
	OpenOutput struct{ Of view.Running }
	// OpenReport shows the report as it would be now.
	OpenReport struct{}
	// OpenSeal shows the seal of the incident, or says why it cannot be sealed.
	OpenSeal struct{}
	// OpenHelp shows the keys.
	OpenHelp struct{}
	// Match ranks the runbooks for a text, besides what was pasted before.
	Match struct{ Text string }
	// TakeApproval takes what was pasted while a gate waits behind another screen.
	TakeApproval struct{ Text string }
	// Start opens an incident with a runbook. Its parameters are asked for where one
	// must be given, where one was found that was not seen yet, or where they should be
	// looked at.
	Start struct {
		Runbook    string
		Given      map[string]string
		Look, Seen bool
		Text       string // that was pasted: it is kept, and is the log where [triage.Pasted] stands for it

		Continues *Continued // the closed incident that it continues, nil for none
	}
	// Resume opens an incident that is there already.
	Resume struct{ ID string }
	// Practise starts a drill.
	Practise struct{ Drill, Variant string }
	// Enter shows an incident that was opened.
	Enter struct {
		Incident Incident
		Read     bool // a person agreed to what it is about: the first reads begin
	}
	// Quit ends the program.
	Quit struct{}
	// Leave leaves the incident, which stays open.
	Leave struct{}
)

// Continued is a closed incident that goes on in a new one, and what the new one
// begins with.
type Continued struct {
	From     Incident
	ID       string
	Severity triage.Severity
	Notes    []string
	Gone     bool // its bundle was let go, and takes no note
}

// Link records in each of the two that the other one is there.
func (c *Continued) Link(ctx context.Context, next Incident) error {
	for _, n := range c.Notes {
		if err := next.Do(ctx, triage.Intent{Kind: triage.DoNote, Text: n}); err != nil {
			return err
		}
	}
	s := next.Snapshot().State
	if s.Severity != c.Severity {
		if err := next.Do(ctx, triage.Intent{Kind: triage.DoSeverity, Severity: c.Severity, Text: "as in " + c.ID}); err != nil {
			return err
		}
	}
	if c.Gone {
		return nil
	}
	return c.From.Do(ctx, triage.Intent{Kind: triage.DoNote, Text: "Continued in " + s.Incident})
}

func (OpenGate) request()     {}
func (Preview) request()      {}
func (GoTo) request()         {}
func (CloseGate) request()    {}
func (ShowOutput) request()   {}
func (CopyRequest) request()  {}
func (Open) request()         {}
func (OpenEntry) request()    {}
func (OpenOutput) request()   {}
func (OpenReport) request()   {}
func (OpenSeal) request()     {}
func (OpenHelp) request()     {}
func (Match) request()        {}
func (TakeApproval) request() {}
func (Start) request()        {}
func (Resume) request()       {}
func (Practise) request()     {}
func (Enter) request()        {}
func (Quit) request()         {}
func (Leave) request()        {}
