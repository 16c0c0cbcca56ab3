package steps

import (
	"context"
	"slices"
	"strings"
)

// ContextParam is the parameter by which every kind that reads a cluster takes
// another context of the operator's kubeconfig.
const ContextParam = "context"

// Cluster is what a context of the operator's kubeconfig leads to.
type Cluster struct {
	Context string // its name, "" where flags alone name the server
	Own     bool   // it is the incident's own
	Server  string // scheme://host:port, with the path prefix of a proxy
	UID     string // of its namespace kube-system, "" where that was not read
	Unread  string // why it was not
	User    string // the entry of the kubeconfig, and whom it acts as
	CA      string // SHA-256 of what vouches for the server, "" where the system does or nothing does
	Way     string // what stands between, as a proxy, "" for nothing
}

// Pin is told what a context leads to before anything else is asked there, and
// refuses it with a [PinError] where the incident knows another cluster by that
// name.
type Pin func(ctx context.Context, c Cluster) error

// PinError says that a context leads elsewhere than it did in this incident.
// Nothing was asked of the other cluster but what it is.
type PinError struct {
	Context string
	Why     string // what it was and what it is
	Cure    string // the next safe move
}

func (e *PinError) Error() string { return e.Why + "; " + e.Cure }

// At is the environment of a step that reads the cluster of another context of
// the same kubeconfig; "" and the name of its own are e itself. What the
// operator's flags say of server and user holds for the own context alone: they
// would lead every other one to the same cluster.
func (e Env) At(name string) Env {
	if name == "" || name == e.Context {
		return e
	}
	e.Context, e.Other = name, true
	e.Kubectl = slices.DeleteFunc(slices.Clone(e.Kubectl), func(f string) bool {
		return !strings.HasPrefix(f, "--request-timeout=") && !strings.HasPrefix(f, "--disable-compression=")
	})
	return e
}
