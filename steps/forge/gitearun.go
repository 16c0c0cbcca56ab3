package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// giteaTask is a job that a runner took.
type giteaTask struct {
	id, run  int64
	name     string
	workflow string
	status   string
	sha      string
	branch   string
	event    string
	url      string
	started  time.Time
	updated  time.Time
}

func parseGiteaTasks(raw []byte) ([]giteaTask, page, error) {
	var in struct {
		Tasks []struct {
			ID       int64     `json:"id"`
			Name     string    `json:"name"`
			Branch   string    `json:"head_branch"`
			SHA      string    `json:"head_sha"`
			Run      int64     `json:"run_number"`
			Event    string    `json:"event"`
			Status   string    `json:"status"`
			Workflow string    `json:"workflow_id"`
			URL      string    `json:"url"`
			Started  time.Time `json:"run_started_at"`
			Updated  time.Time `json:"updated_at"`
		} `json:"workflow_runs"`
		Total *int `json:"total_count"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	if in.Total == nil {
		return nil, page{}, errors.New("the forge does not say how many tasks there are")
	}
	var out []giteaTask
	for _, t := range in.Tasks {
		out = append(out, giteaTask{t.ID, t.Run, words(t.Name), words(t.Workflow), t.Status, sha(t.SHA), words(t.Branch), words(t.Event), words(t.URL), t.Started, t.Updated})
	}
	return out, page{len(in.Tasks), *in.Total}, nil
}

// run puts a run together: of the jobs that a runner took from the tasks, and of those that wait from the commit statuses.
func (c giteaReader) run(ctx context.Context, repo string, q question) (run, error) {
	r := run{not: gaps{}, from: "actions/tasks and the statuses of the commit"}
	var tasks []giteaTask
	if err := c.listed(ctx, c.repo(repo, "actions", "tasks"), "", "tasks", &r.raw, func(raw []byte) (page, error) {
		list, at, err := parseGiteaTasks(raw)
		tasks = append(tasks, list...)
		return at, err
	}); err != nil && !errors.Is(err, errLong) {
		return r, err
	} else if err != nil {
		r.not["older tasks"] = "Gitea lists tasks with the newest first, and " + err.Error()
	}
	picked, number, more := pickTasks(tasks, q)
	r.more = more
	if number == 0 && r.not["older tasks"] != "" {
		return r, errors.New(r.not["older tasks"])
	}
	if number == 0 {
		r.nothing = "no runner took a job of it, and Gitea lists no other: it may wait for one"
		return r, nil
	}
	r.id = count(number)
	newest := picked[0]
	r.url, r.name, r.head, r.branch, r.event = newest.url, newest.workflow, newest.sha, newest.branch, newest.event
	seen := map[string]giteaTask{} // the newest task of each job: a job that is run again has another
	for _, t := range picked {
		if old, ok := seen[t.name]; !ok || t.id > old.id {
			seen[t.name] = t
		}
	}
	for i := len(picked) - 1; i >= 0; i-- { // in the order in which they were taken
		t := picked[i]
		if seen[t.name].id != t.id || q.job != "" && q.job != count(t.id) {
			continue
		}
		r.jobs = append(r.jobs, t.job())
		if r.started.IsZero() || t.started.Before(r.started) {
			r.started = t.started
		}
	}
	r.not["actor"] = "Gitea lists tasks without who began them"
	r.not["runner"] = "Gitea lists tasks without their runner"
	r.not["step"] = "Gitea lists tasks without their steps: forge/log reads them from the log"
	var ended []string
	for name, t := range seen {
		if t.status == "cancelled" {
			ended = append(ended, name)
		}
	}
	waiting, err := c.waiting(ctx, repo, &r, ended)
	if q.job != "" {
		waiting, err = 0, nil
	}
	r.sum(waiting, err)
	return r, nil
}

// waiting counts the jobs of a run that have not ended, by the statuses of its commit. Of those that were cancelled the task
// counts: Gitea leaves their status pending where a later push cancelled them.
func (c giteaReader) waiting(ctx context.Context, repo string, r *run, ended []string) (n int, err error) {
	if r.head == "" {
		return 0, errNoHead
	}
	of := 0
	mark := "/" + repo + "/actions/runs/" + r.id + "/jobs/"
	err = c.listed(ctx, c.repo(repo, "commits", r.head, "status"), "", "checks", &r.raw, func(raw []byte) (page, error) {
		list, at, err := parseHubStatus(raw)
		for _, s := range list {
			if !strings.Contains(s.url, mark) {
				continue
			}
			of++
			told := slices.ContainsFunc(ended, func(name string) bool { return strings.HasSuffix(" "+s.name, " / "+name+" ("+r.event+")") })
			if s.says == pending && !told {
				n++
			}
		}
		at.total = max(at.total, 0)
		return at, err
	})
	if err == nil && of == 0 {
		err = errors.New("the commit has no status of this run, so jobs that wait for a runner cannot be seen")
	}
	return n, err
}

func (t giteaTask) job() job {
	j := job{id: count(t.id), name: t.name, started: t.started}
	switch t.status {
	case "waiting", "blocked":
		j.state = queued
	case "running":
		j.state = running
	case "success", "failure", "cancelled", "skipped":
		j.state, j.result, j.ended = over, resultOf(t.status), t.updated
	}
	return j
}

// pickTasks are the tasks of the run that is meant, newest first, and how many other runs fit.
func pickTasks(all []giteaTask, q question) (picked []giteaTask, number int64, more int) {
	fits := func(t giteaTask) bool {
		return (q.run == "" || count(t.run) == q.run) && (q.job == "" || count(t.id) == q.job) && (q.commit == "" || t.sha == q.commit) &&
			(q.name == "" || t.workflow == q.name || strings.TrimSuffix(strings.TrimSuffix(t.workflow, ".yaml"), ".yml") == q.name || t.name == q.name)
	}
	runs := map[int64]bool{}
	for _, t := range all {
		if t.run > 0 && fits(t) {
			runs[t.run] = true
			number = max(number, t.run)
		}
	}
	for _, t := range all {
		if t.run == number && number > 0 {
			picked = append(picked, t)
		}
	}
	return picked, number, max(0, len(runs)-1)
}

// log finds the log of a task. Gitea hands logs out by the number of the job, which it lists nowhere; the file name of the
// answer has that of the task, and the two numbers are close.
func (c giteaReader) log(ctx context.Context, repo string, _ run, j job) (io.ReadCloser, error) {
	task, err := strconv.ParseInt(j.id, 10, 64)
	if err != nil {
		return nil, errors.New("a task of Gitea is a number")
	}
	const near = 10
	var first error
	for i := range 2*near + 1 {
		n := task + int64((i+1)/2)*int64(1-2*(i%2)) // itself, then below and above in turn
		if n < 1 {
			continue
		}
		resp, err := c.open(ctx, c.repo(repo, "actions", "jobs", count(n), "logs"), "")
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if taskOf(resp.Header.Get("Content-Disposition")) == task {
			return resp.Body, nil
		}
		_ = resp.Body.Close()
	}
	if first == nil {
		first = errNotSeen
	}
	return nil, fmt.Errorf("no job near task %d has its log: save it from the page of the run, and read the file with terraform/log: %w", task, first)
}

var taskInName = regexp.MustCompile(`-([0-9]{1,18})\.log$`)

// taskOf is the number of the task in the name of a log, 0 for none.
func taskOf(disposition string) int64 {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return 0
	}
	name, err := url.PathUnescape(params["filename"])
	if err != nil {
		return 0
	}
	m := taskInName.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // at most 18 digits
	return n
}

// artifacts are those of the commit of a run. Gitea tells them by a number of the run that it shows nowhere else, so they
// are known where one run alone left artifacts on that commit.
func (c giteaReader) artifacts(ctx context.Context, repo string, of run) ([]artifact, error) {
	if of.head == "" {
		return nil, errNoHead
	}
	runs := map[int64]bool{}
	var out []artifact
	err := c.each(ctx, c.repo(repo, "actions", "artifacts"), "", func(raw []byte) (page, error) {
		list, at, err := parseHubArtifacts(raw)
		for _, a := range list {
			if a.Run.SHA == of.head {
				runs[a.Run.ID] = true
				out = append(out, a.artifact())
			}
		}
		return at, err
	})
	if err == nil && len(runs) > 1 {
		return nil, fmt.Errorf("%d runs left artifacts on that commit, and Gitea does not say which of them is run %s", len(runs), of.id)
	}
	return out, err
}
