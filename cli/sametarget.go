package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/index"
	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/tui"
)

// Two incidents about one thing are two calls that undo each other's work, so that
// the second one is told of the first.

// sameTarget are the open incidents of this machine that are about what a new one
// would be about, the newest first. It asks no network. What cannot be read is no
// reason not to begin.
func sameTarget(p *process.Program, c session.Config, rb *runbooks.Runbook, params steps.Params) []tui.SameTarget {
	rows, err := bundle.Rows(p)
	if err != nil {
		return nil
	}
	var server string
	if k, err := clusterOf(c.Env); err == nil {
		server = k.Server
	}
	mine := placed(c.Env, index.TargetOf(rb.Plan(params).Params, c.Env.Context, server))
	var out []tui.SameTarget
	for _, r := range rows {
		if r.Outcome != "" || r.Err != "" || r.Drill != "" || r.Kind != "" {
			continue
		}
		if what := mine.Shared(placed(c.Env, r.Target)); what != "" {
			out = append(out, tui.SameTarget{IncidentRow: incidentRow(r), What: what})
		}
	}
	return out
}

// placed adds to a target what the disk tells of its directory: where that really
// is, its workspace, and its state. A local state is that of the directory.
func placed(env steps.Env, t index.Target) index.Target {
	if t.Directory == "" {
		return t
	}
	if !filepath.IsAbs(t.Directory) {
		t.Directory = filepath.Join(env.Dir, t.Directory)
	}
	around := module.Placed(env, t.Directory, t.Workspace)
	if real, err := filepath.EvalSymlinks(t.Directory); err == nil {
		t.Directory = real
	}
	var backend []string
	for _, kv := range around {
		switch kv.Key {
		case module.KeyWorkspace:
			t.Workspace = kv.Value
		case module.KeyBackend:
			backend = append(backend, kv.Value)
		}
	}
	if len(backend) > 1 && backend[0] != "local" {
		t.State = strings.Join(append(backend, "workspace "+t.Workspace), " ")
	}
	return t
}

// warnSame tells of those on a stream, with how each is resumed.
func warnSame(w io.Writer, p *process.Program, same []tui.SameTarget) {
	for _, x := range same {
		who := ""
		if x.Who != "" {
			who = ", " + process.Safe(x.Who) + " at the keyboard"
		}
		fmt.Fprintf(w, "handrail: incident %s is open for the same %s: %s, in %s, opened %s ago%s; resume it with `handrail resume %s`\n",
			process.Safe(x.ID), process.Safe(x.What), process.Safe(x.Title), x.Phase, p.Now().Sub(x.Opened).Truncate(time.Second), who, process.Safe(x.ID))
	}
}

// resumeInstead asks whether to resume one of them, and gives its id; "" opens a
// second incident. It reads no further than the line.
func resumeInstead(p *process.Program, same []tui.SameTarget) string {
	if len(same) == 0 {
		return ""
	}
	fmt.Fprintf(p.Stderr, "Type r to resume %s, or nothing to open a second incident: ", process.Safe(same[0].ID))
	if strings.EqualFold(p.ReadLine(), "r") {
		return same[0].ID
	}
	return ""
}

// openFor is the question for the screens.
func openFor(p *process.Program, c session.Config, lookup func(id string) (*runbooks.Runbook, error)) func(string, map[string]string) []tui.SameTarget {
	return func(id string, given map[string]string) []tui.SameTarget {
		rb, err := lookup(id)
		if err != nil {
			return nil // said by what opens it
		}
		params, err := rb.Bind(given)
		if err != nil {
			return nil
		}
		return slices.Clip(sameTarget(p, c, rb, params))
	}
}

func incidentRow(r index.Row) tui.IncidentRow {
	return tui.IncidentRow{ID: r.ID, Title: r.Title, Runbook: r.Runbook, Severity: string(r.Severity), Phase: string(r.Phase), Opened: r.Opened,
		Where: r.Target.Words(), Who: r.Operator, Drill: r.Drill, Outcome: r.Outcome, Kind: r.Kind}
}
