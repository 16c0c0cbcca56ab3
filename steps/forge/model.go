package forge

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// pull is a pull request, in the words of no forge.
type pull struct {
	number       int64
	title, url   string
	state        string // open, closed or merged
	draft        bool
	author       string
	head, branch string
	base         string // branch
	merge        string // commit
	mergedBy     string
	mergedAt     time.Time
	created      time.Time

	baseNow   string // where the base branch is
	mergeBase string
	behind    int64

	reviews  []review
	required int64 // approvals
	wanted   []string
	checks   []check
	files    []string
	writers  []string // accounts that its commits name as author or committer
	owners   owners
	standard string // default branch of the repository

	not gaps // what is unknown, by part
	raw []kept
}

// kept is an answer as it came, for the bundle.
type kept struct {
	role string
	raw  []byte
}

// gaps are the reasons why parts are unknown.
type gaps map[string]string

func (g gaps) add(part string, err error) {
	if err != nil {
		g[part] = steps.OneLine(err.Error(), 400)
	}
}

// The parts that can be unknown.
const (
	partBase     = "base"
	partReviews  = "reviews"
	partCommits  = "review commits" // the reviews are known, and not what they were for
	partRequired = "required approvals"
	partChecks   = "checks"
	partFiles    = "changed files"
	partWriters  = "authors of its commits"
	partTexts    = "texts of its approvals"
	partOwners   = "code owners"
	partJobs     = "jobs"
	partState    = "state"
)

// review is what a person said of a pull request.
type review struct {
	login  string
	says   string // approved, changes, comment, dismissed or pending
	commit string // that it was for, "" for unknown
	at     time.Time
	stale  bool // the forge itself calls it outdated
	lacks  bool // the forge itself says that it counts for nothing: the person may not write to the repository

	digests []string // SHA-256 digests that its text names
}

// check is a commit status or a check of CI.
type check struct {
	name, url string
	says      string // success, failure, pending or neutral
	at        time.Time
}

// owners is the file of code owners on the branch that binds: of Gitea the default branch of the repository, of the others the
// base branch.
type owners struct {
	at   string // its path, "" for none
	text []byte
}

// run is a run of CI.
type run struct {
	id, url, name  string
	state          string // queued, running or over
	result         string // success, failure, cancelled, skipped or other, "" while it runs
	head, branch   string
	event, actor   string
	started, ended time.Time
	created        time.Time
	attempt        int64
	jobs           []job
	more           int // runs that fit as well
	from           string
	not            gaps
	raw            []kept
	nothing        string // why there is none, "" where there is one
}

// job is one of its jobs.
type job struct {
	id, name, stage string
	state, result   string
	runner          string
	step            string // that failed, "" for unknown or none
	started, ended  time.Time
}

// artifact is a file that a run left.
type artifact struct {
	id, name, digest string
	size             int64
	created, expires time.Time
	expired          string // yes, no, "" for unknown
}

const (
	queued  = "queued"
	running = "running"
	over    = "over"

	success   = "success"
	failure   = "failure"
	cancelled = "cancelled"
	skipped   = "skipped"
	other     = "other"
	pending   = "pending"
	neutral   = "neutral"

	approved  = "approved"
	changes   = "changes"
	comment   = "comment"
	dismissed = "dismissed"
)

var shaForm = regexp.MustCompile(`^[0-9a-f]{40}$|^[0-9a-f]{64}$`)

// sha is text where it names a commit, else "".
func sha(text string) string {
	if shaForm.MatchString(text) {
		return text
	}
	return ""
}

// words makes text from outside short, and one line.
func words(text string) string { return steps.OneLine(strings.ToValidUTF8(text, "?"), 200) }

// latest is the last word of each person, in order of time: what was said later counts, and a comment takes nothing back.
func latest(all []review) []review {
	in := slices.Clone(all)
	slices.SortStableFunc(in, func(a, b review) int { return a.at.Compare(b.at) })
	last := map[string]int{}
	for i, r := range in {
		if r.says == approved || r.says == changes || r.says == dismissed {
			last[r.login] = i
		}
	}
	var out []review
	for i, r := range in {
		if at, ok := last[r.login]; ok && at == i {
			out = append(out, r)
		}
	}
	return out
}

// resultOf names how something ended, in the words of any of the forges.
func resultOf(word string) string {
	switch strings.ToLower(word) {
	case "success", "succeeded", "neutral":
		return success
	case "failure", "failed", "timed_out", "error", "startup_failure":
		return failure
	case "cancelled", "canceled", "stale":
		return cancelled
	case "skipped":
		return skipped
	}
	return other
}
