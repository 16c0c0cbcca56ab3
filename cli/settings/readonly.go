package settings

import (
	"fmt"
	"regexp"
	"strings"

	"handrail/cli/process"
	"handrail/session/policy"
	"handrail/steps"
)

// ReadOnly says why a gate may not be armed: by --readonly, by a file, or because a file closes its context. context is
// the one that the incident is about, and unsure why that cannot be told. A file that cannot be read closes every gate,
// and so does a closed context where it is not known which one is meant. Practice is closed by --readonly
// alone, as it asks for no second person.
func ReadOnly(p *process.Program, context string, unsure error, q policy.Question) policy.Closed {
	if p.ReadOnly {
		return policy.Closed{By: "--readonly", Why: "handrail was started with --readonly", Cure: "to change anything, resume the incident without --readonly"}
	}
	if q.Drill {
		return policy.Closed{}
	}
	dirs, err := moduleDirs(p, q.Target)
	var list []config
	if err == nil {
		list, err = configs(p, dirs)
	}
	if err != nil {
		return policy.Closed{By: "a broken file", Why: "whether gates are closed here cannot be told: " + err.Error(), Cure: "fix the file, then preview the gate again; `handrail config` shows what is read"}
	}
	names := []string{context}
	for _, kv := range q.Target {
		if kv.Key == steps.ContextParam {
			names = append(names, kv.Value)
		}
	}
	for _, c := range list {
		if c.ReadOnly {
			return policy.Closed{By: "the " + c.of, Why: c.line("readOnly") + " closes every gate", Cure: "the file has to change first, by whom it belongs to"}
		}
		if unsure != nil && len(c.Contexts) > 0 {
			return policy.Closed{By: "an unknown context", Why: fmt.Sprintf("%s closes contexts, and which one is meant cannot be told: %v", c.line("readOnlyContexts"), unsure),
				Cure: "fix the kubeconfig, or name another with --kubeconfig and --context"}
		}
		for _, pattern := range c.Contexts {
			for _, name := range names {
				if name != "" && fits(pattern, name) {
					return policy.Closed{By: "context " + name, Why: fmt.Sprintf("%s closes every gate in the context %s", c.line("readOnlyContexts"), name),
						Cure: "use a context that may change things, or have the file changed"}
				}
			}
		}
	}
	return policy.Closed{}
}

// CheckConfig says how many files may close gates here, and whether each is understood.
func CheckConfig(p *process.Program) process.Check {
	const name = "read-only"
	dirs, err := moduleDirs(p, nil)
	var list []config
	if err == nil {
		list, err = configs(p, dirs)
	}
	switch c := ReadOnly(p, "", nil, policy.Question{}); {
	case err != nil:
		return process.Check{Name: name, State: "bad", Detail: err.Error(), Next: "fix the file: until then no gate opens; `handrail config` shows all of them"}
	case c.By != "":
		return process.Check{Name: name, State: "ok", Detail: "no gate opens: " + c.Why}
	}
	return process.Check{Name: name, State: "ok", Detail: "nothing closes every gate; files that may close some: " + fmt.Sprint(len(list))}
}

// fits reports whether a name is what a pattern means, in which * stands for any text.
func fits(pattern, name string) bool {
	return regexp.MustCompile(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `\z`).MatchString(name)
}

// joint are the rules about second persons that the files add, each file as a policy without approvers of its own: a
// stranger's repository must not name who may approve.
func joint(p *process.Program, q policy.Question) ([]teamPolicy, error) {
	dirs, err := moduleDirs(p, q.Target)
	if err != nil {
		return nil, err
	}
	list, err := configs(p, dirs)
	if err != nil {
		return nil, err
	}
	var out []teamPolicy
	for _, c := range list {
		if len(c.SecondPerson) == 0 {
			continue
		}
		pol := teamPolicy{Rules: rulesOf(c.SecondPerson)}
		if pol.places, err = allPlaces(p); err != nil {
			return nil, err
		}
		pol.by = c.line("secondPerson")
		out = append(out, pol)
	}
	return out, nil
}
