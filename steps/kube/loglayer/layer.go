// Package loglayer says which layer of a connection a log complains about, by
// its last lines: a program that cannot resolve a name, one that no server
// answers, and one whose password is wrong are three repairs.
package loglayer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Layer is where a connection failed.
type Layer string

// The layers. Other is a log that says something else; None one of a container
// that has nothing to complain about.
const (
	None     Layer = "none"
	Timeout  Layer = "timeout"
	DNS      Layer = "dns"
	Refused  Layer = "refused"
	TLS      Layer = "tls"
	Auth     Layer = "auth"
	NotFound Layer = "not_found"
	Config   Layer = "config"
	Other    Layer = "other"
)

// Layers are the values that a fact may have.
func Layers() []string {
	return []string{string(None), string(Timeout), string(DNS), string(Refused), string(TLS), string(Auth), string(NotFound), string(Config), string(Other)}
}

// deepest is how many lines from the end are looked at; longest how much of one.
const (
	deepest = 60
	longest = 4096
)

// sign is a text that only one layer writes.
type sign struct {
	layer Layer
	text  *regexp.Regexp
}

// signs are tried in order, the most telling first: the line of a name that does
// not resolve often says "dial tcp" and "timeout" too.
var signs = sync.OnceValue(func() []sign {
	return []sign{
		// A vhost, a database or a table that is not there was found out after the
		// credentials were good, whatever word the protocol has for it.
		{NotFound, re(`vhost '?[^ ']+'?:? (?:was )?not found|no such vhost|vhost .* does not exist`)},
		{NotFound, re(`database "[^"]*" does not exist|unknown database|relation "[^"]*" does not exist|no such table|doesn't exist|NoSuchBucket|bucket .* not found|no exchange '|no queue '|unknown topic`)},
		{DNS, re(`no such host|name or service not known|temporary failure in name resolution|name resolution|could not resolve|could not translate host name|nodename nor servname|getaddrinfo|EAI_AGAIN|ENOTFOUND|bad address|unknown host|UnknownHostException|NXDOMAIN|SERVFAIL|server misbehaving|lookup \S+(?: on \S+)?: (?:i/o timeout|no such host)`)},
		{TLS, re(`x509|certificate|tls:|ssl error|ssl_error|sslv3|handshake failure|SSL routines|self[- ]signed|unknown authority|wrong version number|SSL is not enabled on the server|server does not support SSL`)},
		{Auth, re(`ACCESS_REFUSED|access to vhost .* refused|password authentication failed|authentication failed|access denied|invalid password|WRONGPASS|NOAUTH|login failed|invalid credentials|unauthorized|\b401\b|\b403\b|permission denied for|AuthenticationException|no pg_hba.conf entry|role "[^"]*" does not exist|SCRAM|bad credentials|invalid username`)},
		{Refused, re(`connection refused|ECONNREFUSED|actively refused`)},
		{Timeout, re(`i/o timeout|timed? ?out|ETIMEDOUT|deadline exceeded|no route to host|EHOSTUNREACH|network is unreachable|ENETUNREACH|no response from server`)},
		{NotFound, re(`\b404\b|not found|NOT_FOUND|does not exist|no such (?:key|bucket|object|resource|queue|exchange|index)`)},
		{Config, re(`(?:missing|undefined|required|unknown|invalid) (?:environment|env|variable|setting|option|flag|argument|configuration|config)|environment variable .*(?:not set|unset|required|missing)|unbound variable|parameter not set|(?:cannot|could not|unable to|failed to) (?:parse|load|read|open) .*(?:config|\.ya?ml|\.json|\.toml|\.ini|\.conf|\.env)|invalid (?:value|port|url|uri)|must be set|is not set|no such file or directory|permission denied|command not found|executable file not found`)},
	}
})

func re(s string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + s) }

// calm are lines that say that all is well, although they hold a word of a sign.
var calm = re(`^\S*\s*(?:INFO|DEBUG|TRACE)\b.*(?:\bretry|\btimeout[= :]\d)|level=(?:info|debug)\b|"level":"(?:info|debug)"`)

// Of returns the layer that the last telling line complains about, and that
// line. A log without one is Other, with its last line; an empty one has neither.
func Of(lines []string) (Layer, string) {
	last := ""
	seen := 0
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(strings.ToValidUTF8(line[:min(len(line), longest)], ""))
		if line == "" {
			continue
		}
		if last == "" {
			last = line
		}
		if seen++; seen > deepest {
			break
		}
		if calm.MatchString(line) {
			continue
		}
		for _, s := range signs() {
			if s.text.MatchString(line) {
				return s.layer, line
			}
		}
	}
	if last == "" {
		return "", ""
	}
	return Other, last
}
