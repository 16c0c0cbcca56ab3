// Package allowlist reads the file in which a team says what it can account for
// among all that may write to a cluster unasked, and writes the proposal that a
// person turns into such a file.
//
//	apiVersion: handrail/v1
//	kind: AllowList
//	clusters:
//	  production: 0d0c6e2a-5a3f-4f51-b6f0-2f0c2a3b9a11   # UID of namespace kube-system
//	entries:
//	- category: cronjobs
//	  cluster: production
//	  namespace: billing
//	  name: cronjob/nightly-invoice
//	  digest: 3fa9c1d2e4b56a70
//	  accounts: team billing, by its release of 3 May
//	  until: 2027-01-31
//
// An entry holds for one content: the digest is of what matters in it, and an
// object that was changed since is not accounted for. namespace "*" stands for
// every namespace, and node "*" for every node, with that same content. Nothing
// else is a pattern. An entry says who accounts for it and until when; the day
// itself still counts.
package allowlist

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// The categories, in the order in which they are told.
const (
	CronJobs        = "cronjobs"
	Webhooks        = "webhooks"
	Policies        = "policies"
	Workloads       = "workloads"
	Accounts        = "accounts"
	Finalizers      = "finalizers"
	PodSecurity     = "pod_security"
	GitOps          = "gitops"
	HostAccess      = "host_access"
	APIServices     = "apiservices"
	NetworkPolicies = "network_policies"
	NodeWriters     = "node_writers"
)

// Categories returns all categories in order.
func Categories() []string {
	return []string{CronJobs, Webhooks, Policies, Workloads, Accounts, Finalizers, PodSecurity, GitOps, HostAccess, APIServices, NetworkPolicies, NodeWriters}
}

// Any stands for every namespace or node of one content.
const Any = "*"

// Thing is something that was found, as an entry names it.
type Thing struct {
	Category  string
	Namespace string // "" for what has none
	Node      string // "" for what is in the cluster
	Name      string // kind/name
	Digest    string
}

// Entry is what is accounted for.
type Entry struct {
	Thing
	Cluster  string // UID of namespace kube-system
	Accounts string // who, and on what ground
	Until    time.Time
	Line     int
}

// List is an allow-list that was read whole.
type List struct {
	Entries []Entry
	Names   map[string]string // cluster name to UID
}

// State says whether a thing is accounted for.
type State string

// The states of a thing. Changed is one that was accounted for with another
// content, expired one whose time is over.
const (
	Accounted   State = "accounted"
	Unaccounted State = "unaccounted"
	Changed     State = "changed"
	Expired     State = "expired"
)

// Verdict is what a list says of a thing.
type Verdict struct {
	State State
	By    Entry // where it is or was accounted for
}

// Index finds the entries of one cluster.
type Index struct {
	at   map[Thing][]Entry // keyed without digest
	used map[int]bool      // lines
	all  []Entry
	now  time.Time
}

// For returns the entries of l that are about the cluster with that UID. An
// unknown cluster, "", has none.
func (l List) For(cluster string, now time.Time) *Index {
	x := &Index{at: map[Thing][]Entry{}, used: map[int]bool{}, now: now}
	for _, e := range l.Entries {
		if cluster != "" && e.Cluster == cluster {
			x.all = append(x.all, e)
			x.at[e.key()] = append(x.at[e.key()], e)
		}
	}
	return x
}

func (t Thing) key() Thing { t.Digest = ""; return t }

// Judge says whether t is accounted for now.
func (x *Index) Judge(t Thing) Verdict {
	best := Verdict{State: Unaccounted}
	rank := []State{Unaccounted, Changed, Expired, Accounted}
	for _, key := range t.keys() {
		for _, e := range x.at[key] {
			v := Verdict{State: Accounted, By: e}
			switch {
			case e.Digest != t.Digest && key != t.key():
				continue // a pattern is about its own content only
			case e.Digest != t.Digest:
				v.State = Changed
			case x.now.After(e.Until.AddDate(0, 0, 1)):
				v.State = Expired
			}
			x.used[e.Line] = true
			if slices.Index(rank, v.State) > slices.Index(rank, best.State) {
				best = v
			}
		}
	}
	return best
}

// keys are the entries that could be about t.
func (t Thing) keys() []Thing {
	own := t.key()
	keys := []Thing{own}
	if own.Namespace != "" {
		any := own
		any.Namespace = Any
		keys = append(keys, any)
	}
	if own.Node != "" {
		any := own
		any.Node = Any
		keys = append(keys, any)
	}
	return keys
}

// Unused returns the entries that were about nothing that was judged: what they
// account for is gone, or bears another name.
func (x *Index) Unused() []Entry {
	var out []Entry
	for _, e := range x.all {
		if !x.used[e.Line] {
			out = append(out, e)
		}
	}
	return out
}

// Sum is the digest of what matters in a thing: 16 hexadecimal digits over its
// JSON, whose keys are sorted.
func Sum(matters any) (string, error) {
	raw, err := json.Marshal(matters)
	if err != nil {
		return "", fmt.Errorf("digest of what matters: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{16}$`)
