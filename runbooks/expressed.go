package runbooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/steps/strict"
)

// celMessage says in words of a runbook what CEL said of an expression, and what to write
// instead.
func celMessage(src, msg string, s *scope) (text, hint string) {
	msg, _, _ = strings.Cut(msg, "\n")
	msg = strings.TrimSuffix(msg, " (in container '')")
	if m := mixed.FindStringSubmatch(msg); m != nil {
		return mixedTypes(m[1], m[2], m[3])
	}
	if m := notBool.FindStringSubmatch(msg); m != nil {
		return m[1] + " where true or false must stand", "compare it with something"
	}
	if strings.HasPrefix(msg, "Syntax error: ") {
		return syntaxOf(src, msg)
	}
	name, ok := strings.CutPrefix(msg, "undeclared reference to '")
	if !ok {
		return msg, "see github.com/google/cel-spec for the language"
	}
	name, _, _ = strings.Cut(name, "'")
	if slices.Contains([]string{"facts", "answers", "params"}, strings.SplitN(name, ".", 2)[0]) {
		if strings.Count(name, ".") == 0 || name == "facts" {
			return "there is no " + name + " as a whole", "name one: " + name + "…"
		}
		return "nothing here gives " + name, strict.Meant(name, closest(name, s.names))
	}
	return fmt.Sprintf("unknown name %q", name), "facts.<step>.<fact>, answers.<step> or params.<name>"
}

// slips are what authors write who know another language, each with the word of CEL for it.
var slips = []struct {
	in   *regexp.Regexp
	hint string
}{
	{regexp.MustCompile(`\$\{`), "an expression names a fact as it is, without ${ and }"},
	{regexp.MustCompile(`\band\b`), "write && for and"},
	{regexp.MustCompile(`\bor\b`), "write || for or"},
	{regexp.MustCompile(`\bnot\b`), "write ! for not, and the expression in quotes"},
	{regexp.MustCompile(`[^=!<>]=[^=]`), "write == to compare"},
}

// quotedText is a text of CEL, in which none of the slips is one.
var quotedText = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// syntaxOf is what breaks an expression off. CEL lists what it would take instead, which is
// every token that it has.
func syntaxOf(src, msg string) (text, hint string) {
	msg, _, _ = strings.Cut(strings.TrimPrefix(msg, "Syntax error: "), " expecting ")
	bare := quotedText.ReplaceAllString(src, "''")
	for _, slip := range slips {
		if slip.in.MatchString(bare) {
			return msg, slip.hint
		}
	}
	if strings.Contains(msg, "<EOF>") {
		return "it ends too early", "close what is open, and end with a value"
	}
	return msg, "see github.com/google/cel-spec for the language"
}

var notBool = regexp.MustCompile(`^expected type 'bool' but found '([^']+)'$`)

var mixed = regexp.MustCompile(`^found no matching overload for '([^']+)' applied to '\((\S+?)(?:, (\S+))?\)'$`)

// inWords are the types of CEL as runbooks call them, and how a value of one is written.
var inWords = map[string]struct{ name, as string }{
	"int":          {"int", "as in 3, without quotes"},
	"bool":         {"bool", "as it is, or with ! before it"},
	"string":       {"string", "in quotes, as in 'x'"},
	"duration":     {"duration", "as in duration('30m')"},
	"timestamp":    {"time", "as in timestamp('2026-01-05T12:00:00Z')"},
	"list(string)": {"list", "as in 'x' in facts.step.list"},
}

// mixedTypes is an operator between values that it does not take together.
func mixedTypes(op, a, b string) (text, hint string) {
	name := func(t string) string {
		if w, ok := inWords[t]; ok {
			return w.name
		}
		return t
	}
	sign := strings.Trim(op, "_@[]")
	if b == "" {
		return fmt.Sprintf("%s takes no %s", sign, name(a)), "see github.com/google/cel-spec for the language"
	}
	text = fmt.Sprintf("%s takes no %s with %s", sign, name(a), article(name(b)))
	if a != b && a == "string" {
		a = b
	}
	if w, ok := inWords[a]; ok {
		return text, "write the " + w.name + " " + w.as
	}
	return text, "compare two of one type"
}

// closest returns what to offer for an undeclared name: the facts of the same
// step when there are any, else the names in general.
func closest(name string, names []string) []string {
	if i := strings.LastIndex(name, "."); i > 0 {
		var same []string
		for _, n := range names {
			if strings.HasPrefix(n, name[:i+1]) {
				same = append(same, n)
			}
		}
		if len(same) > 0 {
			return same
		}
	}
	if n := strict.Nearest(name, names); n != "" {
		return []string{n}
	}
	return nil
}
