package forge

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Runner takes jobs of a forge as a runner of Actions does, by the protocol of Gitea in JSON. It executes nothing: what a
// job did is what the caller says.
type Runner struct {
	Name string

	forge       *Forge
	uuid, token string
}

// Runner registers a runner that takes the jobs of every repository with the label ubuntu-latest.
func (f *Forge) Runner(ctx context.Context, name string) (*Runner, error) {
	var key struct{ Token string }
	if err := f.Admin.do(ctx, get, "/admin/runners/registration-token", nil, &key); err != nil {
		return nil, err
	}
	r := &Runner{Name: name, forge: f}
	labels := []string{"ubuntu-latest"}
	var out struct{ Runner struct{ UUID, Token string } }
	if err := r.call(ctx, "Register", object{"name": name, "token": key.Token, "version": "lab", "labels": labels}, &out); err != nil {
		return nil, err
	}
	r.uuid, r.token = out.Runner.UUID, out.Runner.Token
	return r, r.call(ctx, "Declare", object{"version": "lab", "labels": labels}, nil)
}

func (r *Runner) call(ctx context.Context, method string, in, out any) error {
	return r.forge.send(ctx, post, "/api/actions/runner.v1.RunnerService/"+method, func(q *http.Request) {
		if r.uuid != "" {
			q.Header.Set("X-Runner-Uuid", r.uuid)
			q.Header.Set("X-Runner-Token", r.token)
		}
	}, in, out)
}

// Job is one that a runner took.
type Job struct {
	Task int64 // its number, that of actions/tasks

	runner  *Runner
	token   string // of the job itself, for its artifacts
	started time.Time
	steps   []object
	lines   int64
}

// Take asks for a job until there is one or ctx ends. Gitea begins it then.
func (r *Runner) Take(ctx context.Context) (*Job, error) {
	for {
		var out struct {
			Task *struct {
				ID      string         `json:"id"`
				Context map[string]any `json:"context"`
			} `json:"task"`
		}
		if err := r.call(ctx, "FetchTask", object{"tasksVersion": "0"}, &out); err != nil {
			return nil, err
		}
		if out.Task != nil {
			id, err := strconv.ParseInt(out.Task.ID, 10, 64)
			token, _ := out.Task.Context["gitea_runtime_token"].(string)
			j := &Job{Task: id, runner: r, token: token, started: time.Now()}
			if err == nil {
				err = j.report(ctx, "", nil)
			}
			return j, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond): // a runner polls, as the protocol has it
		}
	}
}

// Step reports lines of the log, as those of the next step of the job, and how that ended: success, failure, cancelled or
// skipped.
func (j *Job) Step(ctx context.Context, result string, lines ...string) error {
	const most = 2000 // lines of one message
	from := j.lines
	for len(lines) > 0 {
		n := min(most, len(lines))
		var rows []object
		for _, l := range lines[:n] {
			rows = append(rows, object{"time": time.Now().UTC(), "content": l})
		}
		if err := j.runner.call(ctx, "UpdateLog", object{"taskId": number(j.Task), "index": number(j.lines), "rows": rows}, nil); err != nil {
			return err
		}
		j.lines += int64(n)
		lines = lines[n:]
	}
	j.steps = append(j.steps, object{"id": number(int64(len(j.steps))), "result": resultOf(result), "startedAt": j.started.UTC(), "stoppedAt": time.Now().UTC(),
		"logIndex": number(from), "logLength": number(j.lines - from)})
	return j.report(ctx, "", nil)
}

// End ends the job and its log, with the line that a runner ends it with: Gitea takes no end of a log without one.
func (j *Job) End(ctx context.Context, result string) error {
	stopped := time.Now().UTC()
	last := []object{{"time": stopped, "content": "Job ended: " + result}}
	if err := j.runner.call(ctx, "UpdateLog", object{"taskId": number(j.Task), "index": number(j.lines), "rows": last, "noMore": true}, nil); err != nil {
		return err
	}
	return j.report(ctx, result, &stopped)
}

func (j *Job) report(ctx context.Context, result string, stopped *time.Time) error {
	state := object{"id": number(j.Task), "result": resultOf(result), "startedAt": j.started.UTC(), "steps": j.steps}
	if stopped != nil {
		state["stoppedAt"] = *stopped
	}
	return j.runner.call(ctx, "UpdateTask", object{"state": state}, nil)
}

// resultOf is a result as the protocol names it, "" for one that is not there yet.
func resultOf(word string) string {
	switch word {
	case "success":
		return "RESULT_SUCCESS"
	case "failure":
		return "RESULT_FAILURE"
	case "cancelled":
		return "RESULT_CANCELLED"
	case "skipped":
		return "RESULT_SKIPPED"
	}
	return "RESULT_UNSPECIFIED"
}

// number is a 64-bit number as JSON of the protocol has it.
func number(n int64) string { return strconv.FormatInt(n, 10) }
