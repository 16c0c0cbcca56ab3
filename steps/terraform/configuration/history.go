package configuration

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/gitread"
	"handrail/steps/terraform/loosetype"
	"handrail/steps/terraform/module"
)

const (
	// mostCommits bounds how far a history is followed.
	mostCommits = 5000
	// mostTouching bounds the commits whose files are read.
	mostTouching = 200
)

// HistoryFacts are the facts of terraform/history.
func HistoryFacts() []steps.Field {
	return []steps.Field{
		{Name: "head", Type: steps.Ident, Doc: "commit that the history was followed from"},
		{Name: "commits", Type: steps.Int, Doc: "commits since then that change the configuration of the directory"},
		{Name: "changes", Type: steps.Strings, Doc: "those, newest first: commit, time and subject"},
		{Name: "keyed", Type: steps.Strings, Doc: "those in which the key came, went or was written otherwise"},
		{Name: "removed", Type: steps.Strings, Doc: "resources that were declared then and are not in the directory now"},
		{Name: "added", Type: steps.Strings, Doc: "resources that are declared in the directory now and were not then"},
		{Name: "moved_blocks", Type: steps.Int, Doc: "moved blocks in the directory now that were not there then"},
		{Name: "whole", Type: steps.Bool, Doc: "whether the clone has the whole history since then"},
	}
}

// HistoryProbe is terraform/history.
type HistoryProbe struct{ Env steps.Env }

// history is one walk back.
type history struct {
	clone gitread.Clone
	below string // of the directory, from the top of the clone
	since time.Time
	key   *regexp.Regexp // nil where no key is named
	obs   steps.Observation

	changes, keyed []string
	then           map[string][]byte // configuration as it was then
	whole          bool
}

// Probe implements steps.Prober.
func (p HistoryProbe) Probe(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	dir := in.Text("dir")
	dir = steps.Below(p.Env.Dir, dir)
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("history of %s: %w", dir, err)
	}
	now, err := readConfig(dir, historical)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("configuration of %s: %w", dir, err)
	}
	h := &history{since: p.Env.Now().Add(-in.Duration("since"))}
	if h.clone, err = gitread.Open(dir); err != nil {
		return steps.Observation{}, fmt.Errorf("history of %s: %w", dir, err)
	}
	// The clone is named as its links lead.
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		h.below, err = filepath.Rel(h.clone.Top(), real)
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("history of %s: %w", dir, err)
	}
	h.below = filepath.ToSlash(h.below)
	if key := in.Text("key"); key != "" {
		h.key = regexp.MustCompile(`(?m)^.*\b` + regexp.QuoteMeta(key) + `\b.*$`)
	}
	head, err := h.clone.Resolve(ctx, "HEAD")
	if err != nil {
		return steps.Observation{}, fmt.Errorf("history of %s: %w", dir, err)
	}
	if err := h.follow(ctx, head); err != nil {
		return steps.Observation{}, fmt.Errorf("history of %s: %w", dir, err)
	}
	f := steps.NewFacts(HistoryFacts())
	f.Set("head", steps.IdentOf(head))
	h.fill(f, now, in.Text("key"))
	h.obs.Command = fmt.Sprintf("git -C %s log --first-parent --since=%s --oneline -- .", steps.Quote(dir), h.since.UTC().Format(time.RFC3339))
	h.obs.Summary = fmt.Sprintf("Commits that changed the configuration since %[2]s: %[1]d.", len(h.changes), h.since.UTC().Format("2006-01-02"))
	h.obs.Facts = f.Rest("the history was not followed so far")
	return h.obs, nil
}

// historical are the files of a directory whose history is followed.
func historical(name string) bool {
	return module.IsConfig(name) || strings.HasSuffix(strings.TrimSuffix(name, ".json"), ".tfvars")
}

// declaring are those of them that declare something.
func declaring(files map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, src := range files {
		if module.IsConfig(name) {
			out[name] = src
		}
	}
	return out
}

// follow goes from parent to first parent: a merge is one change of the branch.
func (h *history) follow(ctx context.Context, at string) error {
	newer, err := h.clone.Commit(ctx, at)
	if err != nil {
		return err
	}
	for range mostCommits {
		if newer.Time.Before(h.since) {
			h.whole = true
			return h.keep(ctx, newer)
		}
		if len(newer.Parents) == 0 {
			h.whole, h.then = true, map[string][]byte{}
			return h.compared(ctx, newer, nil)
		}
		older, err := h.clone.Commit(ctx, newer.Parents[0])
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			h.obs.Gaps = append(h.obs.Gaps, fmt.Sprintf("the clone ends at commit %s, as a shallow one does", newer.Sum[:12]))
			return h.keep(ctx, newer)
		}
		if err := h.compared(ctx, newer, &older); err != nil {
			return err
		}
		newer = older
	}
	h.obs.Gaps = append(h.obs.Gaps, fmt.Sprintf("only %d commits were followed", mostCommits))
	return h.keep(ctx, newer)
}

