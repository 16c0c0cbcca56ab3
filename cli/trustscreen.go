package cli

import (
	"errors"
	"fmt"
	"slices"

	"handrail/cli/books"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/tui"
)

// untrusted says that a runbook would run programs in a directory that is not trusted,
// and what trust would let be used; nil where it runs none, or may.
func untrusted(p *process.Program, runbook string, given map[string]string) (*tui.Untrusted, error) {
	rb, err := settings.Look(p, runbook)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rb.Steps, func(s runbooks.Step) bool { return s.Heavy && s.Gives("dir") }) {
		return nil, nil
	}
	dir, ok := "", false
	for _, f := range rb.Params {
		if f.Name == "dir" {
			dir, ok = given["dir"], true
			if dir == "" {
				dir = f.Default
			}
		}
	}
	if !ok || checkTrust(p, dir) == nil {
		return nil, nil
	}
	now, err := closureOf(p, dir)
	if err != nil {
		return &tui.Untrusted{Dir: dir, Wrong: p.ScrubText(err.Error())}, nil
	}
	_, digest, err := now.encoded()
	if err != nil {
		return nil, err
	}
	list, err := trusted(p)
	if err != nil {
		return nil, err
	}
	out := &tui.Untrusted{Dir: now.Dir, Digest: digest, Files: now.count(), Uses: used(p, now)}
	if was, known := list[now.Dir]; known && was != digest {
		out.Changed = p.ScrubText(since(p, was, now.manifest))
	}
	return out, nil
}

// foreign says of a runbook that is not trusted what it could do; nil where it may be begun
// with.
func foreign(p *process.Program, runbook string) (*tui.Untrusted, error) {
	b, err := settings.Look(p, runbook)
	if err != nil {
		return nil, err
	}
	no := &settings.UntrustedError{}
	if err := b.Check(p); err == nil || !errors.As(err, &no) {
		return nil, err
	}
	out := &tui.Untrusted{Runbook: runbook, Dir: b.Path, Digest: b.Digest, Changed: books.Since(no.Changed), Before: books.Before(b)}
	for _, part := range settings.ReachOf(p, b) {
		u := tui.Used{Title: part.Title, All: part.Whole}
		for _, line := range part.List {
			u.List = append(u.List, p.ScrubText(part.Mark(line)+line))
		}
		out.Uses = append(out.Uses, u)
	}
	return out, nil
}

// trustBookShown trusts a runbook as it was shown.
func trustBookShown(p *process.Program, of tui.Untrusted) error {
	b, err := settings.Look(p, of.Runbook)
	if err != nil {
		return err
	}
	if b.Digest != of.Digest || b.Path != of.Dir {
		return errors.New("it changed while you looked at it: look again")
	}
	return settings.TrustBook(p, b)
}

// trustShown trusts a directory, or a runbook, as it was shown.
func trustShown(p *process.Program, of tui.Untrusted) error {
	if of.Runbook != "" {
		return trustBookShown(p, of)
	}
	now, err := closureOf(p, of.Dir)
	if err != nil {
		return err
	}
	_, digest, err := now.encoded()
	if err != nil {
		return err
	}
	if digest != of.Digest {
		return errors.New("it changed while you looked at it: look again")
	}
	list, err := trusted(p)
	if err != nil {
		return err
	}
	if _, err := keepTrust(p, now, list); err != nil {
		return fmt.Errorf("%q could not be trusted: %w", now.Dir, err)
	}
	return nil
}
