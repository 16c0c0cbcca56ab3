package steps

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// Question is one of the twelve that the command centre answers.
type Question struct {
	ID    string `json:"id"`
	Title string `json:"title"` // what its rows are
	One   string `json:"one"`   // one of them, in a word or two
}

// The questions of the command centre.
const (
	StuckDeployments = "stuck-deployments"
	HangingDeletions = "hanging-deletions"
	RefusedRequests  = "refused-requests"
	LockedRuns       = "locked-runs"
	PartialApplies   = "partial-applies"
	DegradedApps     = "degraded-apps"
	DenyingPolicies  = "denying-policies"
	FailedSecrets    = "failed-secrets"
	OpenDrift        = "open-drift"
	BreakGlass       = "break-glass"
	ManualChanges    = "manual-changes"
	RepairedState    = "repaired-state"
)

// Questions are the twelve of the command centre, in their order.
func Questions() []Question {
	return []Question{
		{StuckDeployments, "stuck deployments", "stuck"},
		{HangingDeletions, "hanging deletions", "deletion"},
		{RefusedRequests, "refused requests", "refused"},
		{LockedRuns, "locked runs", "lock"},
		{PartialApplies, "partial applies", "partial"},
		{DegradedApps, "degraded apps", "degraded"},
		{DenyingPolicies, "denying policies", "denied"},
		{FailedSecrets, "failed secret rotations", "secret"},
		{OpenDrift, "open drift", "drift"},
		{BreakGlass, "active break-glass", "break-glass"},
		{ManualChanges, "unreconciled manual changes", "by hand"},
		{RepairedState, "recently repaired state", "repaired"},
	}
}

// Answer is what was seen about one question. Nothing was found where there are
// no rows, which is worth what Seen says; Gaps name what was not seen.
type Answer struct {
	Question string        `json:"question"`
	Rows     []Standing    `json:"rows"`
	More     int           `json:"more,omitempty"` // rows that were found beyond Rows
	Seen     []string      `json:"seen"`           // what was looked at, whole
	Gaps     []Gap         `json:"gaps,omitempty"`
	Took     time.Duration `json:"took_ns"`
}

// Standing is one thing that stands as it should not, or that a person should
// know of.
type Standing struct {
	Level   Level             `json:"level"`
	What    string            `json:"what"`            // what is the matter, in one line
	Where   string            `json:"where"`           // the object, as a person names it
	Count   int               `json:"count,omitempty"` // how often it happened, where that is the question
	Since   time.Time         `json:"since,omitzero"`
	Owner   string            `json:"owner,omitempty"`   // who keeps it, "" where nothing says so
	Detail  string            `json:"detail,omitempty"`  // what the object itself says
	Command string            `json:"command,omitempty"` // how a person would look
	Runbook string            `json:"runbook,omitempty"` // that fits, "" for none
	Params  map[string]string `json:"params,omitempty"`  // of the runbook

	Incident string `json:"incident,omitempty"` // the one that it belongs to
}

// GapKind is why something could not be seen.
type GapKind string

// The kinds of gaps. Absent is positive knowledge: there is no such thing here.
const (
	NoPlace   GapKind = "no-place" // nothing says where to look: no cluster
	Absent    GapKind = "absent"
	Forbidden GapKind = "forbidden"
	TimedOut  GapKind = "timed-out"
	NotAsked  GapKind = "not-asked" // it would take more than a read
	Unread    GapKind = "unread"    // anything else
)

// Gap is something that could not be seen, and why.
type Gap struct {
	What string  `json:"what"`
	Kind GapKind `json:"kind"`
	Say  string  `json:"say"`
}

// Brief is why in a few words; Say has all of it.
func (g Gap) Brief() string {
	switch {
	case g.Kind == Forbidden:
		return "forbidden"
	case g.Kind == TimedOut:
		return "no answer in time"
	case g.Kind == NoPlace:
		return "no " + g.What
	case g.Kind == Absent && g.What == Workspace:
		return "no workspace here"
	case g.Kind == Absent:
		return "not installed here"
	}
	return g.Say
}

// Workspace is what a gap is about where there is no root module.
const Workspace = "workspace"

// GapOf says why what could not be seen, by the error of the read.
func GapOf(what string, err error) Gap {
	g := Gap{What: what, Kind: Unread, Say: err.Error()}
	switch {
	case errors.Is(err, ErrDenied):
		g.Kind = Forbidden
	case errors.Is(err, context.DeadlineExceeded):
		g.Kind = TimedOut
	}
	return g
}

// Blind returns what kept an answer from being whole. What is known not to exist
// counts only where nothing else was looked at: a cluster without Flux has no
// Flux to look at.
func (a Answer) Blind() []Gap {
	out := slices.DeleteFunc(slices.Clone(a.Gaps), func(g Gap) bool {
		return g.Kind == Absent && len(a.Seen) > 0
	})
	return out
}

// Unseen says what Blind names, a line for each reason; kinds that a cluster does
// not serve are one.
func (a Answer) Unseen() []string {
	var out, kinds []string
	for _, g := range a.Blind() {
		if g.Kind == Absent && g.What != Workspace {
			kinds = append(kinds, g.What)
		} else {
			out = append(out, g.Say)
		}
	}
	if len(kinds) > 0 {
		out = append(out, "this cluster serves no "+strings.Join(kinds, ", no "))
	}
	return out
}

// MostStandings bounds the rows of one answer.
const MostStandings = 200

// Join makes one answer of the answers of several worlds to one question.
func Join(question string, parts ...Answer) Answer {
	all := Answer{Question: question}
	at := map[string]int{}
	for _, p := range parts {
		for _, r := range p.Rows {
			i, there := at[r.Where]
			switch {
			case !there || r.Where == "":
				at[r.Where] = len(all.Rows)
				all.Rows = append(all.Rows, r)
			case all.Rows[i].Runbook == "" && r.Runbook != "":
				all.Rows[i] = r // the same thing, seen by one who knows what to do
			case r.What != all.Rows[i].What && all.Rows[i].Runbook == r.Runbook:
				all.Rows = append(all.Rows, r)
			}
		}
		all.More += p.More
		all.Seen = append(all.Seen, p.Seen...)
		all.Gaps = append(all.Gaps, p.Gaps...)
		all.Took = max(all.Took, p.Took)
	}
	slices.SortStableFunc(all.Rows, worseFirst)
	if over := len(all.Rows) - MostStandings; over > 0 {
		all.Rows, all.More = all.Rows[:MostStandings], all.More+over
	}
	return all
}

// worseFirst sorts by level, then by how often, then the newest first.
func worseFirst(a, b Standing) int {
	rank := map[Level]int{Critical: 0, Warning: 1, Info: 2}
	return cmp.Or(cmp.Compare(rank[a.Level], rank[b.Level]), cmp.Compare(b.Count, a.Count), b.Since.Compare(a.Since), cmp.Compare(a.Where, b.Where))
}
