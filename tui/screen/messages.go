package screen

import "handrail/triage"

// Answer is the answer to an intent.
type Answer struct {
	In  triage.Intent
	Err error
}

// ReleaseMsg says that the incident that was shown has been let go.
type ReleaseMsg struct{ Err error }

// Answers are the answers to intents that were asked for together.
type Answers []Answer

// Another says that another incident is shown from now on: what a screen knows of
// the one before is to be forgotten. Every screen hears it.
type Another struct{}
