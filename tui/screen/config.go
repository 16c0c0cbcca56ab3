package screen

import (
	"context"
	"io"
	"time"

	"handrail/session"
	"handrail/session/debrief"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
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
	// OpenArtifact opens a redacted blob, to be read in windows.
	OpenArtifact(sha string) (journal.Artifact, error)
	// Close cancels probes and lets go of the bundle; an act goes on by itself.
	// The incident stays open.
	Close() error
}

// Config is what the face needs from the rest of the program. Home, Start,
// Resume, Drill, Match, Params and Save may block; they are called beside the event
// loop, and the first frame waits for none of them.
type Config struct {
	Now     func() time.Time
	Version string

	Home       func(ctx context.Context) (Home, error)
	Centre     func(ctx context.Context, tell func(steps.Answer)) // tells each answer as it comes; nil for none
	Start      func(ctx context.Context, runbook string, params map[string]string) (Incident, error)
	Resume     func(ctx context.Context, id, why string) (Incident, error) // why somebody else goes on, "" as long as nobody was asked
	Drill      func(ctx context.Context, drill, variant string, progress func(line string)) (Incident, error)
	Match      func(text string) []Hit
	Symptoms   func() []Symptom            // what may be picked instead of an error text
	BySymptoms func(picked []string) []Hit // the runbooks that know them, best first
	Alike      func(text string) []Alike   // incidents with the same error; nil for none
	Params     func(runbook string) []steps.Field
	Status     func(st triage.State) string // a short update for the channel, safe to show

	Report func(ctx context.Context, bundle string) ([]byte, error) // the Markdown report of a bundle as it is on the disk; nil for none

	// Sealing says what sealing would do, and Seal seals the bundle of an incident
	// that is closed and let go. Both may block; nil where nothing can be sealed.
	Sealing func(ctx context.Context) (Sealing, error)
	Seal    func(ctx context.Context, order SealOrder, tell func(line string)) (Sealed, error)

	// Debrief judges the drill of an incident that is closed; nil for a real one.
	Debrief func(ctx context.Context, inc Incident) (*debrief.Drill, error)

	// Save writes everything of from to a new file, and returns where that is. It
	// overwrites nothing, and leaves nothing behind where it fails; nil where saving
	// is not possible.
	Save func(ctx context.Context, name string, from io.Reader) (path string, err error)

	// Scrub takes the secrets out of what a fault of handrail itself says, before it
	// is shown; nil leaves it as it is.
	Scrub func(string) string

	// Aside carries lines that something wanted to write on the terminal while it
	// is drawn on; nil for none.
	Aside <-chan string

	Matching bool                // begin with the match
	Text     string              // an error text to match, shown at once
	Replay   Tape                // show this recorded incident and nothing else
	Open     Incident            // go straight to the run screen of this incident
	NoColor  bool                // draw without colour; symbols and words carry the meaning
	Theme    string              // one of Themes(), "" is auto
	ASCII    bool                // draw with ASCII only
	Silent   bool                // no bell and no notification
	Places   []Place             // nil: what is usually called production
	Keys     map[string][]string // changes of the key map, which CheckKeys took

	In  io.Reader // nil: the terminal
	Out io.Writer // nil: the terminal
}

// Scrubbed takes the secrets out of a text.
func (c Config) Scrubbed(text string) string {
	if c.Scrub == nil {
		return text
	}
	return c.Scrub(text)
}

// Hit is a runbook that recognises a pasted text.
type Hit struct {
	Runbook string
	Title   string
	Line    string // the line of the text that matched
	Pattern string
	Score   int
	Params  map[string]string // what the text says of the runbook's parameters
}

// Alike is an incident whose evidence has the same error.
type Alike struct {
	ID, Title, Runbook, Outcome string
	Opened                      time.Time
	Line                        string // the error there
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

// Inks are what c asks to draw with on a background.
func (c Config) Inks(dark bool) ink.Theme {
	if c.NoColor {
		return ink.Monochrome()
	}
	return ink.NewTheme(c.Theme, dark)
}

// Tape is a recorded incident: its snapshot is that of one entry, and Go goes to
// another. A [session.Replay] is one. It refuses every intent, and the face asks
// for none. A live one is being written by another handrail; Grow reads what was
// added, and may block.
type Tape interface {
	Incident
	Go(to int)
	Place() (at, last int)
	Now() time.Time
	Wait() time.Duration
	Ends() string
	Recorded() session.Recorded
	Live() bool
	Grow() int
}

// Sealing is what is known before a seal: who could sign, and what becomes of the
// key that made the tokens of hidden values.
type Sealing struct {
	Signers    []Signer
	NoSigner   string   // why nobody could sign, and how to get a key
	Recipients []string // who that key is encrypted to; nobody, and it is destroyed
	NameOne    string   // how to name a recipient
}

// Signer is a key that could sign.
type Signer struct{ ID, Name string }

// SealOrder says what to seal, and who signs: the ID of a signer, "" for nobody.
type SealOrder struct{ Bundle, Signer string }

// Sealed is what came of a seal. Where something went wrong after it, Wrong says
// what, and the next safe move.
type Sealed struct {
	Seal      string // the file of its checkpoint
	Entries   int64
	Anchor    string // what to post
	Signature string // "" when nobody signed
	Key       string // destroyed, escrowed or left
	Escrow    string // where an escrowed one is
	Verified  bool
	Failed    []string // properties that do not hold
	Unproven  []string // properties that nothing proves yet
	Wrong     string
}

// Symptom is what somebody sees, in plain words.
type Symptom struct{ Text string }
