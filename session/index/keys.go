package index

import (
	"fmt"
	"slices"
	"strings"
)

// Key is one of the eleven evidence query keys.
type Key uint8

// The evidence query keys, in their usual order. NoKey is none of them.
const (
	NoKey Key = iota
	Service
	Environment
	Commit
	PullRequest
	Run
	Actor
	Resource
	Account
	Cluster
	Policy
	Exception
)

// keyNames are the names of the keys, and the names under which journals store
// their values: parameters, facts, lines of a target, fields of an event, what
// env entries tell of the surroundings (git.head, ci.GITHUB_SHA, cluster.uid). A
// name that means a key only in one place is written with that place.
var keyNames = [...][]string{
	Service: {"service", "app", "application", "workload", "deployment", "app.kubernetes.io/name", "app.kubernetes.io/instance",
		"ci.github repository", "ci.ci project path"},
	Environment: {"environment", "env", "workspace", "stage", "terraform.workspace", "ci.ci environment name"},
	Commit:      {"commit", "revision", "git sha", "git head", "head", "target revision", "synced revision", "base commit", "git commit", "git.head", "ci.github sha", "ci.ci commit sha"},
	PullRequest: {"pr", "pull request", "merge request", "mr", "ci.pull request", "ci.ci merge request iid"},
	Run: {"run", "run id", "run url", "ci run", "job", "job id", "pipeline", "pipeline id", "build", "build id", "ci run",
		"ci.github run id", "ci.ci pipeline id", "ci.ci job id"},
	Actor: {"actor", "person", "subject", "user", "who", "owner", "holder", "set by", "written by", "last writer", "author", "owned by", "accounts", "service account",
		"api.user", "host.user", "ci.github actor", "ci.github triggering actor", "ci.gitlab user login"},
	Resource: {"resource", "address", "addresses", "object", "objects", "target", "lock object", "lock id", "name", "names", "resources",
		"started addresses", "completed addresses", "namespace", "uid", "facts.id", "finalizer", "lineage", "terraform.backend"},
	Account:   {"account", "account id", "cloud account", "project", "project id", "subscription", "subscription id"},
	Cluster:   {"cluster", "cluster uid", "server", "context", "cluster.uid", "cluster.server", "cluster.context", "context.name"},
	Policy:    {"policy", "policy rule", "rule", "constraint", "webhook", "webhooks", "held webhook", "policy binding", "admission policy"},
	Exception: {"exception", "exception id", "policy exception", "exemption", "waiver id"},
}

// notKeys are places where such a name means something else: how a hook of a
// chart is deleted, and when it runs.
var notKeys = [...]string{"facts.policy", "facts.hook"}

// byName finds the key of a stored name.
func byName() map[string]Key {
	m := map[string]Key{}
	for k, names := range keyNames {
		for _, n := range names {
			m[n] = Key(k)
		}
	}
	for _, n := range notKeys {
		m[n] = NoKey
	}
	return m
}

// keyAt is the key of a value that stands under a path of names, of which last
// is the last.
func keyAt(path, last string) Key {
	if k, ok := keyOf[plainName(path)]; ok {
		return k
	}
	if k := keyOf[plainName(last)]; k != NoKey {
		return k
	}
	return noted(path, last)
}

// Keys lists the eleven keys.
func Keys() []Key {
	return []Key{Service, Environment, Commit, PullRequest, Run, Actor, Resource, Account, Cluster, Policy, Exception}
}

// String is the name of the key on the command line.
func (k Key) String() string {
	if int(k) < len(keyNames) && k != NoKey {
		return keyNames[k][0]
	}
	return "none"
}

// ParseKey reads the name of a key.
func ParseKey(name string) (Key, error) {
	var all []string
	for _, k := range Keys() {
		if strings.EqualFold(name, k.String()) {
			return k, nil
		}
		all = append(all, k.String())
	}
	return NoKey, fmt.Errorf("%q is not an evidence key; the keys are %s", name, strings.Join(all, ", "))
}

// pattern is the wanted value of a key: equal but for case, where * stands for
// any text.
type pattern []string

func parsePattern(value string) pattern { return strings.Split(fold(value), "*") }

func (p pattern) fits(folded string) bool {
	if len(p) == 1 {
		return folded == p[0]
	}
	rest, ok := strings.CutPrefix(folded, p[0])
	if !ok {
		return false
	}
	last := len(p) - 1
	for _, mid := range p[1:last] {
		i := strings.Index(rest, mid)
		if i < 0 {
			return false
		}
		rest = rest[i+len(mid):]
	}
	return strings.HasSuffix(rest, p[last])
}

func fitsAny(ps []pattern, folded string) bool {
	return slices.ContainsFunc(ps, func(p pattern) bool { return p.fits(folded) })
}
