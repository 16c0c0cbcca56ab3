package screen

import "handrail/triage"

// didMsg is the answer to an intent.
type Did struct {
	In  triage.Intent
	Err error
}

// releasedMsg says that the incident that was shown has been let go.
type Released struct{ Err error }

// didAllMsg are the answers to intents that were asked for together.
type DidAll []Did
