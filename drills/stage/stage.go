package stage

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"handrail/drills/lab"
)

// Marker names the drill in the environment of what it started: a provisioner
// that outlived its tofu is found by it.
const Marker = "HANDRAIL_DRILL="

// Stage is what injection and judging work with: the lab as robot, and the
// directory of one running drill.
type Stage struct {
	Rec   Record
	Home  string // of the drill, holds drill.json
	Tofu  string
	Now   func() time.Time
	Robot *robot   // nil in a drill that needs no cluster
	World *lab.Lab // for what no account of the drill may do: accounts, webhooks, nodes; nil likewise

	Provider func(context.Context) (string, error) // program of the bad provider, built when it is needed
	Bucket   []string                              // command that serves the folder which is appended to it, for a drill with a bucket
	Realm    []string                              // command that serves the folder which is appended to it as an identity realm
	AWS      []string                              // command that serves the folder which is appended to it as a cloud
	Store    []string                              // command that keeps the state in the folder which is appended to it, for one on a server of a backend
	Source   string                                // clone that the servers of that command are built from, "" for the one that is found
	Say      func(format string, args ...any)
}

// Connect makes the client of robot; any cluster but the drill's lab is refused.
func (st *Stage) Connect(ctx context.Context, l *lab.Lab) (err error) {
	st.Robot, err = newRobot(ctx, l, st.Rec.Namespace.RobotKubeconfig, st.Rec.Cluster)
	return err
}

// kubeconfig keeps a drill without a cluster away from every cluster: an empty variable would
// mean the operator's own.
func kubeconfig(path string) string { return cmp.Or(path, os.DevNull) }

// Tool is the lab's tofu, for a drill that has to do with it.
func (st *Stage) Tool(string) (string, error) {
	if st.Tofu == "" {
		return "", errors.New("this drill has no tofu")
	}
	return st.Tofu, nil
}
