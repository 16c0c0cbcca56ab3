package timeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

type probe struct{ env steps.Env }

// run is one reading.
type run struct {
	env steps.Env
	c   *cluster.Client
	ns  string // "" for every namespace
	l   *lines

	mu     sync.Mutex
	unread []string
	byHand []string
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := c.Discover(inner); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r := &run{env: p.env, c: c, ns: in.Text("namespace")}
	var obs steps.Observation
	now, why := c.Now()
	if why != "" {
		now = p.env.Now()
		obs.Gaps = append(obs.Gaps, "the window ends by the clock of this machine: "+why)
	}
	since := in.Duration("since")
	r.l = newLines(now.Add(-since), now)
	args := []string{"get", "events"}
	if r.ns == "" {
		args = append(args, "-A")
	}
	obs.Command = c.Kubectl(r.ns, append(args, "--sort-by", ".lastTimestamp")...)
	r.read(inner, in.Text("clone"))
	if err := turned(); err != nil {
		return steps.Observation{}, err
	}
	if ctx.Err() != nil {
		return steps.Observation{}, context.Cause(ctx)
	}
	r.tell(&obs, since.String(), out)
	obs.Findings = append(obs.Findings, c.Warnings()...)
	return obs, nil
}

// miss notes what could not be read.
func (r *run) miss(what string, err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, what+": "+steps.OneLine(report.Why(err), 300))
}

// read asks every source, each for itself.
func (r *run) read(ctx context.Context, clone string) {
	served := r.c.Served()
	var reads []func(context.Context)
	each := func(what string, read func(context.Context) error) {
		reads = append(reads, func(ctx context.Context) { r.miss(what, read(ctx)) })
	}
	for _, of := range slices.Concat(written(), above()) {
		namespace := r.ns
		if !of.Namespaced {
			namespace = ""
		}
		has, is := served.By[of.String()]
		switch {
		case is:
			of.Version = has.Version
			each(of.String(), func(ctx context.Context) error { return r.objects(ctx, of, namespace) })
		case served.Hides(of.Group):
			r.miss(of.String(), errors.New("the server did not say whether it serves that"))
		}
	}
	for _, name := range delivering() {
		_, group, _ := strings.Cut(name, ".")
		of, is := served.By[name]
		switch {
		case is && group == "argoproj.io":
			each(name, func(ctx context.Context) error { return r.argo(ctx, of) })
		case is:
			each(name, func(ctx context.Context) error { return r.flux(ctx, of) })
		case served.Hides(group):
			r.miss(name, errors.New("the server did not say whether it serves that"))
		}
	}
	each("events", func(ctx context.Context) error { return r.warnings(ctx, kind("", "v1", "events", "Event", true)) })
	if clone != "" {
		each("clone "+clone, func(ctx context.Context) error { return r.commits(ctx, clone) })
	}
	cluster.Together(ctx, reads, func(err error) { r.miss("a source", err) })
}

// tell says what was read.
func (r *run) tell(obs *steps.Observation, since string, out steps.Sink) {
	f := steps.NewFacts(facts())
	r.l.trim()
	all := r.l.ordered()
	slices.Sort(r.unread)
	slices.Sort(r.byHand)
	slices.Reverse(r.byHand)
	f.Set("complete", steps.BoolOf(len(r.unread) == 0))
	f.Set("unread", steps.StringsOf(r.unread))
	latest, by := []string{}, map[string]string{}
	for _, one := range all[:min(len(all), mostTold)] {
		latest = append(latest, one.String())
	}
	for source, n := range r.l.by {
		by[source] = fmt.Sprint(n)
	}
	where := "the cluster"
	if r.ns != "" {
		where = "namespace " + r.ns
	}
	if len(r.unread) > 0 {
		f.Unknown("not read: "+r.unread[0], "count", "by", "newest", "latest", "hand")
		obs.Say(steps.Warning, "Not everything was read, so that more may have changed than is listed: %s", steps.Clip(strings.Join(r.unread, "; "), 600))
		obs.Summary = fmt.Sprintf("%d changes and warnings of %s in %s were found, and %d sources could not be read.", r.l.count, where, since, len(r.unread))
		obs.Gaps = append(obs.Gaps, r.unread[:min(len(r.unread), 20)]...)
	} else {
		f.Set("count", steps.IntOf(r.l.count))
		f.Set("by", steps.TableOf(by))
		f.Set("latest", steps.StringsOf(latest))
		f.Set("hand", steps.StringsOf(r.byHand[:min(len(r.byHand), mostTold)]))
		if len(all) > 0 {
			f.Set("newest", steps.TimeOf(all[0].last))
		}
		obs.Summary = fmt.Sprintf("%d changes and warnings of %s in %s.", r.l.count, where, since)
		if len(all) == 0 {
			obs.Summary = fmt.Sprintf("Nothing that keeps a time changed in %s in %s. What was deleted leaves nothing.", where, since)
		}
	}
	for _, one := range r.byHand[:min(len(r.byHand), 5)] {
		obs.Say(steps.Info, "Written by hand: %s", one)
	}
	if r.l.left {
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("the newest %d lines were kept", mostKept))
	}
	if len(all) > 0 {
		if gap := steps.Keep(out, "timeline", steps.MediaText, func(w io.Writer) error {
			b := bufio.NewWriter(w)
			for _, one := range slices.Backward(all) {
				if _, err := fmt.Fprintln(b, one); err != nil {
					return err
				}
			}
			return b.Flush()
		}); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
	obs.Facts = f.Rest("nothing changed")
}
