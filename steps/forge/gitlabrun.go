package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// labState is where a pipeline or a job stands. One that a person must start goes on when they do.
func labState(status string) (state, result string) {
	switch status {
	case "success", "failed", "canceled", "skipped":
		return over, resultOf(status)
	case "running", "canceling":
		return running, ""
	case "created", "waiting_for_resource", "waiting_for_callback", "preparing", "pending", "manual", "scheduled":
		return queued, ""
	}
	return "", ""
}

type labPipeline struct {
	ID       int64      `json:"id"`
	Status   string     `json:"status"`
	Ref      string     `json:"ref"`
	SHA      string     `json:"sha"`
	Source   string     `json:"source"`
	Name     string     `json:"name"`
	URL      string     `json:"web_url"`
	User     *labUser   `json:"user"`
	Created  time.Time  `json:"created_at"`
	Started  *time.Time `json:"started_at"`
	Finished *time.Time `json:"finished_at"`
}

func (in labPipeline) run() run {
	r := run{id: count(in.ID), url: words(in.URL), name: words(in.Name), head: sha(in.SHA), branch: words(in.Ref), event: words(in.Source), actor: in.User.name(), created: in.Created, not: gaps{}}
	r.state, r.result = labState(in.Status)
	if in.Started != nil {
		r.started = *in.Started
	}
	if in.Finished != nil && r.state == over {
		r.ended = *in.Finished
	}
	if r.state == "" {
		r.not[partState] = fmt.Sprintf("the forge says %q, which is not known", words(in.Status))
	}
	return r
}

func parseLabPipeline(raw []byte) (run, error) {
	var in labPipeline
	if err := decode(raw, &in); err != nil {
		return run{}, err
	}
	if in.ID == 0 {
		return run{}, errors.New("the forge answered with something else than a pipeline")
	}
	return in.run(), nil
}

func parseLabPipelines(raw []byte, name string, each func(run)) (page, error) {
	var in []labPipeline
	if err := decode(raw, &in); err != nil {
		return page{}, err
	}
	for _, one := range in {
		if one.ID != 0 && (name == "" || one.Name == name || one.Source == name) {
			each(one.run())
		}
	}
	return page{len(in), -1}, nil
}

type labJob struct {
	ID       int64      `json:"id"`
	Name     string     `json:"name"`
	Stage    string     `json:"stage"`
	Status   string     `json:"status"`
	Started  *time.Time `json:"started_at"`
	Finished *time.Time `json:"finished_at"`
	Runner   *struct {
		Description string `json:"description"`
	} `json:"runner"`
	Pipeline struct {
		ID int64 `json:"id"`
	} `json:"pipeline"`
	Allowed  bool       `json:"allow_failure"`
	Expire   *time.Time `json:"artifacts_expire_at"`
	Archives []struct {
		Type string `json:"file_type"`
		Size int64  `json:"size"`
		Name string `json:"filename"`
	} `json:"artifacts"`
}

func (in labJob) job() job {
	j := job{id: count(in.ID), name: words(in.Name), stage: words(in.Stage)}
	j.state, j.result = labState(in.Status)
	if in.Status == "failed" && in.Allowed {
		j.result = skipped // it fails nothing
	}
	if in.Started != nil {
		j.started = *in.Started
	}
	if in.Finished != nil && j.state == over {
		j.ended = *in.Finished
	}
	if in.Runner != nil {
		j.runner = words(in.Runner.Description)
	}
	return j
}

func parseLabJob(raw []byte) (job, string, error) {
	var in labJob
	if err := decode(raw, &in); err != nil {
		return job{}, "", err
	}
	if in.ID == 0 || in.Pipeline.ID == 0 {
		return job{}, "", errors.New("the forge answered with something else than a job")
	}
	return in.job(), count(in.Pipeline.ID), nil
}

func parseLabJobs(raw []byte) ([]labJob, page, error) {
	var in []labJob
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	return in, page{len(in), -1}, nil
}

func (c gitlabReader) jobs(ctx context.Context, repo string, r *run, each func(labJob)) error {
	return c.listed(ctx, c.project(repo, "pipelines", r.id, "jobs"), "", "jobs", &r.raw, func(raw []byte) (page, error) {
		list, at, err := parseLabJobs(raw)
		for _, j := range list {
			each(j)
		}
		return at, err
	})
}

func (c gitlabReader) run(ctx context.Context, repo string, q question) (run, error) {
	r := run{not: gaps{}}
	var one *job
	if q.job != "" {
		got, err := c.get(ctx, c.project(repo, "jobs", q.job), "")
		if err != nil {
			return r, err
		}
		j, of, err := parseLabJob(got.raw)
		if err != nil {
			return r, err
		}
		q.run, one = of, &j
	}
	if q.run == "" {
		var all []run
		if err := c.each(ctx, c.project(repo, "pipelines"), "sha="+q.commit, func(raw []byte) (page, error) {
			return parseLabPipelines(raw, q.name, func(one run) { all = append(all, one) })
		}); err != nil {
			return r, err
		}
		if len(all) == 0 {
			r.nothing = "the list of pipelines on that commit was read to its end and holds none of it"
			return r, nil
		}
		newest := newestOf(all)
		q.run, r.more = newest.id, newest.more
	}
	got, err := c.get(ctx, c.project(repo, "pipelines", q.run), "")
	if err != nil {
		return r, err
	}
	more := r.more
	if r, err = parseLabPipeline(got.raw); err != nil {
		return r, err
	}
	keep(&r.raw, "run", got.raw)
	r.more, r.from = more, "pipelines"
	r.not.add(partJobs, c.jobs(ctx, repo, &r, func(j labJob) { r.jobs = append(r.jobs, j.job()) }))
	r.not["step"] = "GitLab tells no steps of a job: forge/log reads them from the log"
	if one != nil {
		r.only(*one)
	}
	return r, nil
}

func (c gitlabReader) log(ctx context.Context, repo string, _ run, j job) (io.ReadCloser, error) {
	resp, err := c.open(ctx, c.project(repo, "jobs", j.id, "trace"), "")
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// artifacts are the archives of the jobs of a pipeline. GitLab names no digest.
func (c gitlabReader) artifacts(ctx context.Context, repo string, of run) (out []artifact, err error) {
	err = c.jobs(ctx, repo, &of, func(j labJob) {
		for _, file := range j.Archives {
			if file.Type == "trace" {
				continue // the log
			}
			a := artifact{id: count(j.ID), name: words(strings.TrimSpace(j.Name + "/" + file.Name)), size: file.Size}
			if j.Finished != nil {
				a.created = *j.Finished
			}
			if j.Expire != nil {
				a.expires = *j.Expire
			}
			out = append(out, a)
		}
	})
	return out, err
}
