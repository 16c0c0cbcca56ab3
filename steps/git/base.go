package git

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/gitread"
)

// baseProbe is git/base.
type baseProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p baseProbe) Probe(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	dir := steps.Below(p.env.Dir, in.Text("dir"))
	if in.Text("base") == "" {
		return steps.Observation{}, errors.New("the parameter base is missing: name the branch that is merged into")
	}
	clone, base, err := open(ctx, dir, in.Text("base"))
	if err != nil {
		return steps.Observation{}, err
	}
	head, err := commit(ctx, clone, in.Text("head"))
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s in %s: %w", in.Text("head"), dir, err)
	}
	f := steps.NewFacts(baseFacts())
	f.Set("base_commit", steps.IdentOf(base.Sum))
	f.Set("head_commit", steps.IdentOf(head.Sum))
	obs := steps.Observation{Command: fmt.Sprintf("git -C %s rev-list --left-right --count %s...%s", steps.Quote(dir), steps.Quote(in.Text("base")), steps.Quote(in.Text("head")))}
	left, why, err := ancestors(ctx, clone, base)
	if err != nil {
		return steps.Observation{}, err
	}
	right, also, err := ancestors(ctx, clone, head)
	if err != nil {
		return steps.Observation{}, err
	}
	if why == "" {
		why = also
	}
	// What was seen is sure, even where the histories break off.
	switch {
	case right[base.Sum] != nil:
		f.Set("base_moved", steps.BoolOf(false))
	case why == "":
		f.Set("base_moved", steps.BoolOf(true))
	}
	switch {
	case left[head.Sum] != nil:
		f.Set("merged", steps.BoolOf(true))
	case why == "":
		f.Set("merged", steps.BoolOf(false))
	}
	if why != "" {
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = "How far the two are apart is unknown: " + why + "."
		obs.Facts = f.Rest(why)
		return obs, nil
	}
	ahead, behind := without(right, left), without(left, right)
	f.Set("ahead", steps.IntOf(int64(ahead)))
	f.Set("behind", steps.IntOf(int64(behind)))
	rest := ""
	switch bases := newest(left, right); len(bases) {
	case 1:
		f.Set("merge_base", steps.IdentOf(bases[0]))
	case 0:
		rest = "the two have no commit in common"
	default:
		rest = fmt.Sprintf("the two have %d merge bases", len(bases))
	}
	obs.Summary = fmt.Sprintf("%s is %d commits ahead of %s and %d behind.", in.Text("head"), ahead, in.Text("base"), behind)
	obs.Facts = f.Rest(rest)
	return obs, nil
}

// ancestors are the parents of a commit and of all that it stands on. why says where the history breaks off.
func ancestors(ctx context.Context, clone gitread.Clone, of gitread.Commit) (all map[string][]string, why string, err error) {
	all = map[string][]string{of.Sum: of.Parents}
	if of.Parents == nil {
		all[of.Sum] = []string{}
	}
	for next := append([]string(nil), of.Parents...); len(next) > 0; {
		sum := next[0]
		next = next[1:]
		if all[sum] != nil {
			continue
		}
		if len(all) == mostCommits {
			return all, fmt.Sprintf("only %d commits were followed", mostCommits), nil
		}
		c, err := clone.Commit(ctx, sum)
		if err != nil && ctx.Err() != nil {
			return nil, "", err
		}
		if err != nil {
			why = fmt.Sprintf("the clone does not have commit %.12s, as a shallow one does not", sum)
			continue
		}
		all[sum] = append([]string{}, c.Parents...)
		next = append(next, c.Parents...)
	}
	return all, why, nil
}

func without(a, b map[string][]string) (n int) {
	for sum := range a {
		if b[sum] == nil {
			n++
		}
	}
	return n
}

// newest are the commits of both that no other commit of both stands on.
func newest(a, b map[string][]string) (out []string) {
	below := map[string]bool{}
	for sum, parents := range a {
		if b[sum] != nil {
			for _, p := range parents {
				below[p] = true
			}
		}
	}
	for sum := range a {
		if b[sum] != nil && !below[sum] {
			out = append(out, sum)
		}
	}
	return out
}
