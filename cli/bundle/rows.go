package bundle

import (
	"time"

	"handrail/cli/process"
	"handrail/session/index"
)

// row is the public form of an incident.
type row struct {
	ID       string     `json:"id"`
	Path     string     `json:"path"`
	Runbook  string     `json:"runbook"`
	Severity string     `json:"severity"`
	Outcome  string     `json:"outcome"` // "" while the incident goes on
	Sealed   bool       `json:"sealed"`
	Opened   *time.Time `json:"opened"`
	Closed   *time.Time `json:"closed"`
	Drill    string     `json:"drill,omitempty"`
	Kind     string     `json:"kind,omitempty"`   // readiness, "" for an incident
	Who      string     `json:"who,omitempty"`    // is at the keyboard, or was last
	Where    string     `json:"where,omitempty"`  // the directory or the object that it is about
	Size     int64      `json:"size,omitempty"`   // packed, in a bucket or registry
	Stored   *time.Time `json:"stored,omitempty"` // in a bucket
	Problem  string     `json:"problem,omitempty"`
}

func Rows(p *process.Program) ([]index.Row, error) {
	dir, err := p.Incidents()
	if err != nil {
		return nil, err
	}
	return index.Rows(dir)
}

// noBundles is what a list of none says.
const noBundles = "There are no bundles yet."

func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
