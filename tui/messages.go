package tui

import "handrail/triage"

// didMsg is the answer to an intent.
type didMsg struct {
	in  triage.Intent
	err error
}

// releasedMsg says that the incident that was shown has been let go.
type releasedMsg struct{ err error }

// didAllMsg are the answers to intents that were asked for together.
type didAllMsg []didMsg
