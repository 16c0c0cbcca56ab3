package session

import (
	"context"
	"io"
	"time"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
)

// Config is what a session needs of the program around it.
type Config struct {
	Dir      string // where bundles live, <state>/incidents
	Keys     string // where redaction keys live
	Acts     string // where running acts are claimed, <state>/acts
	Catalog  steps.Catalog
	Library  func(id string) (*runbooks.Runbook, error)
	Env      steps.Env
	Actor    triage.Person                                // who is at the keyboard, as far as is known at once
	Identify func(context.Context) (triage.Person, error) // asks the API server who acts; nil to leave it
	Here     Gather                                       // looks at this machine; nil to leave it
	Server   Gather                                       // looks at the cluster, once Identify has answered; nil to leave it
	Header   []steps.KV
	Now      func() time.Time
	Rand     io.Reader
	Version  string
	Secrets  []string // values that must not reach the disk
	// Redaction are the team's own rules.
	Redaction []evidence.TeamRule
}

// Begin says what incident to open.
type Begin struct {
	Runbook  *runbooks.Runbook
	Params   steps.Params
	Title    string          // "" for the runbook's
	Severity triage.Severity // "" for the runbook's
	Drill    string          // "" for a real incident
}
