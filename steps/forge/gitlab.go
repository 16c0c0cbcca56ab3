package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// gitlabReader reads GitLab by version 4 of its API.
type gitlabReader struct{ *client }

// project is the path of a project, whose own path is one part of it.
func (c gitlabReader) project(repo string, parts ...string) string {
	return path(append([]string{"projects", repo}, parts...)...)
}

type labUser struct {
	Username string `json:"username"`
}

func (u *labUser) name() string {
	if u == nil {
		return ""
	}
	return words(u.Username)
}

func parseLabMerge(raw []byte) (pull, error) {
	var in struct {
		IID      int64      `json:"iid"`
		Title    string     `json:"title"`
		URL      string     `json:"web_url"`
		State    string     `json:"state"`
		Draft    bool       `json:"draft"`
		Author   *labUser   `json:"author"`
		Source   string     `json:"source_branch"`
		Target   string     `json:"target_branch"`
		SHA      string     `json:"sha"`
		Merge    string     `json:"merge_commit_sha"`
		Squash   string     `json:"squash_commit_sha"`
		MergedAt *time.Time `json:"merged_at"`
		MergedBy *labUser   `json:"merge_user"`
		Older    *labUser   `json:"merged_by"`
		Created  time.Time  `json:"created_at"`
		Behind   *int64     `json:"diverged_commits_count"`
		Refs     struct {
			Base string `json:"base_sha"`
			Head string `json:"head_sha"`
		} `json:"diff_refs"`
	}
	if err := decode(raw, &in); err != nil {
		return pull{}, err
	}
	p := pull{number: in.IID, title: words(in.Title), url: words(in.URL), draft: in.Draft, author: in.Author.name(), head: sha(in.SHA), branch: words(in.Source), base: words(in.Target),
		created: in.Created, mergeBase: sha(in.Refs.Base), behind: -1, not: gaps{}}
	switch in.State {
	case "opened", "locked":
		p.state = "open"
	case "closed":
		p.state = "closed"
	case "merged":
		p.state, p.merge, p.mergedBy = "merged", sha(in.Merge), in.MergedBy.name()
		if p.merge == "" {
			p.merge = sha(in.Squash)
		}
		if p.mergedBy == "" {
			p.mergedBy = in.Older.name()
		}
		if in.MergedAt != nil {
			p.mergedAt = *in.MergedAt
		}
	}
	if in.Behind != nil && *in.Behind >= 0 {
		p.behind = *in.Behind
	}
	return p, nil
}

