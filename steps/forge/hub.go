package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// What Gitea and GitHub answer alike: Gitea follows the forms of GitHub.

type hubUser struct {
	Login string `json:"login"`
}

type hubPull struct {
	Number int64   `json:"number"`
	Title  string  `json:"title"`
	URL    string  `json:"html_url"`
	State  string  `json:"state"`
	Draft  bool    `json:"draft"`
	User   hubUser `json:"user"`
	Head   hubEnd  `json:"head"`
	Base   hubEnd  `json:"base"`
	// Merged is left away in lists of GitHub; merged_at says it there.
	Merged   bool       `json:"merged"`
	MergedAt *time.Time `json:"merged_at"`
	Commit   string     `json:"merge_commit_sha"` // of an open one a trial
	MergedBy *hubUser   `json:"merged_by"`
	Created  time.Time  `json:"created_at"`
	// MergeBase is Gitea's alone.
	MergeBase string `json:"merge_base"`
}

type hubEnd struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		ID      int64  `json:"id"`
		Default string `json:"default_branch"`
	} `json:"repo"` // null where the fork is gone
}

// ofFork reports whether it comes from another repository, in which anyone may call a branch what they like.
func (in hubPull) ofFork() bool {
	if in.Head.Repo == nil || in.Base.Repo == nil {
		return in.Base.Repo != nil
	}
	return in.Head.Repo.ID != in.Base.Repo.ID
}

func parseHubPull(raw []byte) (pull, error) {
	var in hubPull
	if err := decode(raw, &in); err != nil {
		return pull{}, err
	}
	return in.pull(), nil
}

func (in hubPull) pull() pull {
	p := pull{number: in.Number, title: words(in.Title), url: words(in.URL), draft: in.Draft, author: words(in.User.Login), head: sha(in.Head.SHA), branch: words(in.Head.Ref),
		base: words(in.Base.Ref), created: in.Created, mergeBase: sha(in.MergeBase), behind: -1, not: gaps{}}
	if in.Base.Repo != nil {
		p.standard = words(in.Base.Repo.Default)
	}
	switch {
	case in.Merged || in.MergedAt != nil:
		p.state, p.merge = "merged", sha(in.Commit)
		if in.MergedAt != nil {
			p.mergedAt = *in.MergedAt
		}
		if in.MergedBy != nil {
			p.mergedBy = words(in.MergedBy.Login)
		}
	case in.State == "open" || in.State == "closed":
		p.state = in.State
	}
	return p
}

// parseHubPulls is a page of a list; from is told of each that comes from the branch.
func parseHubPulls(raw []byte, branch string, from func(number int64)) (page, error) {
	var in []hubPull
	if err := decode(raw, &in); err != nil {
		return page{}, err
	}
	for _, p := range in {
		if p.Head.Ref == branch && p.Number > 0 && !p.ofFork() {
			from(p.Number)
		}
	}
	return page{len(in), -1}, nil
}

