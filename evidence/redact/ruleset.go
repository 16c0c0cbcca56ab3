package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// rulesetVersion changes with any change of what is redacted that the tables below do not show.
const rulesetVersion = "handrail-rules-4"

// ruleset is an automaton over cheap literals and, for each literal, the rule that decides at its place.
type ruleset struct {
	auto   *automaton
	match  []func(place) (hit, bool)
	digest string
}

// assigned are the literals in the names of settings that hold secrets.
var assigned = [...]string{"pass", "pwd", "bindpw", "rootpw", "_pw", "-pw", ".pw", "psk", "secret", "token", "key", "credential", "dockerc",
	"client-certificate-data", "auth\"", "auth\\", "auth'", "auth=", "auth:", "auth =", "_auth", "-auth", ".auth", "_pat", "-pat", ".pat", "pspat", "extpat", "hubpat", "encrypt\"", "encrypt =",
	"masterauth", "registryauth", "last-applied-configuration"}

// builtIn is the ruleset without rules of a team. Every redactor shares it: a ruleset never changes.
var builtIn = sync.OnceValues(func() (*ruleset, error) { return compose(nil) })

func newRuleset(team []TeamRule) (*ruleset, error) {
	if len(team) == 0 {
		return builtIn()
	}
	return compose(team)
}

// compose makes a ruleset of the built-in rules and those of a team.
func compose(team []TeamRule) (*ruleset, error) {
	s := &ruleset{}
	var literals []string
	digest := sha256.New()
	_, _ = io.WriteString(digest, rulesetVersion) // a hash takes all
	add := func(match func(place) (hit, bool), lits ...string) {
		for _, l := range lits {
			literals = append(literals, l)
			s.match = append(s.match, match)
			fmt.Fprintf(digest, "\x00%s", l)
		}
	}
	add(ownToken, TokenOpen)
	add(privateKey, "-----begin")
	add(puttyKey, "private-lines:")
	for _, sh := range shapes {
		re := sync.OnceValue(sh.compile) // most are never needed
		fmt.Fprintf(digest, "\x00%q %q %t", sh.tail, sh.kind, sh.whole)
		add(func(p place) (hit, bool) { return shape(p, re(), sh.kind, sh.whole) }, strings.ToLower(sh.literal))
	}
	for i, t := range team {
		rule, err := t.compile()
		if err != nil {
			return nil, &TeamRuleError{Index: i, Err: err}
		}
		fmt.Fprintf(digest, "\x00team %q %q", t.Kind, t.Expr)
		add(rule, strings.ToLower(t.Literal))
	}
	add(terraformCloud, ".atlasv1.")
	add(azureSecret, "q~")
	add(telegram, ":aa")
	add(newBearer(), "bearer ")
	add(newAuthorization(), "authorization", "cookie")
	add(userinfo, "://")
	add(dsn, "@tcp(", "@unix(")
	add(query, "sig=", "key=", "x-amz-", "signature=", "code=")
	for _, c := range commands {
		re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A` + c.expr) })
		fmt.Fprintf(digest, "\x00%q", c.expr)
		add(func(p place) (hit, bool) { return command(p, re(), c.needs) }, c.literal)
	}
	add(yamlSecret, "data:")
	add(jsonSecret, `data":`)
	add(escapedSecret, `data\":`, `data\\\":`, `data\\\\\\\":`)
	add(assignment, assigned[:]...)
	add(wide, "\x00")
	add(escaped, `\u00`, `\/`, `\n`)
	add(percent, "%2", "%3", "%0a", "%40", "%5", "%7", "+private+key", "bearer+", "machine+", "password+", "pass+", "passphrase+", "pw+", "key+", "token+", "secret+", "pat+", "auth+", "base+", "-p+", "+on+%3e")
	s.auto = newAutomaton(literals)
	s.digest = hex.EncodeToString(digest.Sum(nil))
	return s, nil
}
