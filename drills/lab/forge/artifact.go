package forge

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Artifact uploads one while the job runs, as version 4 of the action does. It expires at a time; [Forge.CleanUp] takes
// away what has.
func (j *Job) Artifact(ctx context.Context, name string, content []byte, expires time.Time) error {
	run, id, err := j.scope()
	if err != nil {
		return err
	}
	const service = "/twirp/github.actions.results.api.v1.ArtifactService/"
	sign := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+j.token) }
	f := j.runner.forge
	of := object{"workflowRunBackendId": run, "workflowJobRunBackendId": id, "name": name}
	begin := object{"version": 4, "expiresAt": expires.UTC()}
	end := object{"size": number(int64(len(content)))}
	for k, v := range of {
		begin[k], end[k] = v, v
	}
	var at struct {
		URL string `json:"signedUploadUrl"`
	}
	if err := f.send(ctx, post, service+"CreateArtifact", sign, begin, &at); err != nil {
		return err
	}
	to, err := url.Parse(at.URL)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, put, f.URL+to.Path+"?"+to.RawQuery+"&comp=appendBlock", bytes.NewReader(content))
	if err != nil {
		return err
	}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if raw, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)); answer.StatusCode != http.StatusCreated {
		return &RefusedError{put, to.Path, answer.StatusCode, string(raw)}
	}
	return f.send(ctx, post, service+"FinalizeArtifact", sign, end, nil)
}

// scope is the run and the job that the token of the job is for.
func (j *Job) scope() (run, id string, err error) {
	parts := strings.Split(j.token, ".")
	if len(parts) != 3 {
		return "", "", errors.New("gitea gave the job no token")
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", "", err
	}
	var in struct{ RunID, JobID int64 }
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", "", err
	}
	if in.RunID == 0 {
		return "", "", fmt.Errorf("the token of task %d names no run", j.Task)
	}
	return number(in.RunID), number(in.JobID), nil
}

// Expired reports whether the newest artifact of a name has expired. One that is not listed is an error.
func (r *Repo) Expired(ctx context.Context, by *User, name string) (bool, error) {
	var out struct {
		Artifacts []struct {
			ID      int64
			Name    string
			Expired bool
		}
	}
	if err := by.do(ctx, get, r.at("actions", "artifacts"), nil, &out); err != nil {
		return false, err
	}
	var newest int64
	expired := false
	for _, a := range out.Artifacts {
		if a.Name == name && a.ID > newest {
			newest, expired = a.ID, a.Expired
		}
	}
	if newest == 0 {
		return false, fmt.Errorf("%s has no artifact %s", r.Path(), name)
	}
	return expired, nil
}

// CleanUp lets Gitea do at once what it does at night: artifacts whose time is over expire.
func (f *Forge) CleanUp(ctx context.Context) error {
	return f.Admin.do(ctx, post, "/admin/cron/cleanup_actions", nil, nil)
}
