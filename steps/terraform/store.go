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
	// versions lists the writes that can still be read, newest first, at most limit.
	versions(ctx context.Context, limit int) (versionList, error)
	// cluster returns the server and the UID of kube-system, "" for a backend
	// without a cluster; uid says why where it could not be read.
	cluster(ctx context.Context) (server, uid string, err error)
	name() string
	// unlocking says what force-unlock does on this backend.
	unlocking() unlocking
	// command returns the native reads as a person would type them.
	command(what string) string
}

// stateRead is where the raw state can be read, when there is one.
type stateRead struct {
	exists  bool
	body    io.ReadSeekCloser // nil unless exists
	broken  string            // why the raw bytes could not be had although the object is there
	stored  []byte            // what is stored, where it is broken and can be read all the same
	split   bool              // terraform alone can read it: nothing is broken
	written time.Time
	where   string
	version string // id of this version, "" where the backend has none
	size    int64  // as stored, 0 where it is not known
}

// backendNames are the backends that handrail reads; any other is "other".
func backends() []string {
	return []string{"local", "kubernetes", "s3", "pg", "http", "consul", "gcs", "azurerm", "other"}
}

// openStore picks the native reader of w's backend.
func openStore(ctx context.Context, env steps.Env, w workdir, out steps.Sink) (store, error) {
	set := settings{env: env, w: w}
	set.hide(out)
	switch w.backend {
	case "local":
		return newLocal(env, w), nil
	case "kubernetes":
		return newKubernetes(env, w, out)
	case "s3":
		return newS3(ctx, set, out)
	case "pg":
		return newPG(set, out)
	case "http":
		return newHTTP(set, out)
	case "consul":
		return newConsul(set, out)
	case "gcs":
		return newGCS(ctx, set, out)
	case "azurerm":
		return newAzure(set, out)
	}
	return nil, fmt.Errorf("backend %q of %s is none that handrail reads; look at the lock with the tools of that backend, and do not unlock before its holder is known to be dead", w.backend, w.dir)
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
	s, err := openStore(ctx, env, w, out)
	return w, s, err
}
