package holder

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// Facts are the facts of terraform/holder.
func Facts() []steps.Field {
	return []steps.Field{
		{Name: "alive", Type: steps.Enum, Values: []string{"alive", "dead"}, Doc: "whether the holder's process or a part of it runs; dead only where it would have been seen"},
		{Name: "here", Type: steps.Bool, Doc: "whether the holder ran on this machine"},
		{Name: "proven_gone", Type: steps.Bool, Doc: "whether the kernel proves that the holder is gone: it ran on this machine since that started, every process can be seen, and none is of the run; false where that is not proven"},
		{Name: "proof", Type: steps.String, Doc: "how that is proven, or why it is not"},
		{Name: "processes", Type: steps.Int, Doc: "tofu or terraform processes that can be the holder"},
		{Name: "orphans", Type: steps.Int, Doc: "provider plugins, and processes of provisioners and plugins, that outlived their tofu"},
		{Name: "ci", Type: steps.Enum, Values: []string{"github-actions", "gitlab"}, Doc: "CI system that the run belongs to, by the environment of its processes"},
		{Name: "ci_run", Type: steps.Ident, Doc: "id of the run in GitHub Actions, or of the job in GitLab"},
		{Name: "ci_url", Type: steps.String, Doc: "where to look at it"},
		{Name: "pids", Type: steps.Strings, Doc: "process ids of all of them"},
	}
}

