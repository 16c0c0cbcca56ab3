package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

func suspendedParams() []steps.Field {
	return []steps.Field{
		{Name: "older", Type: steps.Duration, Default: "4h", Doc: "how long something may be suspended before it counts as forgotten"},
	}
}

func suspendedFacts() []steps.Field {
	return []steps.Field{
		{Name: "suspended", Type: steps.Table, Doc: "what is suspended, with since when and by whom"},
		{Name: "overdue", Type: steps.Strings, Doc: "those that handrail paused, and that should have been looked at by now, the longest overdue first"},
		{Name: "forgotten", Type: steps.Strings, Doc: "those that are suspended for longer than allowed, and those of which it is not recorded since when"},
		{Name: "frozen", Type: steps.Strings, Doc: "applications that are not suspended and stand below a source that is: nothing new reaches them"},
		{Name: "behind", Type: steps.Strings, Doc: "those that are suspended while their source holds another revision than the applied one"},
		{Name: "all", Type: steps.Int, Doc: "applications and sources that were looked at"},
	}
}

type suspendedProbe struct{ env steps.Env }

// ledger gathers what lists show; they are read side by side.
type ledger struct {
	mu      sync.Mutex
	apps    []app.App
	sources map[string]app.Held // by kind/namespace/name
	gaps    []string
	within  string // the one namespace that is read, "" for all
	whole   bool   // the objects and results of each application are kept
}

// Probe implements steps.Prober.
func (p suspendedProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	l := &ledger{sources: map[string]app.Held{}}
	if err := l.read(inner, c); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	if err := turned(); err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: c.Kubectl("", "get", "applications.argoproj.io,kustomizations,helmreleases,gitrepositories", "-A", "-o", "yaml", "--show-managed-fields"), Gaps: l.gaps}
	f := steps.NewFacts(suspendedFacts())
	if len(l.gaps) > 0 {
		// A part of the list would read as all of it.
		obs.Facts = f.Rest(strings.Join(l.gaps, "; "))
		obs.Summary = "What is suspended is not known: " + steps.Clip(l.gaps[0], 300)
		return obs, nil
	}
	now, why := c.Now()
	l.tell(now, why, in.Duration("older"), f, &obs)
	obs.Findings = append(obs.Findings, c.Warnings()...)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// read lists everything that a controller of GitOps reconciles or fetches.
func (l *ledger) read(ctx context.Context, c *cluster.Client) error {
	var reads []func(context.Context)
	add := func(group, plural string, list func(context.Context, cluster.Resource) error) {
		reads = append(reads, func(ctx context.Context) {
			r, err := c.Find(ctx, plural+"."+group)
			if errors.Is(err, cluster.ErrNoKind) {
				return // it is not installed
			}
			if err == nil {
				err = list(ctx, r)
			}
			if err != nil {
				l.gap(plural+"."+group, err)
			}
		})
	}
	add(app.ArgoGroup, applications, func(ctx context.Context, r cluster.Resource) error {
		return cluster.Each(ctx, c, r.Path(l.within, ""), nil, func(o app.ArgoApplication) { l.app(app.FromArgo(o)) })
	})
	add(app.KustomizeGroup, kustomizations, func(ctx context.Context, r cluster.Resource) error {
		return cluster.Each(ctx, c, r.Path(l.within, ""), nil, func(o app.Kustomization) { l.app(app.FromKustomization(o)) })
	})
	add(app.HelmGroup, helmReleases, func(ctx context.Context, r cluster.Resource) error {
		return cluster.Each(ctx, c, r.Path(l.within, ""), nil, func(o app.HelmRelease) { l.app(app.FromHelmRelease(o)) })
	})
	for _, plural := range sourceKinds {
		add(app.SourceGroup, plural, func(ctx context.Context, r cluster.Resource) error {
			return cluster.Each(ctx, c, r.Path(l.within, ""), nil, func(o app.FluxSource) { l.source(r.Kind, app.FromSource(o)) })
		})
	}
	var fell error
	cluster.Together(ctx, reads, func(err error) { fell = err })
	if fell != nil {
		return fell
	}
	return nil
}

func (l *ledger) gap(what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps = append(l.gaps, what+": "+report.Why(err))
}

func (l *ledger) app(a app.App) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Of the rest only what is asked of them is kept: there may be thousands.
	a.History = nil
	if !l.whole {
		a.Resources, a.Operation.Results = nil, nil
	}
	l.apps = append(l.apps, a)
}

func (l *ledger) source(kind string, h app.Held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources[kind+"/"+h.Namespace+"/"+h.Name] = h
}

// tell says what of it is suspended: overdue first, then the oldest.
func (l *ledger) tell(now time.Time, clockless string, older time.Duration, f steps.Facts, obs *steps.Observation) {
	type line struct {
		name string
		s    *app.Suspension
	}
	var lines []line
	var overdue, frozen, behind []string
	for _, a := range l.apps {
		var from app.Held
		if len(a.Sources) > 0 {
			from = l.sources[a.Sources[0].Ref]
		}
		switch {
		case a.Suspension != nil:
			lines = append(lines, line{a.String(), a.Suspension})
			if from.Revision != "" && a.Applied != "" && app.Commit(from.Revision) != app.Commit(a.Applied) {
				behind = append(behind, a.String())
			}
		case from.Suspension != nil:
			frozen = append(frozen, a.String())
		}
	}
	for key, h := range l.sources {
		if h.Suspension != nil {
			lines = append(lines, line{"flux " + strings.ToLower(key), h.Suspension})
		}
	}
	late := func(of line) bool { return clockless == "" && of.s.Note.Overdue(now) }
	slices.SortFunc(lines, func(a, b line) int {
		if late(a) != late(b) {
			return map[bool]int{true: -1, false: 1}[late(a)]
		}
		if late(a) {
			return cmp.Or(a.s.Note.Until.Compare(b.s.Note.Until), strings.Compare(a.name, b.name))
		}
		if c := a.s.Since.Compare(b.s.Since); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	slices.Sort(frozen)
	slices.Sort(behind)
	table, forgotten := map[string]string{}, []string{}
	for _, of := range lines {
		table[of.name] = sinceWhen(of.s)
		if late(of) {
			overdue = append(overdue, of.name)
		}
		if late(of) || of.s.Since.IsZero() || clockless == "" && now.Sub(of.s.Since) > older {
			forgotten = append(forgotten, of.name)
		}
	}
	f.Set("all", steps.IntOf(int64(len(l.apps)+len(l.sources))))
	for name, of := range map[string][]string{"overdue": overdue, "forgotten": forgotten, "frozen": frozen, "behind": behind} {
		switch {
		case len(of) > mostListed:
			f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(of), mostListed), name)
		case (name == "forgotten" || name == "overdue") && clockless != "":
			f.Unknown(clockless, name)
		default:
			f.Set(name, steps.StringsOf(of))
		}
	}
	if len(table) > mostListed {
		f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(table), mostListed), "suspended")
	} else {
		f.Set("suspended", steps.TableOf(table))
	}
	obs.Summary = fmt.Sprintf("%d of %d applications and sources are suspended.", len(lines), len(l.apps)+len(l.sources))
	for _, name := range forgotten {
		if slices.Contains(overdue, name) {
			obs.Say(steps.Warning, "%s is suspended %s, which is over.", name, table[name])
			continue
		}
		obs.Say(steps.Warning, "%s is suspended %s, longer than %s: it may be forgotten.", name, table[name], older)
	}
	for _, name := range frozen {
		obs.Say(steps.Warning, "%s is not suspended, and its source is: nothing new reaches it.", name)
	}
}
