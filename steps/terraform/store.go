package terraform

import (
	"context"
	"fmt"
	"io"
	"time"

	"handrail/steps"
)

// store reads the lock and the state of one workspace natively: no program
// runs, nothing is created, no lock is taken.
type store interface {
	lock(ctx context.Context) (lockRead, error)
	state(ctx context.Context) (stateRead, error)
	// cluster returns the server and the UID of kube-system, "" for a backend
	// without a cluster; uid says why where it could not be read.
	cluster(ctx context.Context) (server, uid string, err error)
	name() string
	// command returns the native reads as a person would type them.
	command(what string) string
}

// stateRead is where the raw state can be read, when there is one.
type stateRead struct {
	exists  bool
	body    io.ReadSeekCloser // nil unless exists
	broken  string            // why the raw bytes could not be had although the object is there
	written time.Time
	where   string
}

// openStore picks the native reader of w's backend.
func openStore(env steps.Env, w workdir, out steps.Sink) (store, error) {
	switch w.backend {
	case "local":
		return newLocal(env, w)
	case "kubernetes":
		return newKubernetes(env, w, out)
	}
	return nil, fmt.Errorf("backend %q of %s: handrail reads locks and states of the backends local and kubernetes only; look at the lock with the tools of that backend, and do not unlock before its holder is known to be dead", w.backend, w.dir)
}

// open finds the directory that the parameters name and the store of its state.
func open(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (workdir, store, error) {
	if err := ctx.Err(); err != nil {
		return workdir{}, nil, err
	}
	w, err := openWorkdir(env, in)
	if err != nil {
		return w, nil, err
	}
	s, err := openStore(env, w, out)
	return w, s, err
}