// Probe is terraform/holder.
type Probe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p Probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	w, err := module.Open(p.Env, in)
	if err != nil {
		return steps.Observation{}, err
	}
	r, err := Look(p.Env, w, Suspect{Who: in.Text("who"), Created: in["created"].Time()})
	switch {
	case err != nil && r.Elsewhere():
		return r.unread(in.Text("who"), err), nil
	case err != nil && r.HereWhy != "":
		return steps.Observation{}, fmt.Errorf("%w (%s)", err, r.HereWhy)
	case err != nil:
		return steps.Observation{}, err
	}
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "ps -eo pid,ppid,lstart,args | grep -E 'tofu|terraform'; pwdx <pid>"}
	f := steps.NewFacts(Facts())
	who := in.Text("who")
	switch {
	case who == "":
		f.Unknown(unnamed, "here")
	case r.HereWhy != "":
		f.Unknown(r.HereWhy, "here")
	default:
		f.Set("here", steps.BoolOf(r.Here))
	}
	var pids []string
	for _, group := range [][]Process{r.Holders, r.Plugins, r.Children} {
		for _, q := range group {
			pids = append(pids, strconv.Itoa(q.PID))
		}
	}
	f.Set("processes", steps.IntOf(int64(len(r.Holders))))
	f.Set("orphans", steps.IntOf(int64(len(r.Plugins)+len(r.Children))))
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
	f.Set("proven_gone", steps.BoolOf(r.Proof != ""))
	f.Set("proof", steps.StringOf(cmp.Or(r.Proof, r.NoProof)))
	r.tell(who, len(pids), f, &obs)
	obs.Findings = append(obs.Findings, r.findings()...)
	if r.ci.id != "" {
		obs.Say(steps.Info, "The run is %s of %s: %s. Ask there whether it has ended.", r.ci.id, r.ci.system, prose.OrUnknown(r.ci.url))
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// tell says whether the holder is alive, or, where no lock names one, what of a run is here.
func (r Scan) tell(who string, left int, f steps.Facts, obs *steps.Observation) {
	alive, why := r.Verdict(who)
	switch {
	case why == "":
		f.Set("alive", steps.EnumOf(alive))
	case who == "":
		f.Unknown(unnamed, "alive")
		obs.Summary = r.runs(left)
		if r.Blind != "" {
			obs.Gaps = append(obs.Gaps, r.Blind)
		}
	default:
		f.Unknown(why, "alive")
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = "Whether the holder lives cannot be told: " + why + "."
	}
	switch {
	case alive == "alive" && who == "":
		obs.Summary = fmt.Sprintf("A run is at work on this machine: process %d runs %s.", r.Holders[0].PID, shortArgs(r.Holders[0]))
	case alive == "alive":
		obs.Summary = fmt.Sprintf("The holder is alive: process %d runs %s.", r.Holders[0].PID, shortArgs(r.Holders[0]))
	case alive == "dead":
		obs.Summary = "The holder is gone from this machine."
		if r.Proof != "" {
			obs.Say(steps.Info, "The kernel proves that the holder is gone: %s.", r.Proof)
		} else {
			obs.Say(steps.Info, "The kernel does not prove that the holder is gone: %s.", r.NoProof)
		}
	}
}

// unnamed is why nothing is said of a holder where no lock is held.
const unnamed = "no lock names a holder to look for"

// runs is what is seen where no holder was named and no run is at work.
func (r Scan) runs(left int) string {
	switch {
	case r.Blind != "":
		return "Whether a run is at work on this machine cannot be told: " + r.Blind + "."
	case left == 1:
		return "No run is at work on this machine, and one that is gone left a process behind."
	case left > 0:
		return fmt.Sprintf("No run is at work on this machine, and one that is gone left %d processes behind.", left)
	case len(r.Later) > 0:
		return fmt.Sprintf("Process %d works here.", r.Later[0].PID)
	}
	return "No run is at work on this machine, and none left a process behind."
}

// unread is what is known of a holder on another machine where the process table of
// this one cannot be read.
func (r Scan) unread(who string, err error) steps.Observation {
	why := "the processes of this machine cannot be seen: " + err.Error()
	_, elsewhere := r.Verdict(who)
	f := steps.NewFacts(Facts())
	f.Set("here", steps.BoolOf(false))
	f.Set("proven_gone", steps.BoolOf(false))
	f.Set("proof", steps.StringOf(elsewhere))
	f.Unknown(elsewhere, "alive")
	f.Unknown("no process of the run is here: look at "+runnerOf(backend.HostOf(who)), "ci", "ci_run", "ci_url")
	return steps.Observation{
		Summary: "Whether the holder lives cannot be told: " + elsewhere + ".",
		Facts:   f.Rest(why),
		Gaps:    []string{elsewhere, why},
	}
}

// Verdict is alive, dead, or "" with the reason.
func (r Scan) Verdict(who string) (alive, why string) {
	switch {
	case r.HereWhy == "" && !r.Here:
		return "", fmt.Sprintf("the holder %s runs on another machine; look there, or in the job list of the CI system", who)
	case len(r.Holders) > 0:
		return "alive", ""
	case r.HereWhy != "":
		return "", r.HereWhy
	case r.Blind != "":
		return "", r.Blind
	case len(r.Later) > 0:
		return "", fmt.Sprintf("process %d works here but started after the lock says it was taken: a clock is wrong, or it waits for the lock", r.Later[0].PID)
	case len(r.Plugins) > 0:
		return "", fmt.Sprintf("its tofu is gone, but the provider plugin %d still runs: %s", r.Plugins[0].PID, r.Plugins[0].Described())
	case len(r.Children) > 0:
		return "", fmt.Sprintf("its tofu is gone, but the process %d that a provisioner began still runs: %s; %s", r.Children[0].PID, r.Children[0].Described(), HowToEnd(r.Children[0]))
	}
	return "dead", ""
}

func (r Scan) findings() []steps.Finding {
	var out []steps.Finding
	say := func(level steps.Level, format string, p Process) {
		out = append(out, steps.Findingf(level, format, p.PID, p.Described()))
	}
	for _, p := range r.Holders {
		say(steps.Critical, "Process %d can be the holder and is alive: %s", p)
	}
	for _, p := range r.Plugins {
		say(steps.Critical, "Provider plugin %d outlived its tofu and may still change the world: %s", p)
	}
	for _, p := range r.Children {
		say(steps.Critical, "Process %d was left behind by a provisioner or a plugin and may still change the world: %s", p)
	}
	for _, p := range r.Later {
		say(steps.Info, "Process %d works here too but started after the lock was taken: %s", p)
	}
	for _, p := range r.Sitting {
		say(steps.Info, "Process %d is there as well, and nothing but that ties it to the run: %s", p)
	}
	return out
}