// outsiders are relations of a person to a repository of GitHub without the right to write to it. An approval by one of them
// is listed as any other ("Author association" of its GraphQL reference; "About pull request reviews").
var outsiders = []string{"CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "NONE"}

func parseHubReviews(raw []byte) ([]review, page, error) {
	var in []struct {
		User      *hubUser  `json:"user"`
		State     string    `json:"state"`
		Body      string    `json:"body"`
		Commit    string    `json:"commit_id"`
		At        time.Time `json:"submitted_at"`
		Stale     bool      `json:"stale"`
		Dismissed bool      `json:"dismissed"`
		Official  *bool     `json:"official"`           // of Gitea
		Relation  string    `json:"author_association"` // of GitHub
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	var out []review
	for _, r := range in {
		if r.User == nil || r.User.Login == "" {
			continue // asked of a team, or the account is gone
		}
		v := review{login: words(r.User.Login), commit: sha(r.Commit), at: r.At, stale: r.Stale, digests: steps.Digests(r.Body, mostDigests)}
		v.lacks = r.Official != nil && !*r.Official || slices.Contains(outsiders, r.Relation)
		switch state := strings.ToUpper(r.State); {
		case state == "DISMISSED" || r.Dismissed:
			v.says = dismissed
		case state == "APPROVED":
			v.says = approved
		case state == "CHANGES_REQUESTED" || state == "REQUEST_CHANGES":
			v.says = changes
		case state == "COMMENTED" || state == "COMMENT":
			v.says = comment
		default:
			continue // one that is pending, or asked for
		}
		out = append(out, v)
	}
	return out, page{len(in), -1}, nil
}

// parseHubStatus is the newest status of each context.
func parseHubStatus(raw []byte) ([]check, page, error) {
	var in struct {
		Statuses []struct {
			Context string    `json:"context"`
			State   string    `json:"state"`  // of GitHub
			Status  string    `json:"status"` // of Gitea
			Target  string    `json:"target_url"`
			At      time.Time `json:"updated_at"`
		} `json:"statuses"`
		Total int `json:"total_count"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	var out []check
	for _, s := range in.Statuses {
		c := check{name: words(s.Context), url: words(s.Target), at: s.At}
		switch s.State + s.Status {
		case "success":
			c.says = success
		case "pending":
			c.says = pending
		case "skipped", "warning":
			c.says = neutral
		default: // failure, error, and what a later version says
			c.says = failure
		}
		out = append(out, c)
	}
	return out, page{len(in.Statuses), in.Total}, nil
}

// parseHubFiles are the names of files that changed, of one that moved the old name too.
func parseHubFiles(raw []byte) ([]string, page, error) {
	var in []struct {
		Name string `json:"filename"`
		Was  string `json:"previous_filename"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	var out []string
	for _, f := range in {
		out = append(out, f.Name)
		if f.Was != "" && f.Was != f.Name {
			out = append(out, f.Was)
		}
	}
	return out, page{len(in), -1}, nil
}

// parseHubWriters are the accounts that commits name as author or committer. One that names none leaves open who wrote it.
func parseHubWriters(raw []byte) ([]string, page, error) {
	var in []struct {
		SHA       string   `json:"sha"`
		Author    *hubUser `json:"author"` // null where no account has the address
		Committer *hubUser `json:"committer"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	var out []string
	for _, c := range in {
		for _, u := range []*hubUser{c.Author, c.Committer} {
			if u == nil || u.Login == "" {
				return nil, page{}, fmt.Errorf("commit %s names an author or a committer that the forge has no account of", orElse(sha(c.SHA), "without a name"))
			}
			out = append(out, words(u.Login))
		}
	}
	return out, page{len(in), -1}, nil
}

type hubArtifact struct {
	ID      int64      `json:"id"`
	Name    string     `json:"name"`
	Size    int64      `json:"size_in_bytes"`
	Digest  string     `json:"digest"` // GitHub alone, since 2025
	Expired *bool      `json:"expired"`
	Created time.Time  `json:"created_at"`
	Expires *time.Time `json:"expires_at"`
	Run     struct {
		ID  int64  `json:"id"`
		SHA string `json:"head_sha"`
	} `json:"workflow_run"`
}

func parseHubArtifacts(raw []byte) ([]hubArtifact, page, error) {
	var in struct {
		Artifacts []hubArtifact `json:"artifacts"`
		Total     *int          `json:"total_count"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, page{}, err
	}
	p := page{len(in.Artifacts), -1}
	if in.Total != nil {
		p.total = *in.Total
	}
	return in.Artifacts, p, nil
}

func (in hubArtifact) artifact() artifact {
	a := artifact{id: count(in.ID), name: words(in.Name), size: in.Size, digest: digest(in.Digest), created: in.Created}
	if in.Expires != nil {
		a.expires = *in.Expires
	}
	if in.Expired != nil {
		a.expired = yesNo(*in.Expired)
	}
	return a
}
