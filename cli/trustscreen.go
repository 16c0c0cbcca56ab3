package cli

import (
	"errors"
	"fmt"
	"slices"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/tui"
)

// untrusted says that a runbook would run programs in a directory that is not trusted,
// and what trust would let be used; nil where it runs none, or may.
func untrusted(p *process.Program, runbook string, given map[string]string) (*tui.Untrusted, error) {
	rb, err := settings.Runbook(p, runbook)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rb.Steps, func(s runbooks.Step) bool { return s.Heavy }) {
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

// trustShown trusts a directory as it was shown.
func trustShown(p *process.Program, of tui.Untrusted) error {
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
