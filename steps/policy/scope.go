package policy

import (
	"regexp"
	"slices"
	"strings"
)

// instance is the index of one instance of a resource, up to its bracket.
var instance = regexp.MustCompile(`^(?:\d+|"(?:[^"\\]|\\.)*")\]$`)

// covers says whether a scope of an exception holds for a resource: the same text, or the same up to a * at the end that follows a
// dot, a slash or a bracket. Part of a name is no scope: admin does not cover admin_role, nor does admin*.
func covers(scope, resource string) bool {
	if resource == "" || scopeFault(scope) != "" {
		return false
	}
	if scope == resource {
		return true
	}
	if slices.Contains(strings.Split(resource, "/"), "..") {
		return false // it leads elsewhere than it begins
	}
	if before, ok := strings.CutSuffix(scope, "[*]"); ok {
		rest, ok := strings.CutPrefix(resource, before+"[")
		return ok && instance.MatchString(rest)
	}
	before, ok := strings.CutSuffix(scope, "*")
	rest, is := strings.CutPrefix(resource, before)
	return ok && is && rest != ""
}

// scopeFault says what a scope lacks, "" for nothing.
func scopeFault(scope string) string {
	scope = strings.TrimSpace(scope)
	if scope == "" {
		return "scope"
	}
	body := scope
	switch {
	case strings.Trim(scope, "*./[]") == "":
		return "a scope that bounds it (it is " + scope[:min(len(scope), 8)] + ")"
	case strings.HasSuffix(scope, "[*]"):
		body = strings.TrimSuffix(scope, "[*]")
	case strings.HasSuffix(scope, ".*") || strings.HasSuffix(scope, "/*") || strings.HasSuffix(scope, "[*"):
		body = strings.TrimSuffix(scope, "*")
	}
	if strings.Contains(body, "*") {
		return "a scope whose * follows a dot, a slash or a bracket, at the end"
	}
	return ""
}
