package forge

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// giteaReader reads Gitea as 1.24 answers.
type giteaReader struct{ *client }

func (c giteaReader) repo(repo string, parts ...string) string {
	return "/repos/" + repo + path(parts...)
}

func (c giteaReader) pull(ctx context.Context, repo string, number int64) (pull, error) {
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
	p.not.add(partFiles, c.each(ctx, c.repo(repo, "pulls", n, "files"), "", func(raw []byte) (page, error) {
		list, at, err := parseHubFiles(raw)
		p.files = append(p.files, list...)
		return at, err
	}))
	p.not.add(partWriters, c.each(ctx, c.repo(repo, "pulls", n, "commits"), "", func(raw []byte) (page, error) {
		list, at, err := parseHubWriters(raw)
		p.writers = append(p.writers, list...)
		return at, err
	}))
	err = c.branch(ctx, repo, &p)
	p.not.add(partRequired, err)
	if err == nil {
		err = c.behind(ctx, repo, &p)
	}
	p.not.add(partBase, err)
	p.not.add(partChecks, c.checks(ctx, repo, &p))
	p.not.add(partOwners, findOwners(&p, p.standard, []string{"CODEOWNERS", ".gitea/CODEOWNERS", "docs/CODEOWNERS"}, func(dir string) ([]string, error) { return c.names(ctx, repo, p.standard, dir) },
		func(name string) ([]byte, error) {
			got, err := c.get(ctx, c.repo(repo, "raw")+path(strings.Split(name, "/")...), "ref="+url.QueryEscape(p.standard))
			return got.raw, err
		}))
	return p, nil
}

// branch reads where the base branch is, and what it asks of a pull request: Gitea tells that to every reader.
func (c giteaReader) branch(ctx context.Context, repo string, p *pull) error {
	got, err := c.get(ctx, c.repo(repo, "branches")+path(strings.Split(p.base, "/")...), "")
	if err != nil {
		return err
	}
	keep(&p.raw, "protection", got.raw)
	b, err := parseGiteaBranch(got.raw)
	if err != nil {
		return err
	}
	p.baseNow, p.required, p.wanted = b.sha, b.approvals, b.checks
	return nil
}

type giteaBranch struct {
	sha       string
	approvals int64
	checks    []string
}

func parseGiteaBranch(raw []byte) (giteaBranch, error) {
	var in struct {
		Commit struct {
			ID string `json:"id"`
		} `json:"commit"`
		Protected *bool    `json:"protected"`
		Approvals int64    `json:"required_approvals"`
		Enabled   bool     `json:"enable_status_check"`
		Contexts  []string `json:"status_check_contexts"`
	}
	if err := decode(raw, &in); err != nil {
		return giteaBranch{}, err
	}
	if in.Protected == nil || in.Approvals < 0 {
		return giteaBranch{}, errors.New("the forge does not say whether the branch is protected")
	}
	b := giteaBranch{sha: sha(in.Commit.ID), approvals: in.Approvals}
	if in.Enabled {
		for _, name := range in.Contexts {
			b.checks = append(b.checks, words(name))
		}
	}
	return b, nil
}

// behind counts the commits of the base that the head lacks.
func (c giteaReader) behind(ctx context.Context, repo string, p *pull) error {
	if p.head == "" || p.baseNow == "" {
		return errNoHead
	}
	got, err := c.get(ctx, c.repo(repo, "compare")+"/"+p.head+"..."+p.baseNow, "")
	if err != nil {
		return err
	}
	n, err := parseGiteaCompare(got.raw)
	if err == nil {
		p.behind = n
	}
	return err
}

func parseGiteaCompare(raw []byte) (int64, error) {
	var in struct {
		Total *int64 `json:"total_commits"`
	}
	if err := decode(raw, &in); err != nil {
		return 0, err
	}
	if in.Total == nil || *in.Total < 0 {
		return 0, errors.New("the forge does not count the commits between two")
	}
	return *in.Total, nil
}

func (c giteaReader) checks(ctx context.Context, repo string, p *pull) error {
	if p.head == "" {
		return errNoHead
	}
	return c.listed(ctx, c.repo(repo, "commits", p.head, "status"), "", "checks", &p.raw, func(raw []byte) (page, error) {
		list, at, err := parseHubStatus(raw)
		p.checks = append(p.checks, list...)
		at.total = max(at.total, 0) // an empty answer holds nothing at all
		return at, err
	})
}

// names are those of a folder at a commit; nil where there is no such folder.
func (c *client) names(ctx context.Context, repo, at, dir string) ([]string, error) {
	below := "/repos/" + repo + "/contents"
	if dir != "" {
		below += path(strings.Split(dir, "/")...)
	}
	got, err := c.get(ctx, below, "ref="+url.QueryEscape(at))
	if err != nil {
		return nil, err
	}
	return parseHubNames(got.raw)
}

func parseHubNames(raw []byte) ([]string, error) {
	var in []struct {
		Name string `json:"name"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, err
	}
	out := []string{}
	for _, e := range in {
		out = append(out, e.Name)
	}
	return out, nil
}

func (c giteaReader) pullOf(ctx context.Context, repo, branch string) (newest int64, err error) {
	err = c.each(ctx, c.repo(repo, "pulls"), "state=all&sort=newest", func(raw []byte) (page, error) {
		return parseHubPulls(raw, branch, func(n int64) { newest = max(newest, n) })
	})
	if newest > 0 && errors.Is(err, errLong) { // the newest come first: what is beyond is older
		err = nil
	}
	return newest, err
}
