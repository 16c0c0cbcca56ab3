package screen

import "handrail/session"

// Request is what a screen asks of the program: to show another screen, or to do
// what is not for one screen alone.
type Request interface{ request() }

type (
	// OpenGate shows a gate and asks for its preview, unless it is armed already.
	OpenGate struct{ Step string }
	// Preview asks for the preview of a gate, with the reason that a wider pause
	// costs.
	Preview struct{ Step, Why string }
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
	OpenOutput struct{ Of session.Running }
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
	// must be given, or where they should be looked at.
	Start struct {
		Runbook string
		Given   map[string]string
		Look    bool
	}
	// Resume opens an incident that is there already.
	Resume struct{ ID string }
	// Practise starts a drill.
	Practise struct{ Drill, Variant string }
	// Enter shows an incident that was opened.
	Enter struct{ Incident Incident }
	// Quit ends the program.
	Quit struct{}
	// Leave leaves the incident, which stays open.
	Leave struct{}
)

func (OpenGate) request()     {}
func (Preview) request()      {}
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
