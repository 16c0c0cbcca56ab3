package forge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// githubReader reads GitHub, and GitHub Enterprise Server, by version 2022-11-28 of its API.
type githubReader struct{ *client }

func (c githubReader) repo(repo string, parts ...string) string {
	return "/repos/" + repo + path(parts...)
}

// mostHubFiles is where GitHub ends the list of changed files (REST API, List pull requests files).
const mostHubFiles = 3000

// mostHubCommits is where it ends that of commits (List commits on a pull request).
const mostHubCommits = 250

func (c githubReader) pull(ctx context.Context, repo string, number int64) (pull, error) {
	n := count(number)
	got, err := c.get(ctx, c.repo(repo, "pulls", n), "")
	if err != nil {
		return pull{}, err
	}
	p, err := parseHubPull(got.raw)
	if err != nil {
		return pull{}, err
	}
	keep(&p.raw, "pull", got.raw)
	p.not.add(partReviews, c.listed(ctx, c.repo(repo, "pulls", n, "reviews"), "", "reviews", &p.raw, func(raw []byte) (page, error) {
		list, at, err := parseHubReviews(raw)
		p.reviews = append(p.reviews, list...)
		return at, err
	}))
	told := 0
	err = c.each(ctx, c.repo(repo, "pulls", n, "files"), "", func(raw []byte) (page, error) {
		list, at, err := parseHubFiles(raw)
		p.files = append(p.files, list...)
		told += at.entries
		return at, err
	})
	if err == nil && told >= mostHubFiles {
		err = fmt.Errorf("GitHub tells %d changed files at most, and this may be more", mostHubFiles)
	}
	p.not.add(partFiles, err)
	told = 0
	err = c.each(ctx, c.repo(repo, "pulls", n, "commits"), "", func(raw []byte) (page, error) {
		list, at, err := parseHubWriters(raw)
		p.writers = append(p.writers, list...)
		told += at.entries
		return at, err
	})
	if err == nil && told >= mostHubCommits {
		err = fmt.Errorf("GitHub tells %d commits at most, and this may be more", mostHubCommits)
	}
	p.not.add(partWriters, err)
	p.not.add(partBase, c.behind(ctx, repo, &p))
	p.not.add(partRequired, c.required(ctx, repo, &p))
	p.not.add(partChecks, c.checks(ctx, repo, &p))
	p.not.add(partOwners, findOwners(&p, p.base, []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}, func(dir string) ([]string, error) { return c.names(ctx, repo, p.base, dir) },
		func(name string) ([]byte, error) {
			got, err := c.get(ctx, c.repo(repo, "contents")+path(strings.Split(name, "/")...), "ref="+url.QueryEscape(p.base))
			if err != nil {
				return nil, err
			}
			return parseHubContent(got.raw)
		}))
	return p, nil
}

