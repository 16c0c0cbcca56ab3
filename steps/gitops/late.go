package gitops

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
)

// lateness is an application that was not reconciled in time.
type lateness struct {
	a     app.App
	why   string
	since time.Time // zero where nothing says so
}

// pathOf names an application as the gates take it.
func pathOf(a app.App) string {
	resource := map[string]string{"Application": applications + "." + app.ArgoGroup, "Kustomization": kustomizations + "." + app.KustomizeGroup, "HelmRelease": helmReleases + "." + app.HelmGroup}[a.Kind]
	return resource + "/" + a.Namespace + "/" + a.Name
}

// actsAlone reports whether a controller reconciles an application without a person.
func actsAlone(a app.App) bool { return a.AutoSync && a.Suspension == nil }

// leftAlone reports whether a controller does not even look at an application. Argo CD goes on
// looking at one whose auto-sync is off.
func leftAlone(a app.App) bool {
	return a.Suspension != nil && (a.Controller == app.Flux || strings.HasPrefix(a.Suspension.How, "annotation"))
}

// judge says why an application is late, "" where it is not. One that is suspended is never:
// it is left alone on purpose.
func (r *controllerRun) judge(a app.App) (why string, since time.Time) {
	if leftAlone(a) {
		return "", time.Time{}
	}
	patience := r.in.Duration("patience")
	// Servers tell the time in seconds: what is that old to the second is over.
	over := func(at time.Time, more time.Duration) bool { return !at.IsZero() && r.now.Sub(at) >= more+patience }
	if a.Asked != nil && (a.Asked.Since.IsZero() || over(a.Asked.Since, 0)) {
		return a.Asked.What + " is not answered" + sinceAt(a.Asked.Since), a.Asked.Since
	}
	if a.Behind && (a.Written.IsZero() || over(a.Written, 0)) {
		return "its newest spec has not been seen" + sinceAt(a.Written), a.Written
	}
	if a.Controller == app.ArgoCD {
		switch {
		case a.Worked.IsZero():
			return "it was never compared", a.Written
		case r.everyKnown && r.every > 0 && over(a.Worked, r.every):
			return "last compared " + a.Worked.UTC().Format(time.RFC3339), a.Worked.Add(r.every)
		}
		return "", time.Time{}
	}
	if len(a.Sources) > 0 && a.Kind == "Kustomization" && a.Link != app.LinkDependency {
		from := r.sources[a.Sources[0].Ref]
		if from.Revision != "" && app.Commit(from.Revision) != app.Commit(a.Tried) && over(from.Updated, 0) {
			return fmt.Sprintf("applied %s, its source holds %s%s", shortOr(a.Applied), shortRevision(from.Revision), sinceAt(from.Updated)), from.Updated
		}
	}
	if a.Operation.Phase == app.Running {
		if over(a.Checked, a.Timeout) {
			return "its reconciliation runs" + sinceAt(a.Checked) + ", longer than it may", a.Checked.Add(a.Timeout)
		}
		return "", time.Time{}
	}
	if over(a.Worked, a.Interval) {
		return fmt.Sprintf("last reconciled %s, every %s is wanted", a.Worked.UTC().Format(time.RFC3339), a.Interval), a.Worked.Add(a.Interval)
	}
	return "", time.Time{}
}

func shortOr(revision string) string {
	if revision == "" {
		return "nothing"
	}
	return shortRevision(revision)
}

func sinceAt(at time.Time) string {
	if at.IsZero() {
		return ", since when is not recorded"
	}
	return " since " + at.UTC().Format(time.RFC3339)
}

// lateOnes judges every application.
func (r *controllerRun) lateOnes() {
	if r.clockless != "" {
		return
	}
	for _, a := range r.apps {
		if why, since := r.judge(a); why != "" {
			r.late = append(r.late, lateness{a, why, since})
		}
	}
	slices.SortFunc(r.late, func(a, b lateness) int { return strings.Compare(pathOf(a.a), pathOf(b.a)) })
}

func (r *controllerRun) acting() (n int) {
	for _, a := range r.apps {
		if actsAlone(a) {
			n++
		}
	}
	return n
}

func (r *controllerRun) lateActing() int { return len(r.missed()) }

