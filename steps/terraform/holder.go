package terraform

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

func holderFacts() []steps.Field {
	return []steps.Field{
		{Name: "alive", Type: steps.Enum, Values: []string{"alive", "dead"}, Doc: "whether the holder's process or a part of it runs; dead only where it would have been seen"},
		{Name: "here", Type: steps.Bool, Doc: "whether the holder ran on this machine"},
		{Name: "processes", Type: steps.Int, Doc: "tofu or terraform processes that can be the holder"},
		{Name: "orphans", Type: steps.Int, Doc: "provider plugins, and processes of provisioners and plugins, that outlived their tofu"},
		{Name: "ci", Type: steps.Enum, Values: []string{"github-actions", "gitlab"}, Doc: "CI system that the run belongs to, by the environment of its processes"},
		{Name: "ci_run", Type: steps.Ident, Doc: "id of the run in GitHub Actions, or of the job in GitLab"},
		{Name: "ci_url", Type: steps.String, Doc: "where to look at it"},
		{Name: "pids", Type: steps.Strings, Doc: "process ids of all of them"},
	}
}

type holderProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p holderProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	w, err := openWorkdir(p.env, in)
	if err != nil {
		return steps.Observation{}, err
	}
	r, err := scanHolder(p.env, w, suspect{who: in.Text("who"), created: in["created"].Time()})
	if err != nil {
		return steps.Observation{}, err
	}
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "ps -eo pid,ppid,lstart,args | grep -E 'tofu|terraform'; pwdx <pid>"}
	f := steps.NewFacts(holderFacts())
	if r.hereWhy != "" {
		f.Unknown(r.hereWhy, "here")
	} else {
		f.Set("here", steps.BoolOf(r.here))
	}
	var pids []string
	for _, group := range [][]process{r.holders, r.plugins, r.children} {
		for _, q := range group {
			pids = append(pids, strconv.Itoa(q.pid))
		}
	}
	f.Set("processes", steps.IntOf(int64(len(r.holders))))
	f.Set("orphans", steps.IntOf(int64(len(r.plugins)+len(r.children))))
	f.Set("pids", steps.StringsOf(pids))
	if r.ciWhy != "" {
		f.Unknown(r.ciWhy, "ci", "ci_run", "ci_url")
	} else {
		f.Set("ci", steps.EnumOf(r.ci.system))
		f.Set("ci_run", steps.IdentOf(r.ci.id))
		f.Unknown("its environment does not name it", "ci_url")
		if r.ci.url != "" {
			f.Set("ci_url", steps.StringOf(r.ci.url))
		}
	}
	alive, why := r.verdict(in.Text("who"))
	if why != "" {
		f.Unknown(why, "alive")
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = "Whether the holder lives cannot be told: " + why + "."
	} else {
		f.Set("alive", steps.EnumOf(alive))
	}
	switch alive {
	case "alive":
		obs.Summary = fmt.Sprintf("The holder is alive: process %d runs %s.", r.holders[0].pid, shortArgs(r.holders[0]))
	case "dead":
		obs.Summary = "The holder is gone from this machine."
	}
	obs.Findings = r.findings()
	if r.ci.id != "" {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: fmt.Sprintf("The run is %s of %s: %s. Ask there whether it has ended.", r.ci.id, r.ci.system, orUnknown(r.ci.url))})
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// verdict is alive, dead, or "" with the reason.
func (r scan) verdict(who string) (alive, why string) {
	switch {
	case r.hereWhy == "" && !r.here:
		return "", fmt.Sprintf("the holder %s runs on another machine; look there, or in the job list of the CI system", who)
	case len(r.holders) > 0:
		return "alive", ""
	case r.hereWhy != "":
		return "", r.hereWhy
	case r.blind != "":
		return "", r.blind
	case len(r.later) > 0:
		return "", fmt.Sprintf("process %d works here but started after the lock says it was taken: a clock is wrong, or it waits for the lock", r.later[0].pid)
	case len(r.plugins) > 0:
		return "", fmt.Sprintf("its tofu is gone, but the provider plugin %d still runs: %s", r.plugins[0].pid, r.plugins[0].described())
	case len(r.children) > 0:
		return "", fmt.Sprintf("its tofu is gone, but the process %d that a provisioner began still runs: %s; %s", r.children[0].pid, r.children[0].described(), endIt(r.children[0]))
	}
	return "dead", ""
}

func (r scan) findings() []steps.Finding {
	var out []steps.Finding
	say := func(level steps.Level, format string, p process) {
		out = append(out, steps.Finding{Level: level, Say: fmt.Sprintf(format, p.pid, p.described())})
	}
	for _, p := range r.holders {
		say(steps.Critical, "Process %d can be the holder and is alive: %s", p)
	}
	for _, p := range r.plugins {
		say(steps.Critical, "Provider plugin %d outlived its tofu and may still change the world: %s", p)
	}
	for _, p := range r.children {
		say(steps.Critical, "Process %d was left behind by a provisioner or a plugin and may still change the world: %s", p)
	}
	for _, p := range r.later {
		say(steps.Info, "Process %d works here too but started after the lock was taken: %s", p)
	}
	for _, p := range r.sitting {
		say(steps.Info, "Process %d is there as well, and nothing but that ties it to the run: %s", p)
	}
	return out
}

// described is what a person needs to know of a process beside its number.
func (p process) described() string {
	text := shortArgs(p)
	if !p.started.IsZero() {
		text += ", since " + p.started.UTC().Format(time.RFC3339)
	}
	if p.why != "" {
		text += " (" + p.why + ")"
	}
	return text
}

// shortArgs shows a command line without what may be secret in it: values of
// -var and -backend-config.
func shortArgs(p process) string {
	args := make([]string, 0, len(p.argv))
	for i, a := range p.argv {
		name, _, ok := strings.Cut(a, "=")
		secret := func(s string) bool {
			s = strings.TrimLeft(s, "-")
			return s == "var" || s == "backend-config"
		}
		switch {
		case ok && secret(name):
			a = name + "=..."
		case i > 0 && secret(p.argv[i-1]) && !strings.Contains(p.argv[i-1], "="):
			a = "..."
		}
		args = append(args, a)
	}
	if len(args) == 0 {
		return p.exe
	}
	return clip(strings.Join(args, " "), 200)
}
