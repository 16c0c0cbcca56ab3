package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/gitread"
	"handrail/steps/policy/replay"
)

// replayProbe is policy/replay.
type replayProbe struct{ env steps.Env }

const mostPolicies = 2000 // files of one commit

func replayFacts() []steps.Field {
	verdicts := []string{allow, deny, errored}
	return []steps.Field{
		{Name: "now", Type: steps.Enum, Values: verdicts, Doc: "what the policies of `at` decide on the input; error where they do not compile"},
		{Name: "before", Type: steps.Enum, Values: verdicts, Doc: "what those of `before` decide on the same input"},
		{Name: "changed", Type: steps.Bool, Doc: "whether the two decide otherwise, or deny for other reasons"},
		{Name: "now_says", Type: steps.Strings, Doc: "why the policies of `at` deny, the first 200"},
		{Name: "before_says", Type: steps.Strings, Doc: "why those of `before` deny, the first 200"},
		{Name: "now_commit", Type: steps.Ident, Doc: "commit of `at`"},
		{Name: "before_commit", Type: steps.Ident, Doc: "commit of `before`"},
		{Name: "policies", Type: steps.Strings, Doc: "policy files that differ between the two, the first 200"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the input"},
	}
}

func replayKind() steps.Kind {
	return steps.Kind{
		Name:  "policy/replay",
		Class: steps.Probe,
		Doc:   "Judges a saved policy input by the Rego policies of two commits, to tell whether the change or the policy is what moved. The policies run without network and files.",
		Params: []steps.Field{
			{Name: "input", Type: steps.Path, Required: true, Doc: "the input that the gate judged, in JSON"},
			{Name: "repo", Type: steps.Path, Required: true, Doc: "clone of the repository of the policies"},
			{Name: "path", Type: steps.String, Default: ".", Doc: "directory of the policies in it"},
			{Name: "query", Type: steps.String, Default: "data.main.deny", Doc: "the rule that decides, as data.PACKAGE.RULE"},
			{Name: "rules", Type: steps.Enum, Values: []string{"one", "conftest"}, Default: "one", Doc: "one: the rule of the query alone; conftest: all rules of its package that conftest takes for failures (deny, deny_*, violation, violation_*)"},
			{Name: "query_means", Type: steps.Enum, Values: []string{allow, deny}, Doc: "whether it asks what is allowed or what is denied, where its name does not end so"},
			{Name: "rego", Type: steps.Enum, Values: []string{"v1", "v0"}, Default: "v1", Doc: "v0 for policies from before OPA 1.0"},
			{Name: "at", Type: steps.String, Default: "HEAD", Doc: "commit, branch or tag whose policies judged"},
			{Name: "before", Type: steps.String, Required: true, Doc: "commit, branch or tag from before the suspected change"},
		},
		Facts:   replayFacts(),
		Touches: []string{"reads the input and the clone, and keeps the input", "starts handrail again, which judges without network and files"},
		Reads:   func(e steps.Env) steps.Prober { return replayProbe{e} },
	}
}

// side is what the policies of one commit come to.
type side struct {
	commit string
	files  map[string][]byte
	is     string // verdict, "" with why
	why    string
	says   []string
	gaps   []string
}

// Probe implements steps.Prober.
func (p replayProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	for _, name := range []string{"input", "repo", "before"} {
		if in.Text(name) == "" {
			return steps.Observation{}, fmt.Errorf("the parameter %s is missing", name)
		}
	}
	if !replay.IsQuery.MatchString(in.Text("query")) {
		return steps.Observation{}, fmt.Errorf("the query %q is not the name of a rule: give data.PACKAGE.RULE", in.Text("query"))
	}
	dir := path.Clean(in.Text("path"))
	if path.IsAbs(dir) || dir == ".." || strings.HasPrefix(dir, "../") {
		return steps.Observation{}, fmt.Errorf("the path %q leads out of the repository", in.Text("path"))
	}
	file, err := read(ctx, steps.Below(p.env.Dir, in.Text("input")), mostFile)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy input: %w", err)
	}
	if !json.Valid(file.text) {
		return steps.Observation{}, fmt.Errorf("policy input: %s is no JSON", in.Text("input"))
	}
	repo := steps.Below(p.env.Dir, in.Text("repo"))
	clone, err := gitread.Open(repo)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policies in %s: %w", repo, err)
	}
	clean := redactor(out)
	var sides [2]side
	for i, name := range []string{in.Text("at"), in.Text("before")} {
		if sides[i], err = p.policies(ctx, clone, name, dir); err != nil {
			return steps.Observation{}, fmt.Errorf("policies of %s in %s: %w", name, repo, err)
		}
	}
	obs := steps.Observation{Command: fmt.Sprintf("opa eval --format json --data %s --input %s %s", steps.Quote(dir), steps.Quote(in.Text("input")), in.Text("query"))}
	keepFile(out, "input", file.text, &obs)
	f := steps.NewFacts(replayFacts())
	f.Set("digest", steps.IdentOf(file.digest))
	f.Set("policies", steps.StringsOf(redactedAll(clean, differing(sides[0].files, sides[1].files))))
	for i, name := range []string{"now", "before"} {
		s := &sides[i]
		if err := p.judge(ctx, in, file.text, s); err != nil {
			if ctx.Err() != nil {
				return steps.Observation{}, err
			}
			s.why = err.Error()
		}
		f.Set(name+"_commit", steps.IdentOf(s.commit))
		for _, gap := range s.gaps {
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("%s: %s", s.commit[:12], clean(gap)))
		}
		if s.is == "" {
			f.Unknown(clean(s.why), name, name+"_says")
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("what the policies of %s decide is unknown: %s", s.commit[:12], clean(s.why)))
			continue
		}
		f.Set(name, steps.EnumOf(s.is))
		s.says = redactedAll(clean, s.says)
		f.Set(name+"_says", steps.StringsOf(s.says))
	}
	now, before := sides[0], sides[1]
	switch {
	case now.is == "" || before.is == "":
		f.Unknown("one of the two is unknown", "changed")
	default:
		f.Set("changed", steps.BoolOf(now.is != before.is || !slices.Equal(now.says, before.says)))
	}
	if now.commit == before.commit {
		obs.Say(steps.Warning, "`at` and `before` are the same commit %s, so that nothing is compared", now.commit[:12])
	}
	obs.Summary = fmt.Sprintf("Policies of %s: %s. Of %s: %s.", now.commit[:12], now.words(), before.commit[:12], before.words())
	obs.Facts = f.Rest("it was not evaluated")
	return obs, nil
}

