package session

import (
	"context"
	"io"
	"time"

	"handrail/evidence/redact"
	"handrail/runbooks"
	"handrail/session/claim"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// Config is what a session needs of the program around it.
type Config struct {
	Dir      string // where bundles live, <state>/incidents
	Keys     string // where redaction keys live
	Takeover string // why another than the last operator goes on; asked for by Resume where that is so
	Acts     string // where running acts are claimed, <state>/acts
	Undo     string // where what acts are undone from is kept encrypted, <state>/undo
	// Execute starts a process of its own that carries out an order with [Carry] in the
	// world of env, which is Env, and outlives this one; ended is closed with it. nil carries orders out in this process,
	// which ends with it: for tests and drills that walk headless, not for people.
	Execute  func(env steps.Env, o Order) (ended <-chan struct{}, err error)
	Catalog  steps.Catalog
	Library  func(id string) (*runbooks.Runbook, error)
	Env      steps.Env
	Actor    triage.Person                                           // who is at the keyboard, as far as is known at once
	Identify func(context.Context, steps.Env) (triage.Person, error) // asks the API server who acts; nil to leave it
	Here     Gather                                                  // looks at this machine; nil to leave it
	Server   Gather                                                  // looks at the cluster, once Identify has answered; nil to leave it
	Header   []steps.KV
	Practice map[string]string // in a drill: by manual step, where a person does what it asks for
	Now      func() time.Time
	Rand     io.Reader
	Version  string
	Secrets  []string // values that must not reach the disk
	// Learned is told each value that turns out to be secret while the session
	// runs, possibly again and again; nil for none.
	Learned func(value string)
	// UndoTo names who may read what acts are undone from, as age recipients. It is
	// asked at each preview, so that one can be named while a gate waits; nil is
	// none. UndoHelp says how to name one.
	UndoTo   func() ([]string, error)
	UndoHelp string
	// Second says whether policy asks for a second person at a gate: nil is no. It is
	// asked at each preview and again before the act. Where it cannot tell, its error
	// refuses the gate. No function asks for no second person.
	Second func(context.Context, policy.Question) (*policy.Pair, error)
	// ReadOnly says why a gate may not be armed whatever the laws say, the zero Closed
	// where it may. It is asked wherever Second is, the last time by the executor of an act.
	ReadOnly func(policy.Question) policy.Closed
	// Rules names the files by which the team rules gates, and what is in them by
	// digest, or that there are none; nil is nothing to record.
	Rules func() []steps.KV
	// Around tells of a directory and a workspace that an incident is about where they
	// are, from the disk alone; nil is nothing.
	Around func(env steps.Env, dir, workspace string) []steps.KV
	// Recipients are who the redaction key is encrypted to at a seal, in age's words; with none it is destroyed.
	Recipients []string
	KeepKey    bool // the redaction key stays where it is at a seal
	// Redaction are the team's own rules.
	Redaction []redact.TeamRule
	// Machine says where this runs; without it no act is ever known not to have begun.
	Machine func() claim.Machine
	// Fragile says what ends an act that the end of its terminal does not, "" for
	// nothing; the gate of a real incident shows it. nil is nothing.
	Fragile func(context.Context) string
}

// Begin says what incident to open.
type Begin struct {
	Runbook  *runbooks.Runbook
	Params   steps.Params
	Title    string          // "" for the runbook's
	Severity triage.Severity // "" for the runbook's
	Drill    string          // "" for a real incident
	Kind     string          // triage.Readiness for a review, "" for an incident
	Parts    []triage.Component
	Pasted   string // the text that it begins with, "" for none
}