// missed are those that the controller reconciles by itself once it is back.
func (r *controllerRun) missed() []lateness {
	var out []lateness
	for _, l := range r.late {
		if actsAlone(l.a) {
			out = append(out, l)
		}
	}
	return out
}

// tellLate says what waits.
func (r *controllerRun) tellLate() {
	names := []string{"stale", "lag", "missed", "blast", "pruning", "objects", "differing", "overwrites", "touched"}
	switch {
	case r.appsWhy != "":
		r.f.Unknown(r.appsWhy, append(names, "all", "in_flight", "wrote", "paused", "sources_failing")...)
		return
	case r.clockless != "":
		r.f.Unknown(r.clockless, names...)
		return
	}
	var stale []string
	var oldest time.Duration
	for _, l := range r.late {
		stale = append(stale, l.a.String()+": "+l.why)
		if !l.since.IsZero() && !l.since.After(r.now.Add(cluster.SkewTolerance)) {
			oldest = max(oldest, r.now.Sub(l.since))
		}
	}
	r.list("stale", stale)
	r.f.Set("lag", steps.DurationOf(max(0, oldest)))
	missed, objects, pruning := map[string]string{}, 0, []string{}
	differing, flux := 0, false
	for _, l := range r.missed() {
		missed[pathOf(l.a)] = steps.Clip(l.why, 400)
		objects += len(l.a.Resources)
		differing += len(l.a.Differing())
		flux = flux || l.a.Controller == app.Flux
		if l.a.Prune {
			pruning = append(pruning, l.a.String())
		}
	}
	r.table("missed", missed)
	r.list("pruning", pruning)
	r.f.Set("objects", steps.IntOf(int64(objects)))
	if flux {
		r.f.Unknown("Flux does not say which objects differ", "differing")
	} else {
		r.f.Set("differing", steps.IntOf(int64(differing)))
	}
	blast := "some"
	switch len(missed) {
	case 0:
		blast = "none"
	case r.acting():
		blast = "all"
	}
	r.f.Set("blast", steps.EnumOf(blast))
}

// flights says what was under way, and what is suspended.
func (r *controllerRun) flights() {
	if r.appsWhy != "" {
		return
	}
	flying, paused, wrote := map[string]string{}, map[string]string{}, "no"
	for _, a := range r.apps {
		op := a.Operation
		flies := op.Phase == app.Running || op.Phase == app.Terminating
		if s := a.Suspension; s != nil {
			paused[pathOf(a)] = s.How + ", " + sinceWhen(s)
			if flies && leftAlone(a) {
				paused[pathOf(a)] += "; it stopped in an operation, which is not ended"
			}
		}
		if !flies || leftAlone(a) {
			continue
		}
		done, of := op.Applied()
		say := fmt.Sprintf("%s at %s: %s", op.Phase, shortOr(op.Revision), steps.OneLine(op.Message, 300))
		if of > 0 {
			say += fmt.Sprintf(" (%d of %d objects)", done, of)
		}
		flying[pathOf(a)] = say
		switch {
		case op.Wrote == app.Yes:
			wrote = "yes"
		case wrote == "no" && op.Wrote != app.No:
			wrote = "unclear"
		}
	}
	r.table("in_flight", flying)
	r.table("paused", paused)
	r.f.Set("wrote", steps.EnumOf(wrote))
	var failing []string
	for key, h := range r.sources {
		if h.Fails != "" {
			failing = append(failing, strings.ToLower(key)+": "+steps.OneLine(h.Fails, 400))
		}
	}
	for _, a := range r.apps {
		if a.Controller == app.ArgoCD && a.Link == app.LinkSource {
			failing = append(failing, a.String()+": "+steps.OneLine(a.Says, 400))
		}
	}
	slices.Sort(failing)
	r.list("sources_failing", failing)
}

// list sets a list as a whole, or not at all: a part of it would read as all of it.
func (r *controllerRun) list(name string, of []string) {
	if len(of) > mostListed {
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(of), mostListed), name)
		return
	}
	r.f.Set(name, steps.StringsOf(of))
}

// table is the same for a table.
func (r *controllerRun) table(name string, of map[string]string) {
	if len(of) > mostListed {
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(of), mostListed), name)
		return
	}
	r.f.Set(name, steps.TableOf(of))
}
