package screen

import "handrail/triage"

// Did is the answer to an intent.
type Did struct {
	In  triage.Intent
	Err error
}

// Released says that the incident that was shown has been let go.
type Released struct{ Err error }

// DidAll are the answers to intents that were asked for together.
type DidAll []Did
