package screen

import (
	"handrail/triage"
	"handrail/tui/form"
)

// Answer is the answer to an intent. From is the sheet whose words it carried, nil
// for none: refused, it comes back with all that was typed.
type Answer struct {
	In   triage.Intent
	Err  error
	From *form.Form
}

// ReleaseMsg says that the incident that was shown has been let go.
type ReleaseMsg struct{ Err error }

// Answers are the answers to intents that were asked for together.
type Answers []Answer

// Another says that another incident is shown from now on: what a screen knows of
// the one before is to be forgotten. Every screen hears it.
type Another struct{}
