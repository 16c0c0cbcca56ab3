package cloud

import (
	"time"

	"handrail/steps"
)

// leastDelay is what an empty answer of the event history waits for at least.
const leastDelay = 15 * time.Minute

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{writesKind(), databaseKind(), metricKind(), costKind(), tagsKind(), replicationLogKind(), deleteKind()}
}

func writesKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/writes", Class: steps.Probe, Facts: writesFacts(),
		Doc: "Reads which write calls of one role or user the audit log of the cloud has since its run began: asks the event history of AWS CloudTrail, or reads records that were saved from AWS, Google Cloud or Azure. A file proves that a write happened, and never that none did.",
		Params: []steps.Field{
			{Name: "principal", Type: steps.String, Required: true, Pattern: `\S{1,500}`, Doc: "whose calls count: the ARN of the role or user on AWS, the email of the account on Google Cloud, the caller on Azure"},
			{Name: "session", Type: steps.String, Pattern: `[\w+=,.@-]{2,64}`, Doc: "name of the session of the role, where several runs use it"},
			{Name: "since", Type: steps.Time, Required: true, Doc: "when the run began"},
			{Name: "ended", Type: steps.Time, Doc: "when its last line was written; without it, that nothing was written stays unknown"},
			{Name: "regions", Type: steps.String, Pattern: `[a-z0-9-]+([ ,]+[a-z0-9-]+)*`, Doc: "regions that it works in, that of the AWS tools where none is given; the one of global services is always asked"},
			{Name: "delay", Type: steps.Duration, Default: "15m", Doc: "how long the log may take to show a call, at least 15m"},
			{Name: "file", Type: steps.Path, Doc: "saved records; then no server is asked"},
		},
		Touches: []string{"asks AWS for the events of its history and for its own identity, and can ask nothing else; or reads the file", "keeps the records of the principal"},
		Takes:   func(steps.Params) time.Duration { return 3 * time.Minute },
		Reads:   func(e steps.Env) steps.Prober { return writesProbe{env: e} },
	}
}

func writesFacts() []steps.Field {
	return []steps.Field{
		{Name: "mutated", Type: steps.Enum, Values: []string{"seen", "none"}, Doc: "whether a write of the principal is recorded; none only where the log was read whole and its delay has passed, see docs/cloud.md"},
		{Name: "writes", Type: steps.Int, Doc: "calls that write and ended without an error; unknown where not all was read"},
		{Name: "at_least", Type: steps.Int, Doc: "the same, of what was read"},
		{Name: "refused", Type: steps.Int, Doc: "its calls that ended with an error, which wrote nothing"},
		{Name: "throttled", Type: steps.Int, Doc: "those of them that were refused for their rate"},
		{Name: "calls", Type: steps.Strings, Doc: "the writes, oldest first, at most 50: time, service, call, objects, event id"},
		{Name: "resources", Type: steps.Strings, Doc: "objects that the writes name, at most 100"},
		{Name: "sessions", Type: steps.Table, Doc: "each session of the role to its writes"},
		{Name: "first", Type: steps.Time, Doc: "time of the first write"},
		{Name: "last", Type: steps.Time, Doc: "time of the last write"},
		{Name: "account", Type: steps.String, Doc: "account that was asked"},
		{Name: "regions", Type: steps.Strings, Doc: "regions that were read to their end"},
		{Name: "counts_at", Type: steps.Time, Doc: "when an empty answer counts: the end of the run and the delay"},
	}
}
