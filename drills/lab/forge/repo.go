package forge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// Repo is a repository. Each method acts as the user that it is given.
type Repo struct {
	Owner, Name string

	forge *Forge
}

// Path is owner/name.
func (r *Repo) Path() string { return r.Owner + "/" + r.Name }

// URL is where it is cloned from.
func (r *Repo) URL() string { return r.forge.URL + "/" + r.Path() + ".git" }

func (r *Repo) at(parts ...string) string {
	out := "/repos/" + url.PathEscape(r.Owner) + "/" + url.PathEscape(r.Name)
	for _, p := range parts {
		out += "/" + p
	}
	return out
}

// Share lets another account read, write or admin it.
func (r *Repo) Share(ctx context.Context, by *User, with, right string) error {
	return by.do(ctx, put, r.at("collaborators", url.PathEscape(with)), object{"permission": right}, nil)
}

// Protection is the rule of a branch: pushes to it are refused, and a merge wants what stands here.
type Protection struct {
	Branch    string
	Approvals int      // that a merge needs, 0 for none
	Checks    []string // contexts of commit statuses that must be green
	Dismiss   bool     // a new commit dismisses approvals
}

// Protect sets the rule of a branch.
func (r *Repo) Protect(ctx context.Context, by *User, p Protection) error {
	return by.do(ctx, post, r.at("branch_protections"), object{
		"rule_name": p.Branch, "enable_push": false, "required_approvals": p.Approvals, "enable_status_check": len(p.Checks) > 0, "status_check_contexts": p.Checks,
		"block_on_rejected_reviews": true, "dismiss_stale_approvals": p.Dismiss, "block_admin_merge_override": true}, nil)
}

// Commit writes one file to a branch and returns the commit. from is the branch that a new one begins at, "" where the
// branch is there.
func (r *Repo) Commit(ctx context.Context, by *User, branch, from, name, text, message string) (sha string, err error) {
	var old struct {
		SHA string `json:"sha"`
	}
	at := branch
	if from != "" {
		at = from
	}
	path := r.at("contents", strings.ReplaceAll(url.PathEscape(name), "%2F", "/"))
	body := object{"branch": branch, "message": message, "content": base64.StdEncoding.EncodeToString([]byte(text))}
	if from != "" {
		body["branch"], body["new_branch"] = from, branch
	}
	method := post
	if by.do(ctx, get, path+"?ref="+url.QueryEscape(at), nil, &old) == nil && old.SHA != "" {
		method, body["sha"] = put, old.SHA
	}
	var out struct {
		Commit struct {
			SHA string `json:"sha"`
		} `json:"commit"`
	}
	err = by.do(ctx, method, path, body, &out)
	return out.Commit.SHA, err
}

// Pull opens a pull request and returns its number.
func (r *Repo) Pull(ctx context.Context, by *User, head, base, title string) (number int64, err error) {
	var out struct {
		Number int64 `json:"number"`
	}
	err = by.do(ctx, post, r.at("pulls"), object{"head": head, "base": base, "title": title}, &out)
	return out.Number, err
}

// Review gives one on a commit: APPROVED, REQUEST_CHANGES or COMMENT. It returns its number.
func (r *Repo) Review(ctx context.Context, by *User, pull int64, event, commit, text string) (id int64, err error) {
	var out struct {
		ID int64 `json:"id"`
	}
	err = by.do(ctx, post, r.at("pulls", strconv.FormatInt(pull, 10), "reviews"), object{"event": event, "commit_id": commit, "body": text}, &out)
	return out.ID, err
}

// Export is a review as the forge gives it out.
func (r *Repo) Export(ctx context.Context, by *User, pull, review int64) (out json.RawMessage, err error) {
	err = by.do(ctx, get, r.at("pulls", strconv.FormatInt(pull, 10), "reviews", strconv.FormatInt(review, 10)), nil, &out)
	return out, err
}

// PullHead is the commit that Gitea takes for the head of a pull request: it learns of a push in a queue.
func (r *Repo) PullHead(ctx context.Context, by *User, pull int64) (sha string, err error) {
	var out struct {
		Head struct {
			SHA string `json:"sha"`
		} `json:"head"`
	}
	err = by.do(ctx, get, r.at("pulls", strconv.FormatInt(pull, 10)), nil, &out)
	return out.Head.SHA, err
}

// Dismiss dismisses a review.
func (r *Repo) Dismiss(ctx context.Context, by *User, pull, review int64, why string) error {
	return by.do(ctx, post, r.at("pulls", strconv.FormatInt(pull, 10), "reviews", strconv.FormatInt(review, 10), "dismissals"), object{"message": why}, nil)
}

// Review is what Gitea lists of one.
type Review struct {
	ID        int64  `json:"id"`
	State     string `json:"state"`
	Commit    string `json:"commit_id"`
	Stale     bool   `json:"stale"`
	Dismissed bool   `json:"dismissed"`
}

// Reviews are those of a pull request.
func (r *Repo) Reviews(ctx context.Context, by *User, pull int64) (all []Review, err error) {
	err = by.do(ctx, get, r.at("pulls", strconv.FormatInt(pull, 10), "reviews"), nil, &all)
	return all, err
}

// Status posts one on a commit: pending, success, error, failure or warning.
func (r *Repo) Status(ctx context.Context, by *User, commit, name, state, target, says string) error {
	return by.do(ctx, post, r.at("statuses", commit), object{"context": name, "state": state, "target_url": target, "description": says}, nil)
}

// Merge merges a pull request with a merge commit.
func (r *Repo) Merge(ctx context.Context, by *User, pull int64) error {
	return by.do(ctx, post, r.at("pulls", strconv.FormatInt(pull, 10), "merge"), object{"Do": "merge"}, nil)
}

// Update merges the base branch into that of a pull request.
func (r *Repo) Update(ctx context.Context, by *User, pull int64) error {
	return by.do(ctx, post, r.at("pulls", strconv.FormatInt(pull, 10), "update")+"?style=merge", nil, nil)
}

// ClosePull closes a pull request without a merge.
func (r *Repo) ClosePull(ctx context.Context, by *User, pull int64) error {
	return by.do(ctx, patch, r.at("pulls", strconv.FormatInt(pull, 10)), object{"state": "closed"}, nil)
}

// Head is the newest commit of a branch.
func (r *Repo) Head(ctx context.Context, by *User, branch string) (sha string, err error) {
	var out struct {
		Commit struct {
			ID string `json:"id"`
		} `json:"commit"`
	}
	err = by.do(ctx, get, r.at("branches", url.PathEscape(branch)), nil, &out)
	return out.Commit.ID, err
}

// Task is what Gitea lists of a job that a runner took.
type Task struct {
	ID     int64  `json:"id"`
	Run    int64  `json:"run_number"`
	Status string `json:"status"`
	SHA    string `json:"head_sha"`
}

// Tasks are those of the repository, newest first.
func (r *Repo) Tasks(ctx context.Context, by *User) ([]Task, error) {
	var out struct {
		Tasks []Task `json:"workflow_runs"`
	}
	err := by.do(ctx, get, r.at("actions", "tasks"), nil, &out)
	return out.Tasks, err
}
