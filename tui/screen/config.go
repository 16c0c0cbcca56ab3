package screen

import (
	"context"
	"io"
	"time"

	"handrail/session/debrief"
	"handrail/session/journal"
	"handrail/session/replay"
	"handrail/session/report"
	"handrail/session/view"
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
	Snapshot() view.Snapshot
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

	ReadOnly string // by what no gate opens in an incident of the place where handrail was started, "" for nothing

	Lacks string // what an incident will need and is not set up here, said when one is entered; "" for nothing

	Unconfined bool // nothing on this machine keeps a program of a runbook from writing

	Home       func(ctx context.Context) (Home, error)
	Centre     func(ctx context.Context, tell func(steps.Answer)) // tells each answer as it comes; nil for none
	Start      func(ctx context.Context, s Start) (Incident, error)
	OpenFor    func(runbook string, params map[string]string) []SameTarget // open incidents about what one of this runbook would be about; nil for none
	Resume     func(ctx context.Context, id, why string) (Incident, error) // the reason for taking over, "" until it is asked for
	Drill      func(ctx context.Context, drill, variant string, progress func(line string)) (Incident, error)
	Match      func(text string) []Hit
	Nearest    func(text string) []Hit     // what a text that none claims comes near to; nil: not known
	Symptoms   func() []Symptom            // what may be picked instead of an error text
	BySymptoms func(picked []string) []Hit // the runbooks that know them, best first
	Alike      func(text string) []Alike   // incidents with the same error; nil for none
	Params     func(runbook string) []steps.Field
	// Absent says why the file that a parameter names cannot be read, "" where it can or that
	// is not known in a moment; nil: not known.
	Absent func(path string) string
	// Untrusted says that a runbook would run programs in a directory which is not
	// trusted; nil where none runs, or all is well. Trust trusts it as it was then, and
	// fails where it changed since.
	Untrusted func(ctx context.Context, runbook string, given map[string]string) (*Untrusted, error)
	Trust     func(ctx context.Context, of Untrusted) error
	// Foreign says of a runbook that does not come with handrail, and is not trusted as it
	// is, what it could do; nil where it may be begun with. Trust trusts it.
	Foreign func(ctx context.Context, runbook string) (*Untrusted, error)

	Status func(st triage.State) string // a short update for the channel, safe to show

	Report func(ctx context.Context, bundle string) (report.Document, error) // of a bundle as it is on the disk; nil for none

	// SealOptions says what sealing would do, and Seal seals the bundle of an incident
	// that is closed and let go. Both may block; nil where nothing can be sealed.
	SealOptions func(ctx context.Context) (SealOptions, error)
	Seal        func(ctx context.Context, order SealOrder, tell func(line string)) (SealResult, error)

	// Debrief judges the drill of an incident that is closed; nil for a real one.
	Debrief func(ctx context.Context, inc Incident) (*debrief.Drill, error)

	// Story tells what a drill is about; nil for a real incident.
	Story func(inc Incident) *Story

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

	Pause time.Duration // how long what came to the front by itself is shown before a key decides there

	Matching bool                // begin with the match
	Begin    *Start              // begin by opening an incident, with the sheet that asks for what it lacks
	Text     string              // an error text to match, shown at once
	Replay   Tape                // show this recorded incident and nothing else
	Open     Incident            // go straight to the run screen of this incident
	NoColor  bool                // draw without colour; symbols and words carry the meaning
	Theme    string              // one of Themes(), "" is auto
	Ground   ink.Ground          // what the environment tells of the background, until the terminal does
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

// Untrusted is a directory in which programs may not run yet, or a runbook that may not be
// begun with yet; Dir is its file then.
type Untrusted struct {
	Runbook     string // as it was named, "" for a directory
	Before      string // which runbooks of the same id it stands before, in words
	Dir, Digest string
	Files       int
	Changed     string // since it was trusted, "" where it never was
	Uses        []Used // what trust would let be used
	Wrong       string // why it cannot be trusted at all; the rest is empty then
}

// Used are things of one sort that a directory names.
type Used struct {
	Title string
	List  []string
	All   bool // none of them may be left out
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
	Where, Who                          string // what it is about, and who is at the keyboard or was last
	Drill, Outcome                      string
	Kind                                string // readiness of a review, "" of an incident
}

// SameTarget is an open incident that is about what a new one would be about.
type SameTarget struct {
	IncidentRow
	What string // what both are about
}

// DebtRow is a debt that was carried out of an incident.
type DebtRow struct {
	Incident, Text, Owner, Until string
	Overdue                      bool
}

// DrillRow is a practice that can be started.
type DrillRow struct {
	ID, Title, Page, Goal, Runbook string
	Needs                          string // what has to be built for it first, "" for nothing
	Variants                       []string
}

// Story is what a drill is about: what happened, what is there to be looked at, and what
// winning takes.
type Story struct {
	Title, Happened, Goal string
	There                 []steps.KV
}

// RunbookRow is a runbook of the library.
type RunbookRow struct {
	ID, Title, Severity, Domain string
	From                        string // whose it is and whether it is trusted, "" for one that comes with handrail
}

// Inks are what c asks to draw with on a background.
func (c Config) Inks(ground ink.Ground) ink.Theme {
	if c.NoColor {
		return ink.Monochrome()
	}
	return ink.NewTheme(c.Theme, ground)
}

// Tape is a recorded incident: its snapshot is that of one entry, and Go goes to
// another. A [replay.Tape] is one. It refuses every intent, and the face asks
// for none. A live one is being written by another handrail; Grow reads what was
// added, and may block.
type Tape interface {
	Incident
	Go(to int)
	Place() (at, last int)
	Now() time.Time
	Wait() time.Duration
	Ends() string
	Recorded() replay.Entry
	Live() bool
	Grow() int
}

// SealOptions is what is known before a seal: who could sign, and what becomes of the
// key that made the tokens of hidden values.
type SealOptions struct {
	Signers    []Signer
	NoSigner   string   // why there is no signer, and how to get a key
	Recipients []string // who that key is encrypted to; with none it is destroyed
	NameOne    string   // how to name a recipient
}

// Signer is a key that could sign.
type Signer struct{ ID, Name string }

// SealOrder says what to seal, and who signs: the ID of a signer, "" for none.
type SealOrder struct{ Bundle, Signer string }

// SealResult is what came of a seal. Where something went wrong after it, Wrong says
// what, and the next safe move.
type SealResult struct {
	Seal      string // the file of its checkpoint
	Entries   int64
	Anchor    string // what to post
	Signature string // "" when it is not signed
	Key       string // destroyed, escrowed or left
	Escrow    string // where an escrowed one is
	Verified  bool
	Failed    []string // properties that do not hold
	Unproven  []string // properties that nothing proves yet
	Wrong     string
}

// Symptom is what an operator sees, in plain words.
type Symptom struct{ Text string }
