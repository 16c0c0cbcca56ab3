package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	name := filepath.Join(dir, redactionFile)
	const next = "nothing was opened, since it would have run without your team's rules; mend the file or move it away"
	src, err := ReadUpTo(name, strict.MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &process.Problem{Code: process.ExitUsage, Err: fmt.Errorf("reading the redaction rules: %w", err), Next: next}
	}
	rules, err := parseRedaction(name, src)
	if err != nil {
		return nil, &process.Problem{Code: process.ExitUsage, Err: err, Next: next}
	}
	return rules, nil
}

func parseRedaction(name string, src []byte) ([]redact.TeamRule, error) {
	r := &strict.Reader{File: name, What: "a redaction file"}
	doc := r.Document(src)
	if doc == nil {
		return nil, r.Problems.Sorted()
	}
	top := r.Fields(doc, "a redaction file", "apiVersion", "kind", "rules")
	for _, want := range [...]struct{ key, value string }{{"apiVersion", "handrail/v1"}, {"kind", "Redaction"}} {
		if n := top[want.key]; n == nil {
			r.Fail(doc, "write "+want.key+": "+want.value, "%s is missing", want.key)
		} else {
			r.OneOf(n, want.key, []string{want.value})
		}
	}
	if top["rules"] == nil {
		r.Fail(doc, "list them under rules:", "there are no rules")
	}
	var out []redact.TeamRule
	for i, item := range r.Items(top["rules"], "rules") {
		if i == redact.MaxTeamRules {
			r.Fail(item, "", "more than %d rules", redact.MaxTeamRules)
			break
		}
		f := r.Fields(item, "a rule", "kind", "literal", "pattern")
		before := len(r.Problems)
		for _, key := range [...]string{"kind", "literal", "pattern"} {
			if f[key] == nil {
				r.Fail(item, "a rule has kind, literal and pattern", "%s is missing", key)
			}
		}
		rule := redact.TeamRule{Kind: r.Text(f["kind"], "kind"), Literal: r.Text(f["literal"], "literal"), Expr: r.Text(f["pattern"], "pattern")}
		if len(r.Problems) > before {
			continue
		}
		if err := rule.Check(); err != nil {
			r.Fail(f["pattern"], "", "rule %q: %v", rule.Kind, err)
		}
		out = append(out, rule)
	}
	return out, r.Problems.Sorted()
}

func ReadUpTo(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%q is not a file of at most %d bytes", name, limit)
	}
	return os.ReadFile(name)
}
