package forge

import (
	"context"
	"errors"
	"io"
)

// question is which run is meant.
type question struct{ run, job, commit, name string }

// reader reads one kind of forge. Each method returns what it could read and, in the gaps of it, why the rest is unknown; an
// error means that nothing was told.
type reader interface {
	pull(ctx context.Context, repo string, number int64) (pull, error)
	// pullOf is the number of the newest pull request from a branch, 0 where a list that was read to its end holds none.
	pullOf(ctx context.Context, repo, branch string) (int64, error)
	run(ctx context.Context, repo string, q question) (run, error)
	// log opens the log of a job of a run.
	log(ctx context.Context, repo string, of run, j job) (io.ReadCloser, error)
	// artifacts are those of a run.
	artifacts(ctx context.Context, repo string, of run) ([]artifact, error)
}

func (c *client) reader() reader {
	switch c.vendor {
	case github:
		return githubReader{c}
	case gitlab:
		return gitlabReader{c}
	}
	return giteaReader{c}
}

// keep notes an answer for the bundle.
func keep(to *[]kept, role string, raw []byte) { *to = append(*to, kept{role, raw}) }

// listed reads a list to its end and keeps what came.
func (c *client) listed(ctx context.Context, below, query, role string, to *[]kept, parse func([]byte) (page, error)) error {
	return c.each(ctx, below, query, func(raw []byte) (page, error) {
		keep(to, role, raw)
		return parse(raw)
	})
}

// errNoHead says that the head of a pull request is unknown, and what is asked by it too.
var errNoHead = errors.New("the forge named no commit as its head")

// errNoBranch says that the branch whose file of code owners binds is unknown.
var errNoBranch = errors.New("the forge named no branch whose file of code owners binds")