func parseHubContent(raw []byte) ([]byte, error) {
	var in struct {
		Content  string `json:"content"`
		Encoding string `json:"encoding"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, err
	}
	if in.Encoding != "base64" {
		return nil, errors.New("the forge does not give the file in base64")
	}
	return base64.StdEncoding.DecodeString(strings.ReplaceAll(in.Content, "\n", ""))
}

// behind reads where the base branch is and holds the head against it.
func (c githubReader) behind(ctx context.Context, repo string, p *pull) error {
	if p.head == "" {
		return errNoHead
	}
	got, err := c.get(ctx, c.repo(repo, "compare")+"/"+url.PathEscape(p.base)+"..."+p.head, "per_page=1")
	if err != nil {
		return err
	}
	var in struct {
		Behind *int64               `json:"behind_by"`
		Base   struct{ SHA string } `json:"base_commit"`
		Merge  struct{ SHA string } `json:"merge_base_commit"`
	}
	if err := decode(got.raw, &in); err != nil {
		return err
	}
	if in.Behind == nil || *in.Behind < 0 {
		return errors.New("the forge does not count the commits between two")
	}
	p.behind, p.baseNow, p.mergeBase = *in.Behind, sha(in.Base.SHA), sha(in.Merge.SHA)
	return nil
}

// required reads what the base branch asks for: of rulesets, which every reader may read, and of classic protection, which
// only administrators may. That there is none of the latter stands in the branch.
func (c githubReader) required(ctx context.Context, repo string, p *pull) error {
	branch := url.PathEscape(p.base)
	got, err := c.get(ctx, c.repo(repo, "branches")+"/"+branch, "")
	if err != nil {
		return err
	}
	protected, err := parseHubProtected(got.raw)
	if err != nil {
		return err
	}
	var rules hubRules
	if err := c.listed(ctx, c.repo(repo, "rules", "branches")+"/"+branch, "", "rules", &p.raw, func(raw []byte) (page, error) {
		r, at, err := parseHubRules(raw)
		rules.approvals = max(rules.approvals, r.approvals)
		rules.checks = append(rules.checks, r.checks...)
		return at, err
	}); err != nil {
		return err
	}
	if protected {
		got, err := c.get(ctx, c.repo(repo, "branches")+"/"+branch+"/protection", "")
		if err != nil {
			return fmt.Errorf("the branch is protected, and what it asks for cannot be read: %w", err)
		}
		keep(&p.raw, "protection", got.raw)
		r, err := parseHubProtection(got.raw)
		if err != nil {
			return err
		}
		rules.approvals = max(rules.approvals, r.approvals)
		rules.checks = append(rules.checks, r.checks...)
	}
	p.required, p.wanted = rules.approvals, unique(rules.checks)
	return nil
}

func parseHubProtected(raw []byte) (bool, error) {
	var in struct {
		Protected *bool `json:"protected"`
	}
	if err := decode(raw, &in); err != nil {
		return false, err
	}
	if in.Protected == nil {
		return false, errors.New("the forge does not say whether the branch is protected")
	}
	return *in.Protected, nil
}

// hubRules are what a branch asks for.
type hubRules struct {
	approvals int64
	checks    []string
}

func parseHubRules(raw []byte) (hubRules, page, error) {
	var in []struct {
		Type       string `json:"type"`
		Parameters struct {
			Approvals int64 `json:"required_approving_review_count"`
			Checks    []struct {
				Context string `json:"context"`
			} `json:"required_status_checks"`
		} `json:"parameters"`
	}
	if err := decode(raw, &in); err != nil {
		return hubRules{}, page{}, err
	}
	var out hubRules
	for _, r := range in {
		out.approvals = max(out.approvals, r.Parameters.Approvals)
		for _, c := range r.Parameters.Checks {
			out.checks = append(out.checks, words(c.Context))
		}
	}
	return out, page{len(in), -1}, nil
}

func parseHubProtection(raw []byte) (hubRules, error) {
	var in struct {
		Reviews struct {
			Approvals int64 `json:"required_approving_review_count"`
		} `json:"required_pull_request_reviews"`
		Checks struct {
			Contexts []string `json:"contexts"`
		} `json:"required_status_checks"`
	}
	if err := decode(raw, &in); err != nil {
		return hubRules{}, err
	}
	out := hubRules{approvals: in.Reviews.Approvals}
	for _, name := range in.Checks.Contexts {
		out.checks = append(out.checks, words(name))
	}
	return out, nil
}

func (c githubReader) checks(ctx context.Context, repo string, p *pull) error {
	if p.head == "" {
		return errNoHead
	}
	err := c.listed(ctx, c.repo(repo, "commits", p.head, "status"), "", "checks", &p.raw, func(raw []byte) (page, error) {
		list, at, err := parseHubStatus(raw)
		p.checks = append(p.checks, list...)
		return at, err
	})
	if err != nil {
		return err
	}
	return c.listed(ctx, c.repo(repo, "commits", p.head, "check-runs"), "", "check runs", &p.raw, func(raw []byte) (page, error) {
		list, at, err := parseHubCheckRuns(raw)
		p.checks = append(p.checks, list...)
		return at, err
	})
}

func parseHubCheckRuns(raw []byte) ([]check, page, error) {
	var in struct {
		Total *int `json:"total_count"`
		Runs  []struct {
			Name       string     `json:"name"`
			Status     string     `json:"status"`
			Conclusion string     `json:"conclusion"`
			URL        string     `json:"details_url"`
			Started    *time.Time `json:"started_at"`
			Completed  *time.Time `json:"completed_at"`
		} `json:"check_runs"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	if in.Total == nil {
		return nil, page{}, errors.New("the forge does not say how many checks there are")
	}
	var out []check
	for _, r := range in.Runs {
		c := check{name: words(r.Name), url: words(r.URL), says: pending}
		if r.Started != nil {
			c.at = *r.Started
		}
		if r.Status == "completed" {
			if r.Completed != nil {
				c.at = *r.Completed
			}
			switch r.Conclusion {
			case "success":
				c.says = success
			case "neutral", "skipped":
				c.says = neutral
			default:
				c.says = failure
			}
		}
		out = append(out, c)
	}
	return out, page{len(in.Runs), *in.Total}, nil
}

func (c githubReader) pullOf(ctx context.Context, repo, branch string) (newest int64, err error) {
	owner, _, _ := strings.Cut(repo, "/")
	err = c.each(ctx, c.repo(repo, "pulls"), "state=all&head="+url.QueryEscape(owner+":"+branch), func(raw []byte) (page, error) {
		return parseHubPulls(raw, branch, func(n int64) { newest = max(newest, n) })
	})
	return newest, err
}

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
