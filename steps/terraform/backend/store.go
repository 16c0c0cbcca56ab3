// Package backend reads the lock and the state of a workspace where its backend
// keeps them. Store is the contract, one type for each backend (local, kubernetes,
// s3, pg, http, consul, gcs, azurerm), and Open picks it by what init saved.
//
// A Store runs no program, takes no lock, and creates nothing: each goes to its
// server through a transport that refuses all but reads, or through a session that
// is read-only. The way of each backend into its server is that of the tools, with
// their settings, variables and precedence; the rules come from the sources of
// OpenTofu and Terraform, and steps/terraform/testdata/locks.txt shows every lock
// that each can have and what is said of it.
//
// What it promises:
//
//   - Unknown is not free. A lock that cannot be read has Unread, a state whose bytes
//     cannot be had has Broken; neither looks like an absent one.
//   - The age of a lock is by the clock of the server. Where that and the holder's
//     clock are further apart than SkewTolerance there is none.
//   - A State can be read twice, and reading fails where the two passes differ.
//   - Sizes are bounded: what a server sends, what it unpacks to, how many versions
//     are listed.
//
// What it never does:
//
//   - lend credentials that the directory does not bring to a server that the
//     directory names by itself or does not want checked, unless a person trusted
//     the directory (Named is what they were shown);
//   - ask an address at which a machine gets its credentials (transport.MetadataError), by
//     whatever name, redirect or proxy;
//   - run a credential program or a plugin that a directory names;
//   - keep a secret: each goes to the sink before it is used.
//
// Repairer is the one way that writes, for the gate that restores a state which no
// program can open. It says first what it would send, and that is held to what was found: by
// a condition that the server checks, or by what is read again under the lock.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// Store reads the lock and the state of one workspace natively: no program
// runs, nothing is created, no lock is taken.
type Store interface {
	Lock(ctx context.Context) (Lock, error)
	State(ctx context.Context) (State, error)
	// Versions lists the writes that can still be read, newest first, at most limit.
	Versions(ctx context.Context, limit int) (VersionList, error)
	// Cluster returns the server and the UID of kube-system, "" for a backend
	// without a cluster; uid says why where it could not be read.
	Cluster(ctx context.Context) (server, uid string, err error)
	Name() string
	// UnlockPolicy says what force-unlock does on this backend.
	UnlockPolicy() UnlockPolicy
	// Command returns the native reads as a person would type them.
	Command(what string) string
}

// errAbsent says that the object is not there.
var errAbsent = errors.New("not found")

// State is where the raw state can be read, when there is one.
type State struct {
	Exists  bool
	Body    io.ReadSeekCloser // nil unless exists
	Broken  string            // why the raw bytes could not be had although the object is there
	Stored  []byte            // what is stored, where it is broken and can be read all the same
	Split   bool              // terraform alone can read it: nothing is broken
	Written time.Time
	Where   string
	Version string // id of this version, "" where the backend has none
	size    int64  // as stored, 0 where it is not known
}

// backendNames are the backends that handrail reads; any other is "other".
func Names() []string {
	return []string{"local", "kubernetes", "s3", "pg", "http", "consul", "gcs", "azurerm", "other"}
}

// Open picks the native reader of w's backend.
func Open(ctx context.Context, env steps.Env, w module.Workdir, out steps.Sink) (Store, error) {
	set := settings{env: env, w: w}
	set.hide(out)
	switch w.Backend {
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
	return nil, fmt.Errorf("handrail does not read the backend %q of %s; look at the lock with the tools of that backend, and do not unlock before its holder is known to be dead", w.Backend, w.Dir)
}

// OpenAt finds the directory that the parameters name and the store of its state.
func OpenAt(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (module.Workdir, Store, error) {
	if err := ctx.Err(); err != nil {
		return module.Workdir{}, nil, err
	}
	w, err := module.Open(env, in)
	if err != nil {
		return w, nil, err
	}
	s, err := Open(ctx, env, w, out)
	return w, s, err
}
