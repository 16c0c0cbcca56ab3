package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

type hubRun struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	Branch     string     `json:"head_branch"`
	SHA        string     `json:"head_sha"`
	Event      string     `json:"event"`
	Status     string     `json:"status"`
	Conclusion string     `json:"conclusion"`
	URL        string     `json:"html_url"`
	Attempt    int64      `json:"run_attempt"`
	Created    time.Time  `json:"created_at"`
	Started    *time.Time `json:"run_started_at"`
	Actor      *hubUser   `json:"actor"`
	Trigger    *hubUser   `json:"triggering_actor"`
	Path       string     `json:"path"`
}

// stateOf is where a run or a job stands. A run that waits for a person has a conclusion, and goes on when they agree.
func stateOf(status, conclusion string) (state, result string) {
	switch {
	case status == "completed" && conclusion == "action_required":
		return queued, ""
	case status == "completed" && conclusion != "":
		return over, resultOf(conclusion)
	case status == "in_progress":
		return running, ""
	case status == "queued" || status == "requested" || status == "waiting" || status == "pending":
		return queued, ""
	}
	return "", ""
}

func (in hubRun) run() run {
	r := run{id: count(in.ID), url: words(in.URL), name: words(in.Name), head: sha(in.SHA), branch: words(in.Branch), event: words(in.Event), created: in.Created, attempt: in.Attempt, not: gaps{}}
	r.state, r.result = stateOf(in.Status, in.Conclusion)
	if in.Started != nil {
		r.started = *in.Started
	}
	for _, u := range []*hubUser{in.Trigger, in.Actor} {
		if u != nil && r.actor == "" {
			r.actor = words(u.Login)
		}
	}
	if r.state == "" {
		r.not[partState] = fmt.Sprintf("the forge says %q, which is not known", words(in.Status))
	}
	return r
}

func parseHubRun(raw []byte) (run, error) {
	var in hubRun
	if err := decode(raw, &in); err != nil {
		return run{}, err
	}
	if in.ID == 0 {
		return run{}, errors.New("the forge answered with something else than a run")
	}
	return in.run(), nil
}

// parseHubRuns finds the newest run of a name on a page; all of it is told.
func parseHubRuns(raw []byte, name string, each func(run)) (page, error) {
	var in struct {
		Total *int     `json:"total_count"`
		Runs  []hubRun `json:"workflow_runs"`
	}
	if err := decode(raw, &in); err != nil {
		return page{}, err
	}
	if in.Total == nil {
		return page{}, errors.New("the forge does not say how many runs there are")
	}
	for _, r := range in.Runs {
		file := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
		if r.ID != 0 && (name == "" || r.Name == name || file == name || strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") == name) {
			each(r.run())
		}
	}
	return page{len(in.Runs), *in.Total}, nil
}

type hubJob struct {
	ID         int64      `json:"id"`
	Run        int64      `json:"run_id"`
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	Conclusion string     `json:"conclusion"`
	Runner     string     `json:"runner_name"`
	Started    *time.Time `json:"started_at"`
	Completed  *time.Time `json:"completed_at"`
	Steps      []struct {
		Name       string `json:"name"`
		Conclusion string `json:"conclusion"`
	} `json:"steps"`
}

func (in hubJob) job() job {
	j := job{id: count(in.ID), name: words(in.Name), runner: words(in.Runner)}
	j.state, j.result = stateOf(in.Status, in.Conclusion)
	if in.Started != nil {
		j.started = *in.Started
	}
	if in.Completed != nil && j.state == over {
		j.ended = *in.Completed
	}
	for _, s := range in.Steps {
		if resultOf(s.Conclusion) == failure {
			j.step = words(s.Name)
			break
		}
	}
	return j
}

func parseHubJob(raw []byte) (job, string, error) {
	var in hubJob
	if err := decode(raw, &in); err != nil {
		return job{}, "", err
	}
	if in.ID == 0 || in.Run == 0 {
		return job{}, "", errors.New("the forge answered with something else than a job")
	}
	return in.job(), count(in.Run), nil
}

func parseHubJobs(raw []byte) ([]job, page, error) {
	var in struct {
		Total *int     `json:"total_count"`
		Jobs  []hubJob `json:"jobs"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	if in.Total == nil {
		return nil, page{}, errors.New("the forge does not say how many jobs there are")
	}
	var out []job
	for _, j := range in.Jobs {
		out = append(out, j.job())
	}
	return out, page{len(in.Jobs), *in.Total}, nil
}

func (c githubReader) run(ctx context.Context, repo string, q question) (run, error) {
	if q.job != "" {
		return c.runOfJob(ctx, repo, q.job)
	}
	r := run{not: gaps{}}
	if q.run != "" {
		got, err := c.get(ctx, c.repo(repo, "actions", "runs", q.run), "")
		if err != nil {
			return r, err
		}
		if r, err = parseHubRun(got.raw); err != nil {
			return r, err
		}
		keep(&r.raw, "run", got.raw)
	} else {
		var all []run
		if err := c.each(ctx, c.repo(repo, "actions", "runs"), "head_sha="+q.commit, func(raw []byte) (page, error) {
			return parseHubRuns(raw, q.name, func(one run) { all = append(all, one) })
		}); err != nil {
			return r, err
		}
		if len(all) == 0 {
			r.nothing = "the list of runs on that commit was read to its end and holds none of it"
			return r, nil
		}
		r = newestOf(all)
	}
	r.from = "actions/runs"
	r.not.add(partJobs, c.listed(ctx, c.repo(repo, "actions", "runs", r.id, "jobs"), "filter=latest", "jobs", &r.raw, func(raw []byte) (page, error) {
		list, at, err := parseHubJobs(raw)
		r.jobs = append(r.jobs, list...)
		return at, err
	}))
	if r.state == over && r.not[partJobs] == "" {
		for _, j := range r.jobs {
			if j.ended.After(r.ended) {
				r.ended = j.ended
			}
		}
	}
	return r, nil
}

// runOfJob is the run of a job, told by that job alone.
func (c githubReader) runOfJob(ctx context.Context, repo, id string) (run, error) {
	got, err := c.get(ctx, c.repo(repo, "actions", "jobs", id), "")
	if err != nil {
		return run{}, err
	}
	j, of, err := parseHubJob(got.raw)
	if err != nil {
		return run{}, err
	}
	r, err := c.run(ctx, repo, question{run: of})
	if err != nil {
		return run{}, err
	}
	keep(&r.raw, "job", got.raw)
	r.only(j)
	return r, nil
}

func (c githubReader) log(ctx context.Context, repo string, _ run, j job) (io.ReadCloser, error) {
	resp, err := c.open(ctx, c.repo(repo, "actions", "jobs", j.id, "logs"), "")
	if away := (*elsewhereError)(nil); errors.As(err, &away) {
		return nil, fmt.Errorf("%w: save it with `gh run view --job %s --log`, and read the file with terraform/log", err, j.id)
	}
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

func (c githubReader) artifacts(ctx context.Context, repo string, of run) (out []artifact, err error) {
	err = c.each(ctx, c.repo(repo, "actions", "runs", of.id, "artifacts"), "", func(raw []byte) (page, error) {
		list, at, err := parseHubArtifacts(raw)
		for _, a := range list {
			out = append(out, a.artifact())
		}
		return at, err
	})
	return out, err
}