func (c gitlabReader) pull(ctx context.Context, repo string, number int64) (pull, error) {
	n := count(number)
	got, err := c.get(ctx, c.project(repo, "merge_requests", n), "include_diverged_commits_count=true")
	if err != nil {
		return pull{}, err
	}
	p, err := parseLabMerge(got.raw)
	if err != nil {
		return pull{}, err
	}
	keep(&p.raw, "pull", got.raw)
	if err := c.approvals(ctx, repo, n, &p); err != nil {
		p.not.add(partReviews, err)
		p.not.add(partRequired, err)
	}
	p.not.add(partFiles, c.each(ctx, c.project(repo, "merge_requests", n, "diffs"), "", func(raw []byte) (page, error) {
		list, at, err := parseLabDiffs(raw)
		p.files = append(p.files, list...)
		return at, err
	}))
	p.not[partTexts] = "an approval of GitLab has no text"
	p.not[partWriters] = "GitLab names the authors of commits by their addresses alone"
	p.not.add(partBase, c.base(ctx, repo, &p))
	p.not.add(partChecks, c.checks(ctx, repo, &p))
	p.not.add(partOwners, findOwners(&p, p.base, []string{"CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}, func(dir string) ([]string, error) { return c.tree(ctx, repo, p.base, dir) },
		func(name string) ([]byte, error) {
			got, err := c.get(ctx, c.project(repo, "repository", "files", name, "raw"), "ref="+url.QueryEscape(p.base))
			return got.raw, err
		}))
	return p, nil
}

// approvals reads who approved and how many are asked for. For which commit is known only where the project takes
// approvals away on a push: what is left is then for the head.
func (c gitlabReader) approvals(ctx context.Context, repo, n string, p *pull) error {
	got, err := c.get(ctx, c.project(repo, "merge_requests", n, "approvals"), "")
	if err != nil {
		return err
	}
	keep(&p.raw, "reviews", got.raw)
	list, required, err := parseLabApprovals(got.raw)
	if err != nil {
		return err
	}
	p.reviews, p.required = list, required
	if required < 0 {
		p.not[partRequired] = "GitLab does not say how many approvals it asks for: that needs a paid tier"
	}
	got, err = c.get(ctx, c.project(repo, "approvals"), "")
	resets := false
	if err == nil {
		keep(&p.raw, "protection", got.raw)
		resets, err = parseLabResets(got.raw)
	}
	switch {
	case err != nil:
		p.not[partCommits] = "GitLab does not say for which commit an approval was, and whether a push takes approvals away cannot be read: " + words(err.Error())
	case !resets:
		p.not[partCommits] = "GitLab does not say for which commit an approval was, and a push leaves approvals here"
	default:
		for i := range p.reviews {
			p.reviews[i].commit = p.head
		}
	}
	return nil
}

func parseLabApprovals(raw []byte) (list []review, required int64, err error) {
	var in struct {
		Required *int64 `json:"approvals_required"`
		By       *[]struct {
			User *labUser   `json:"user"`
			At   *time.Time `json:"approved_at"`
		} `json:"approved_by"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, 0, err
	}
	if in.By == nil {
		return nil, 0, errors.New("the forge does not say who approved")
	}
	for _, a := range *in.By {
		r := review{login: a.User.name(), says: approved}
		if a.At != nil {
			r.at = *a.At
		}
		if r.login != "" {
			list = append(list, r)
		}
	}
	required = -1
	if in.Required != nil && *in.Required >= 0 {
		required = *in.Required
	}
	return list, required, nil
}

func parseLabResets(raw []byte) (bool, error) {
	var in struct {
		Resets *bool `json:"reset_approvals_on_push"`
	}
	if err := decode(raw, &in); err != nil {
		return false, err
	}
	if in.Resets == nil {
		return false, errors.New("the forge does not say it")
	}
	return *in.Resets, nil
}

func parseLabDiffs(raw []byte) ([]string, page, error) {
	var in []struct {
		New string `json:"new_path"`
		Old string `json:"old_path"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	var out []string
	for _, d := range in {
		out = append(out, d.New)
		if d.Old != "" && d.Old != d.New {
			out = append(out, d.Old)
		}
	}
	return out, page{len(in), -1}, nil
}

func (c gitlabReader) base(ctx context.Context, repo string, p *pull) error {
	got, err := c.get(ctx, c.project(repo, "repository", "branches", p.base), "")
	if err != nil {
		return err
	}
	if p.baseNow, err = parseLabBranch(got.raw); err != nil {
		return err
	}
	if p.behind < 0 {
		return errors.New("the forge does not count the commits between two")
	}
	return nil
}

func parseLabBranch(raw []byte) (string, error) {
	var in struct {
		Commit struct {
			ID string `json:"id"`
		} `json:"commit"`
	}
	if err := decode(raw, &in); err != nil {
		return "", err
	}
	if sha(in.Commit.ID) == "" {
		return "", errors.New("the forge does not say where the branch is")
	}
	return in.Commit.ID, nil
}

func (c gitlabReader) checks(ctx context.Context, repo string, p *pull) error {
	if p.head == "" {
		return errNoHead
	}
	return c.listed(ctx, c.project(repo, "repository", "commits", p.head, "statuses"), "", "checks", &p.raw, func(raw []byte) (page, error) {
		list, at, err := parseLabStatuses(raw)
		p.checks = append(p.checks, list...)
		return at, err
	})
}

func parseLabStatuses(raw []byte) ([]check, page, error) {
	var in []struct {
		Name     string     `json:"name"`
		Status   string     `json:"status"`
		Target   string     `json:"target_url"`
		Allowed  bool       `json:"allow_failure"`
		Created  *time.Time `json:"created_at"`
		Finished *time.Time `json:"finished_at"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	var out []check
	for _, s := range in {
		c := check{name: words(s.Name), url: words(s.Target)}
		for _, at := range []*time.Time{s.Created, s.Finished} {
			if at != nil {
				c.at = *at
			}
		}
		switch s.Status {
		case "success":
			c.says = success
		case "failed", "canceled":
			c.says = failure
			if s.Allowed {
				c.says = neutral
			}
		case "skipped", "manual":
			c.says = neutral
		default:
			c.says = pending
		}
		out = append(out, c)
	}
	return out, page{len(in), -1}, nil
}

func (c gitlabReader) tree(ctx context.Context, repo, at, dir string) ([]string, error) {
	query := "ref=" + url.QueryEscape(at)
	if dir != "" {
		query += "&path=" + url.QueryEscape(dir)
	}
	names := []string{}
	err := c.each(ctx, c.project(repo, "repository", "tree"), query, func(raw []byte) (page, error) {
		list, err := parseHubNames(raw)
		names = append(names, list...)
		return page{len(list), -1}, err
	})
	return names, err
}

func (c gitlabReader) pullOf(ctx context.Context, repo, branch string) (newest int64, err error) {
	err = c.each(ctx, c.project(repo, "merge_requests"), "state=all&source_branch="+url.QueryEscape(branch), func(raw []byte) (page, error) {
		return parseLabMerges(raw, branch, func(n int64) { newest = max(newest, n) })
	})
	return newest, err
}

func parseLabMerges(raw []byte, branch string, from func(int64)) (page, error) {
	var in []struct {
		IID    int64  `json:"iid"`
		Source string `json:"source_branch"`
		From   *int64 `json:"source_project_id"` // null where the fork is gone
		To     *int64 `json:"target_project_id"`
	}
	if err := decode(raw, &in); err != nil {
		return page{}, err
	}
	for _, m := range in {
		fork := m.To != nil && (m.From == nil || *m.From != *m.To) // in which anyone may call a branch what they like
		if m.Source == branch && m.IID > 0 && !fork {
			from(m.IID)
		}
	}
	return page{len(in), -1}, nil
}

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
