package settings

import (
	"path/filepath"

	"handrail/cli/process"
	"handrail/evidence/redact"
	"handrail/steps/strict"
)

// redactionFile is where a team keeps its own redaction rules, below handrail's folder of $XDG_CONFIG_HOME.
const redactionFile = "redaction.yaml"

// TeamRules reads the team's redaction rules. No file is no rules; a file that
// is not valid refuses whatever would have written without them.
func TeamRules(p *process.Program) ([]redact.TeamRule, error) {
	dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return nil, nil // without a home there is no place where a file could be
	}
	var f redactionRules
	if _, err := read(filepath.Join(dir, redactionFile), "a redaction file", "Redaction", nil, &f); err != nil {
		return nil, &process.Problem{Code: process.ExitUsage, Err: err, Next: "nothing was opened, since it would have run without your team's rules; fix the file or move it away"}
	}
	var out []redact.TeamRule
	for _, rule := range f.Rules {
		out = append(out, redact.TeamRule(rule))
	}
	return out, nil
}

type redactionRules struct {
	Rules []redactionRule `key:"rules,required" of:"a rule" hint:"list them under rules:"`
}

type redactionRule struct {
	Kind    string `key:"kind,required" hint:"a rule has kind, literal and pattern"`
	Literal string `key:"literal,required" hint:"a rule has kind, literal and pattern"`
	Expr    string `key:"pattern,required" hint:"a rule has kind, literal and pattern"`
}

// Check bounds the list.
func (f *redactionRules) Check(r *strict.Reader, n *strict.Node) {
	if len(f.Rules) > redact.MaxTeamRules {
		r.Fail(strict.At(n, "rules").Content[redact.MaxTeamRules], "", "more than %d rules", redact.MaxTeamRules)
	}
}

// Check wants a rule that redacts what it means to.
func (rule *redactionRule) Check(r *strict.Reader, n *strict.Node) {
	if err := redact.TeamRule(*rule).Check(); err != nil {
		r.Fail(strict.At(n, "pattern"), "", "rule %q: %v", rule.Kind, err)
	}
}