// keep takes the configuration as it was at the end of the walk.
func (h *history) keep(ctx context.Context, c gitread.Commit) (err error) {
	h.then, err = h.at(ctx, &c)
	return err
}

func (h *history) at(ctx context.Context, c *gitread.Commit) (map[string][]byte, error) {
	if c == nil {
		return map[string][]byte{}, nil
	}
	tree, err := h.clone.Tree(ctx, *c, h.below)
	if err == nil {
		var files map[string][]byte
		if files, err = h.clone.Files(ctx, tree, historical); err == nil {
			return files, nil
		}
	}
	if errors.Is(err, gitread.ErrNoFile) {
		return map[string][]byte{}, nil
	}
	return nil, err
}

// compared notes a commit that changed the configuration. older is nil for the first.
func (h *history) compared(ctx context.Context, newer gitread.Commit, older *gitread.Commit) error {
	if older != nil {
		a, errA := h.clone.Tree(ctx, newer, h.below)
		b, errB := h.clone.Tree(ctx, *older, h.below)
		if errA == nil && errB == nil && a == b {
			return nil
		}
	}
	if len(h.changes) == mostTouching {
		return nil // fill says so
	}
	now, err := h.at(ctx, &newer)
	if err != nil {
		return err
	}
	was, err := h.at(ctx, older)
	if err != nil {
		return err
	}
	if len(now) == len(was) && !slices.ContainsFunc(mapKeys(now), func(name string) bool { old, there := was[name]; return !there || string(old) != string(now[name]) }) {
		return nil
	}
	line := fmt.Sprintf("%s %s %s", newer.Sum[:12], newer.Time.Format("2006-01-02T15:04Z"), steps.Clip(newer.Subject, 120))
	h.changes = append(h.changes, line)
	if h.key != nil && !slices.Equal(h.lines(now), h.lines(was)) {
		h.keyed = append(h.keyed, line)
	}
	return nil
}

// lines are those that hold the key.
func (h *history) lines(files map[string][]byte) []string {
	var out []string
	for _, name := range mapKeys(files) {
		for _, l := range h.key.FindAllString(string(files[name]), -1) {
			out = append(out, name+": "+strings.TrimSpace(l))
		}
	}
	return out
}

func mapKeys(files map[string][]byte) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (h *history) fill(f steps.Facts, now map[string][]byte, key string) {
	f.Set("whole", steps.BoolOf(h.whole))
	f.Set("commits", steps.IntOf(int64(len(h.changes))))
	f.Set("changes", steps.StringsOf(h.changes))
	f.Set("keyed", steps.StringsOf(h.keyed))
	switch {
	case !h.whole:
		f.Unknown("the clone does not have the whole history since then", "commits", "changes", "keyed", "removed", "added", "moved_blocks")
		return
	case len(h.changes) == mostTouching:
		f.Unknown(fmt.Sprintf("%d commits and more changed it", mostTouching), "commits", "changes", "keyed")
	case key == "":
		f.Unknown("no key is named", "keyed")
	}
	was, had, wasGaps := loosetype.Resources(declaring(h.then))
	is, has, isGaps := loosetype.Resources(declaring(now))
	if gaps := append(wasGaps, isGaps...); len(gaps) > 0 {
		f.Unknown(gaps[0], "removed", "added", "moved_blocks")
		h.obs.Gaps = append(h.obs.Gaps, gaps...)
		return
	}
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(a string) bool { return slices.Contains(other, a) })
	}
	removed, added := without(was, is), without(is, was)
	f.Set("removed", steps.StringsOf(removed))
	f.Set("added", steps.StringsOf(added))
	f.Set("moved_blocks", steps.IntOf(int64(max(has-had, 0))))
	if len(removed) > 0 && len(added) > 0 && has <= had {
		h.obs.Say(steps.Warning, "Of the configuration of then %s are gone and %s are new, and no moved block came: names that were changed destroy and make anew.", strings.Join(removed[:min(5, len(removed))], ", "), strings.Join(added[:min(5, len(added))], ", "))
	}
}
