package settings

import (
	"io"

	"handrail/cli/process"
	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/cluster"
)

// KnownSecrets are the values that handrail's own surroundings say are secret:
// variables by their name, those that are handed on and not shown, and what the kubeconfig in use authenticates with.
func KnownSecrets(p *process.Program) []string {
	out := append(steps.SecretVariables(p.Environ), p.Secrets()...)
	handed, _ := Variables(p) // a file that is not understood hands on nothing
	for _, v := range handed {
		if !v.Shown {
			out = append(out, steps.SecretValues([]string{v.Name + "=" + p.Getenv(v.Name)})...)
		}
	}
	env, err := p.Env()
	if err != nil {
		return out
	}
	k, err := cluster.Load(env)
	if err != nil {
		return out // said where the cluster is wanted
	}
	for _, v := range []string{k.Config.BearerToken, k.Config.Password, string(k.Config.KeyData)} {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Scrub puts a scrubbed before w. It knows its values when the first word is said.
func Scrub(p *process.Program, w io.Writer) io.Writer {
	return &process.Scrubber{W: w, From: func() ([]string, []redact.TeamRule) {
		team, err := TeamRules(p)
		if err != nil {
			team = nil
		}
		return KnownSecrets(p), team
	}}
}