func (s side) words() string {
	if s.is == "" {
		return "unknown"
	}
	return s.is
}

// policies reads the files of one commit.
func (p replayProbe) policies(ctx context.Context, clone gitread.Clone, name, dir string) (side, error) {
	sum, err := clone.Resolve(ctx, name)
	if err != nil {
		return side{}, err
	}
	of, err := clone.Commit(ctx, sum)
	if err != nil {
		return side{}, err
	}
	s := side{commit: sum, files: map[string][]byte{}}
	size := 0
	err = clone.Walk(ctx, of, dir, func(name string, kind gitread.Kind, content []byte) error {
		if kind != gitread.Regular {
			s.gaps = append(s.gaps, name+" is a link or a submodule, and was not followed")
			return nil
		}
		size += len(content)
		if len(s.files) == mostPolicies || size > replay.MostFiles {
			return fmt.Errorf("it has more than %d files or %d MiB", mostPolicies, replay.MostFiles>>20)
		}
		s.files[strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")] = content
		return nil
	})
	if errors.Is(err, gitread.ErrNoFile) {
		return side{}, fmt.Errorf("there is no directory %s", dir)
	}
	return s, err
}

// judge fills in what the policies come to.
func (p replayProbe) judge(ctx context.Context, in steps.Params, input []byte, s *side) error {
	query, means, all := in.Text("query"), in.Text("query_means"), in.Text("rules") == "conftest"
	if all {
		means = deny
	}
	a, err := replay.Judge(ctx, p.env.Self, replay.Order{Query: query, All: all, V0: in.Text("rego") == "v0", Now: p.env.Now(), Input: input, Files: s.files})
	if err != nil {
		return err
	}
	if len(a.Builtins) > 0 {
		s.gaps = append(s.gaps, "functions failed and were taken for undefined, as OPA does: "+strings.Join(a.Builtins, "; "))
	}
	if means == "" && asksAllow.MatchString(query) {
		means = allow
	} else if means == "" && asksDeny.MatchString(query) {
		means = deny
	}
	switch {
	case a.Error != "":
		s.is, s.says = errored, []string{a.Error}
		return nil
	case a.NoRule:
		return fmt.Errorf("none of its %d modules has the rule %s", a.Modules, query)
	case means == "":
		return fmt.Errorf("whether the query %s asks what is allowed or what is denied is not told: give query_means", query)
	case a.Undefined && means == deny:
		s.is, s.says = allow, []string{} // the rule is there, and does not hold
		return nil
	case a.Undefined:
		s.is, s.says = deny, []string{query + " is undefined"}
		return nil
	}
	d := &decision{format: opaEval}
	readOPA(a.Output, means, d)
	is, why := d.verdict()
	if is == "" {
		return errors.New(why)
	}
	s.is = is
	s.says, _ = d.names(func(r result) string { return r.message })
	slices.Sort(s.says)
	return nil
}

// differing are the names of the policy files that are not the same in both.
func differing(a, b map[string][]byte) []string {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, there := b[name]
		is, here := a[name]
		if len(out) < mostNames && (there != here || string(was) != string(is)) {
			out = append(out, name)
		}
	}
	return out
}
