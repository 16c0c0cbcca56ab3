package forge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
)

func runFacts() []steps.Field {
	return []steps.Field{
		{Name: "run", Type: steps.Ident, Doc: "number of the run"},
		{Name: "url", Type: steps.String, Doc: "its page"},
		{Name: "name", Type: steps.String, Doc: "name of its workflow"},
		{Name: "state", Type: steps.Enum, Values: []string{queued, running, over}, Doc: "where it stands; one that waits for a person is queued"},
		{Name: "run_over", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether nothing of it can run any more; of a job where one was asked for"},
		{Name: "result", Type: steps.Enum, Values: []string{success, failure, cancelled, skipped, other}, Doc: "how it ended; unknown while it runs"},
		{Name: "failed_job", Type: steps.String, Doc: "first job that failed, empty where none did"},
		{Name: "failed_job_id", Type: steps.Ident, Doc: "its number, for forge/log"},
		{Name: "failed_stage", Type: steps.String, Doc: "its stage where the forge has stages, else the job"},
		{Name: "failed_step", Type: steps.String, Doc: "its step that failed"},
		{Name: "jobs", Type: steps.Table, Doc: "each job: queued, running, or how it ended"},
		{Name: "runner", Type: steps.String, Doc: "runner of the job that failed, else of the first"},
		{Name: "actor", Type: steps.String, Doc: "login of who began it"},
		{Name: "event", Type: steps.String, Doc: "what began it"},
		{Name: "head", Type: steps.Ident, Doc: "commit that it ran on"},
		{Name: "branch", Type: steps.String, Doc: "branch or pull request that it ran on"},
		{Name: "attempt", Type: steps.Int, Doc: "how often it was begun"},
		{Name: "started", Type: steps.Time, Doc: "when it started"},
		{Name: "ended", Type: steps.Time, Doc: "when it ended"},
		{Name: "read_from", Type: steps.String, Doc: "what of the forge said so"},
	}
}

func (a asked) question() (question, error) {
	q := question{run: a.in.Text("run"), job: a.in.Text("job"), commit: a.in.Text("commit"), name: a.in.Text("name")}
	if q.run == "" && q.job == "" && q.commit == "" {
		return q, errors.New("name the run by run, by job, or by commit")
	}
	if q.run == "" && q.job == "" && q.name == "" && a.vendor != gitlab {
		return q, errors.New("a commit may have many runs: name the workflow too")
	}
	return q, nil
}

func (q question) String() string {
	switch {
	case q.job != "":
		return "job " + q.job
	case q.run != "":
		return "run " + q.run
	}
	return strings.TrimSpace("run " + q.name + " of commit " + q.commit[:12])
}

// neverTold are parts that a forge tells of no run: the fact says so, and the reading has no gap by it.
var neverTold = []string{"actor", "runner", "step"}

// readRun is forge/run.
func readRun(ctx context.Context, a asked) (steps.Observation, error) {
	q, err := a.question()
	if err != nil {
		return steps.Observation{}, err
	}
	repo := a.in.Text("repo")
	r, err := a.reader().run(ctx, repo, q)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s of %s: %w", q, repo, err)
	}
	obs := steps.Observation{Command: a.command(a.runs(repo, r))}
	a.keepAll(r.raw, &obs)
	if r.nothing != "" {
		obs.Summary = fmt.Sprintf("Whether the %s of %s is over is unknown: %s.", q, repo, r.nothing)
		obs.Gaps = append(obs.Gaps, r.nothing)
		obs.Facts = a.f.Rest(r.nothing)
		return obs, nil
	}
	for _, part := range slices.Sorted(maps.Keys(r.not)) {
		if !slices.Contains(neverTold, part) {
			obs.Gaps = append(obs.Gaps, part+": "+r.not[part])
		}
	}
	a.tellRun(r, q, &obs)
	obs.Facts = a.f.Rest("the forge does not say")
	return obs, nil
}

func (c *client) runs(repo string, r run) string {
	switch {
	case c.vendor == gitlab:
		return path("projects", repo, "pipelines", r.id)
	case c.vendor == gitea:
		return "/repos/" + repo + "/actions/tasks"
	}
	return "/repos/" + repo + "/actions/runs/" + r.id
}

func (a asked) tellRun(r run, q question, obs *steps.Observation) {
	const unsaid = "the forge does not say"
	a.ident("run", r.id, unsaid)
	a.text("url", r.url, unsaid)
	a.text("name", r.name, unsaid)
	a.text("event", r.event, unsaid)
	a.ident("head", r.head, unsaid)
	if r.head == "" { // the reading stands for the commit as evidence
		obs.Gaps = append(obs.Gaps, "head: "+unsaid)
	}
	a.text("branch", r.branch, unsaid)
	a.text("actor", r.actor, orElse(r.not["actor"], unsaid))
	a.at("started", r.started, "it has not started, or the forge does not say when")
	a.text("read_from", r.from, unsaid)
	if r.attempt > 0 {
		a.f.Set("attempt", steps.IntOf(r.attempt))
	}
	stand := "unknown whether over"
	if why := r.not[partState]; why != "" {
		a.f.Unknown(why, "state", "run_over", "result", "ended")
	} else {
		a.enum("state", r.state, unsaid)
		a.f.Set("run_over", steps.EnumOf(yesNo(r.state == over)))
		stand = r.state
		if r.state == over {
			a.enum("result", r.result, unsaid)
			a.at("ended", r.ended, unsaid)
			stand = "over: " + r.result
		} else {
			a.f.Unknown("it is not over", "result", "ended")
		}
	}
	if r.more > 0 {
		obs.Say(steps.Info, "%d older runs fit as well; the newest is told.", r.more)
	}
	if why := r.not[partJobs]; why != "" {
		a.f.Unknown(why, "jobs", "failed_job", "failed_job_id", "failed_stage", "failed_step", "runner")
		obs.Summary = fmt.Sprintf("The %s of %s is %s; its jobs are unknown.", q, a.in.Text("repo"), stand)
		return
	}
	jobs := map[string]string{}
	for _, j := range r.jobs {
		jobs[j.name] = orElse(j.result, orElse(j.state, "unknown"))
	}
	a.f.Set("jobs", steps.TableOf(jobs))
	bad, failed := r.failed()
	if !failed {
		a.f.Set("failed_job", steps.StringOf(""))
		a.f.Set("failed_stage", steps.StringOf(""))
		a.f.Set("failed_step", steps.StringOf(""))
		a.f.Unknown("no job failed", "failed_job_id")
	} else {
		a.f.Set("failed_job", steps.StringOf(bad.name))
		a.f.Set("failed_stage", steps.StringOf(orElse(bad.stage, bad.name)))
		a.ident("failed_job_id", bad.id, unsaid)
		a.text("failed_step", bad.step, orElse(r.not["step"], unsaid))
		stand += ", in " + bad.name
		if bad.step != "" {
			stand += ", step " + bad.step
		}
	}
	if !failed && len(r.jobs) > 0 {
		bad = r.jobs[0]
	}
	a.text("runner", bad.runner, orElse(r.not["runner"], "the forge names no runner"))
	obs.Summary = fmt.Sprintf("The %s of %s is %s.", q, a.in.Text("repo"), stand)
}
