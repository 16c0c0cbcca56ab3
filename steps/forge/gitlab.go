package forge

import (
	"context"
	"errors"
	"net/url"
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
