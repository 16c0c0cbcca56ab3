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
// their values: parameters, facts, lines of a target, fields of an event.
var keyNames = [...][]string{
	Service:     {"service", "app", "application", "workload", "deployment"},
	Environment: {"environment", "env", "workspace", "stage"},
	Commit:      {"commit", "revision", "git sha", "git head", "head", "target revision", "synced revision"},
	PullRequest: {"pr", "pull request", "merge request", "mr"},
	Run:         {"run", "run id", "run url", "ci run", "job", "job id", "pipeline", "pipeline id", "build", "build id"},
	Actor:       {"actor", "person", "subject", "user", "who", "owner", "holder", "set by", "written by", "last writer", "author"},
	Resource: {"resource", "address", "addresses", "object", "objects", "target", "lock object", "lock id", "name", "names", "resources",
		"started addresses", "completed addresses", "namespace", "uid"},
	Account:   {"account", "account id", "cloud account", "project", "project id", "subscription", "subscription id"},
	Cluster:   {"cluster", "cluster uid", "server", "context"},
	Policy:    {"policy", "policy rule", "rule", "constraint", "hook", "webhook"},
	Exception: {"exception", "exception id", "policy exception", "exemption"},
}

// byName finds the key of a stored name.
func byName() map[string]Key {
	m := map[string]Key{}
	for k, names := range keyNames {
		for _, n := range names {
			m[n] = Key(k)
		}
	}
	return m
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
	return NoKey, fmt.Errorf("%q is no evidence key; the keys are %s", name, strings.Join(all, ", "))
}

// plainName is a stored name as keyNames spells them.
func plainName(name string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(fold(name))
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
