package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"handrail/steps"
	"handrail/steps/gitread"
)

// mostCommits bounds how far a history is followed.
const mostCommits = 20_000

// lastProbe is git/last.
type lastProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p lastProbe) Probe(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	dir := steps.Below(p.env.Dir, in.Text("dir"))
	name := path.Clean(in.Text("path"))
	if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return steps.Observation{}, fmt.Errorf("the path %q leads out of the clone", in.Text("path"))
	}
	clone, newer, err := open(ctx, dir, in.Text("at"))
	if err != nil {
		return steps.Observation{}, err
	}
	now, err := entry(ctx, clone, newer, name)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s in %s: %w", name, dir, err)
	}
	f := steps.NewFacts(lastFacts())
	f.Set("head", steps.IdentOf(newer.Sum))
	f.Set("there", steps.BoolOf(now != ""))
	obs := steps.Observation{Command: fmt.Sprintf("git -C %s log -1 --first-parent %s -- %s", steps.Quote(dir), steps.Quote(in.Text("at")), steps.Quote(name))}
	why := fmt.Sprintf("only %d commits were followed", mostCommits)
	for since := range mostCommits {
		if len(newer.Parents) == 0 {
			if now == "" {
				why = "no commit of the history has the path"
				break
			}
			found(f, newer, since)
			f.Unknown("it is the first commit", "before")
			why = ""
			break
		}
		older, err := clone.Commit(ctx, newer.Parents[0])
		if err != nil && ctx.Err() != nil {
			return steps.Observation{}, err
		}
		if err != nil {
			why = fmt.Sprintf("the clone ends at commit %s, as a shallow one does", newer.Sum[:12])
			break
		}
		was, err := entry(ctx, clone, older, name)
		if err != nil {
			return steps.Observation{}, fmt.Errorf("%s in %s: %w", name, dir, err)
		}
		if was != now {
			found(f, newer, since)
			f.Set("before", steps.IdentOf(older.Sum))
			why = ""
			break
		}
		newer = older
	}
	what := name
	if name == "." {
		what = "The clone"
	}
	if why == "" {
		obs.Summary = fmt.Sprintf("%s last changed in %s at %s, by %s: %s", what, newer.Sum[:12], newer.Time.Format("2006-01-02T15:04Z"), steps.OneLine(newer.Author, 100), steps.OneLine(newer.Subject, 120))
	} else {
		obs.Summary = fmt.Sprintf("%s: when it last changed is unknown: %s.", what, why)
		obs.Gaps = append(obs.Gaps, "the newest change is unknown: "+why)
	}
	obs.Facts = f.Rest(why)
	return obs, nil
}

func found(f steps.Facts, c gitread.Commit, since int) {
	f.Set("commit", steps.IdentOf(c.Sum))
	f.Set("time", steps.TimeOf(c.Time))
	f.Set("author", steps.StringOf(steps.OneLine(c.Author, 200)))
	f.Set("subject", steps.StringOf(steps.OneLine(c.Subject, 200)))
	f.Set("since", steps.IntOf(int64(since)))
}

// entry is the name of what a commit holds at a path, "" where it holds nothing there.
func entry(ctx context.Context, clone gitread.Clone, c gitread.Commit, name string) (string, error) {
	sum, err := clone.Tree(ctx, c, name)
	if errors.Is(err, gitread.ErrNoFile) {
		return "", nil
	}
	return sum, err
}

func open(ctx context.Context, dir, name string) (gitread.Clone, gitread.Commit, error) {
	if err := ctx.Err(); err != nil {
		return gitread.Clone{}, gitread.Commit{}, err
	}
	clone, err := gitread.Open(dir)
	if err != nil {
		return clone, gitread.Commit{}, fmt.Errorf("%s: %w", dir, err)
	}
	c, err := commit(ctx, clone, name)
	if err != nil {
		err = fmt.Errorf("%s in %s: %w", name, dir, err)
	}
	return clone, c, err
}

func commit(ctx context.Context, clone gitread.Clone, name string) (gitread.Commit, error) {
	sum, err := clone.Resolve(ctx, name)
	if err != nil {
		return gitread.Commit{}, err
	}
	return clone.Commit(ctx, sum)
}
