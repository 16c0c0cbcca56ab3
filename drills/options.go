package drills

import (
	"fmt"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// Options say where drills run and live.
type Options struct {
	Lab      *lab.Lab // nil where the drill needs no cluster
	Tofu     string   // program of a drill that needs none; one with a cluster has the lab's own
	Bucket   []string // command that serves the folder appended to it as the bucket of such a drill
	AWS      []string // command that serves the folder appended to it as the cloud of such a drill
	Realm    []string // command that serves the folder appended to it as the identity realm of such a drill
	Store    []string // command that keeps the state in the folder appended to it, for a scene on another backend
	Source   string   // clone that the servers of that command are built from, "" for the one that is found
	State    string   // state directory of the program; a drill lives in drills/<id> below it
	Vacate   bool     // stopping empties the namespace and leaves it to the end of the lab, as tests do that make hundreds
	Catalog  steps.Catalog
	Now      func() time.Time
	Progress func(text string) // nil for silence
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}
