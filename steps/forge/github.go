package forge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
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
