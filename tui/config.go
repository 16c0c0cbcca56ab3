package tui

import (
	"context"
	"io"
	"time"

	"handrail/session"
	"handrail/steps"
	"handrail/triage"
)

// Incident is an open incident as the face needs it. A [session.Session] is
// one. All methods may be called from several goroutines.
type Incident interface {
	// Do asks for an intent. It may block until the intent is durable or, for a
	// confirmed gate, until the act ended; it is never called from Update.
	Do(ctx context.Context, in triage.Intent) error
	// Snapshot returns at once with what may be shown.
	Snapshot() session.Snapshot
	// Changed signals that there is a newer snapshot. Signals coalesce.
	Changed() <-chan struct{}
	// Artifact returns the redacted text of a blob.
	Artifact(sha string) (string, error)
	// Close waits for a running act, cancels probes and lets go of the bundle.
	// The incident stays open.
	Close() error
}

// Config is what the face needs from the rest of the program. Home, Start,
// Resume, Drill, Match and Params may block; they are called beside the event
// loop, and the first frame waits for none of them.
type Config struct {
	Now     func() time.Time
	Version string

	Home   func(ctx context.Context) (Home, error)
	Start  func(ctx context.Context, runbook string, params map[string]string) (Incident, error)
	Resume func(ctx context.Context, id string) (Incident, error)
	Drill  func(ctx context.Context, drill, variant string, progress func(line string)) (Incident, error)
	Match  func(text string) []Hit
	Params func(runbook string) []steps.Field

	// Aside carries lines that something wanted to write on the terminal while it
	// is drawn on; nil for none.
	Aside <-chan string

	Replay  Tape     // show this recorded incident and nothing else
	Open    Incident // go straight to the run screen of this incident
	NoColor bool     // draw without colour; symbols and words carry the meaning

	In  io.Reader // nil: the terminal
	Out io.Writer // nil: the terminal
}

// Hit is a runbook that recognises a pasted text.
type Hit struct {
	Runbook string
	Title   string
	Line    string // the line of the text that matched
	Pattern string
	Score   int
}

// Home is what the command centre shows.
type Home struct {
	Incidents []IncidentRow
	Debts     []DebtRow
	Drills    []DrillRow
	Runbooks  []RunbookRow
	Cluster   string // "" when none was found
}

// IncidentRow is an incident on this machine.
type IncidentRow struct {
	ID, Title, Runbook, Severity, Phase string
	Opened                              time.Time
	Drill, Outcome                      string
}

// DebtRow is a debt that was carried out of an incident.
type DebtRow struct {
	Incident, Text, Owner, Until string
	Overdue                      bool
}

// DrillRow is a practice that can be started.
type DrillRow struct {
	ID, Title, Page, Runbook string
	Variants                 []string
}

// RunbookRow is a runbook of the library.
type RunbookRow struct{ ID, Title, Severity, Domain string }
