package redact

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Bounds of a team's rules: a rule is tried wherever its literal stands, so neither may be cheap to hit nor dear to try.
const (
	MaxTeamRules   = 200
	minTeamLiteral = 3
	maxTeamLiteral = 64
	maxTeamExpr    = 1024
	maxTeamRepeat  = 1000
)

// TeamRule is a kind of secret that a team adds: where Literal stands (in any case), the expression Expr must match from
// there on. Expr is RE2 and begins with the literal; its first group is the secret, or all of it when there is no group.
type TeamRule struct{ Kind, Literal, Expr string }

// TeamRuleError says which of the rules in Options is not valid.
type TeamRuleError struct {
	Index int
	Err   error
}

func (e *TeamRuleError) Error() string { return fmt.Sprintf("team rule %d: %v", e.Index+1, e.Err) }

func (e *TeamRuleError) Unwrap() error { return e.Err }

var teamKind = regexp.MustCompile(`\A[a-z][a-z0-9-]{0,31}\z`)

// Check reports what is wrong with a rule.
func (t TeamRule) Check() error {
	_, err := t.compile()
	return err
}

func (t TeamRule) compile() (func(place) (hit, bool), error) {
	switch {
	case !teamKind.MatchString(t.Kind):
		return nil, fmt.Errorf("kind %q must be lower-case letters, digits and hyphens, at most %d", t.Kind, maxKind)
	case len(t.Literal) < minTeamLiteral || len(t.Literal) > maxTeamLiteral:
		return nil, fmt.Errorf("literal %q must have %d to %d bytes", t.Literal, minTeamLiteral, maxTeamLiteral)
	case strings.ContainsAny(t.Literal, "\r\n"):
		return nil, errors.New("a literal is part of one line")
	case len(t.Expr) > maxTeamExpr:
		return nil, fmt.Errorf("the expression has %d bytes, more than %d", len(t.Expr), maxTeamExpr)
	}
	tree, err := syntax.Parse(t.Expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	if tree.MaxCap() > 1 {
		return nil, errors.New("at most one group, which is the secret; write other groups as (?:…)")
	}
	if err := bounded(tree); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(`\A(?:` + t.Expr + `)`)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	prefix, whole := regexp.MustCompile(t.Expr).LiteralPrefix()
	if !strings.HasPrefix(strings.ToLower(foldedPrefix(tree, prefix)), strings.ToLower(t.Literal)) {
		return nil, fmt.Errorf("the expression must begin with the literal %q, since it is tried where that stands", t.Literal)
	}
	if whole && tree.MaxCap() == 0 && len(prefix) < minKnown {
		return nil, errors.New("the expression hides nothing but its literal")
	}
	kind := t.Kind
	return func(p place) (hit, bool) { return teamHit(p, re, kind) }, nil
}

// foldedPrefix is the literal that an expression begins with, also where it is written without case.
func foldedPrefix(tree *syntax.Regexp, prefix string) string {
	if prefix != "" {
		return prefix
	}
	first := tree
	for first.Op == syntax.OpConcat || first.Op == syntax.OpCapture {
		first = first.Sub[0]
	}
	if first.Op == syntax.OpLiteral {
		return string(first.Rune)
	}
	return ""
}

// bounded refuses what could match the rest of a file: a repeat that goes over lines without an end.
func bounded(re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpAnyChar:
		return errors.New("the expression may not go over lines with (?s)")
	case syntax.OpRepeat:
		if re.Max > maxTeamRepeat || re.Min > maxTeamRepeat {
			return fmt.Errorf("a repeat of more than %d", maxTeamRepeat)
		}
	}
	for _, sub := range re.Sub {
		if err := bounded(sub); err != nil {
			return err
		}
	}
	return nil
}

func teamHit(p place, re *regexp.Regexp, kind string) (hit, bool) {
	line := p.line(p.at)
	loc := re.FindSubmatchIndex(line[:min(len(line), regexSpan)])
	if len(line) > regexSpan && (loc == nil || loc[1] == regexSpan) {
		loc = re.FindSubmatchIndex(line)
		p.seen.work += len(line)
	}
	if loc == nil {
		return hit{}, false
	}
	from, to := loc[0], loc[1]
	if len(loc) > 2 {
		if loc[2] < 0 {
			return hit{}, false
		}
		from, to = loc[2], loc[3]
	}
	if from == to {
		return hit{}, false
	}
	start, end := p.at+from, p.at+to
	v := p.in[start:end]
	if p.r.onlyTokens(v) {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: kind, value: v, more: end == len(p.in) || end >= p.at+holdMost}, true
}
