package metrics

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

const (
	quantile = 0.95
	// tooLong is for how long one item may be worked on while others wait: a reconciliation of seconds is usual, and one that
	// waits for a health check has a time limit of its own in minutes.
	tooLong = time.Minute
)

// tell makes facts of what was gathered.
func (g *gathered) tell(from string, f steps.Facts, obs *steps.Observation) {
	g.tellWhich(f)
	g.tellStart(f, obs)
	if g.seen.Cut {
		const why = "the text ends in the middle of a line, so that a part may be missing: save it again, whole"
		f.Unknown(why, "queued", "queues", "oldest", "wait", "slowest", "reconciled")
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = from + " holds a part of the metrics alone."
		return
	}
	names := slices.Sorted(maps.Keys(g.queues))
	queued := g.tellDepth(names, f)
	at, span := g.tellLongest(names, f)
	g.tellWaits(names, f, obs)
	g.tellTook(f, obs)
	obs.Summary = summary(from, f)
	if queued > 0 && span > tooLong {
		obs.Say(steps.Warning, "%d items wait, and the queue %s has been at one for %s. Keep its log before a restart, and read what it waits for.", queued, at, span.Round(time.Second))
	}
}

// summary names what is known.
func summary(from string, f steps.Facts) string {
	who := map[string]string{argocd: "Argo CD", flux: "Flux"}[f.Got("which").Text()]
	if who == "" {
		who = from
	}
	var parts []string
	for _, of := range []struct{ fact, form string }{
		{"queued", "%s items wait"}, {"oldest", "it has been at one for %s"}, {"slowest", "95 of 100 reconciliations took at most %s"},
	} {
		v := f.Got(of.fact)
		if of.fact == "oldest" && v.Known() && v.Duration() == 0 {
			parts = append(parts, "it is at none")
		} else if v.Known() {
			parts = append(parts, fmt.Sprintf(of.form, v.Text()))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no metric of a queue or a reconciliation is among them"}
	}
	return who + ": " + strings.Join(parts, ", ") + "."
}

func (g *gathered) tellWhich(f steps.Facts) {
	switch {
	case g.argo && g.flux:
		f.Unknown("they are metrics of Argo CD and of Flux", "which")
	case g.argo:
		f.Set("which", steps.EnumOf(argocd))
	case g.flux:
		f.Set("which", steps.EnumOf(flux))
	default:
		f.Unknown("none of them is one of Argo CD or Flux", "which")
	}
}

func (g *gathered) tellStart(f steps.Facts, obs *steps.Observation) {
	switch why := g.bad[startedAt]; {
	case why != "":
		f.Unknown(why, "started")
	case g.started == 0:
		f.Unknown(startedAt+" is not among the metrics", "started")
	case g.started > 1e11:
		f.Unknown(startedAt+" is no time", "started")
	default:
		at := time.UnixMilli(int64(g.started * 1000)).UTC()
		f.Set("started", steps.TimeOf(at))
		obs.Say(steps.Info, "Its process started at %s: what it counted before is gone.", at.Format(time.RFC3339))
	}
}

// tellDepth is what waits. A queue to which nothing was ever added is empty, whether its depth is told or not.
func (g *gathered) tellDepth(names []string, f steps.Facts) (queued int64) {
	why := g.bad[depth] + g.bad[added]
	table := map[string]string{}
	for _, name := range names {
		q := g.queues[name]
		switch {
		case why != "":
		case !q.deep && q.added > 0:
			why = "the depth of queue " + strconv.Quote(name) + " is not among the metrics"
		case q.depth != math.Trunc(q.depth) || q.depth > 1<<40:
			why = fmt.Sprintf("the depth of queue %q is %v", name, q.depth)
		}
		table[name] = strconv.FormatFloat(q.depth, 'f', -1, 64)
		queued += int64(min(q.depth, 1<<40))
	}
	if len(names) == 0 {
		why = "no metric of a queue is among them"
	}
	if why != "" {
		f.Unknown(why, "queued", "queues")
		return 0
	}
	f.Set("queued", steps.IntOf(queued))
	f.Set("queues", steps.TableOf(table))
	return queued
}

// tellLongest is what it is at.
func (g *gathered) tellLongest(names []string, f steps.Facts) (at string, span time.Duration) {
	why := g.bad[longest]
	told := false
	for _, name := range names {
		q := g.queues[name]
		told = told || q.running
		if d := seconds(q.longest); d > span {
			at, span = name, d
		}
	}
	if !told && why == "" {
		why = longest + " is not among the metrics"
	}
	if why != "" {
		f.Unknown(why, "oldest")
		return "", 0
	}
	f.Set("oldest", steps.DurationOf(span))
	return at, span
}

// tellWaits is how long items waited, in the queue that is worst.
func (g *gathered) tellWaits(names []string, f steps.Facts, obs *steps.Observation) {
	if why := g.bad[queuedFor]; why != "" {
		f.Unknown(why, "wait")
		return
	}
	why, worst, where, more, known := "no metric of how long items wait is among them", 0.0, "", false, false
	for _, name := range names {
		if len(g.queues[name].waited) == 0 {
			continue
		}
		v, beyond, err := g.queues[name].waited.quantile(quantile)
		switch {
		case errors.Is(err, errNone):
			why = "nothing was queued since it started"
		case err != nil:
			f.Unknown(fmt.Sprintf("%s of queue %q: %v", queuedFor, name, err), "wait")
			return
		case !known || v > worst:
			worst, where, more, known = v, name, beyond, true
		}
	}
	if !known {
		f.Unknown(why, "wait")
		return
	}
	f.Set("wait", steps.DurationOf(seconds(worst)))
	if more {
		obs.Say(steps.Warning, "More than 5 of 100 items waited in the queue %s for longer than %s, the last bound that is counted by.", where, seconds(worst))
	}
}

// tellTook is how long reconciliations took.
func (g *gathered) tellTook(f steps.Facts, obs *steps.Observation) {
	why := g.bad[argoTook] + g.bad[fluxTook]
	if g.argo && g.flux {
		why = "two controllers are mixed there"
	}
	if why == "" && len(g.took) == 0 {
		why = "no reconciliation is among the metrics: none was through since it started, or this part of it makes none"
	}
	if why != "" {
		f.Unknown(why, "slowest", "reconciled")
		return
	}
	n, err := g.took.count()
	if err == nil {
		f.Set("reconciled", steps.IntOf(int64(min(n, 1<<53))))
	}
	v, more, err := g.took.quantile(quantile)
	if err != nil {
		f.Unknown("of the reconciliations: "+err.Error(), "slowest")
		return
	}
	f.Set("slowest", steps.DurationOf(seconds(v)))
	if more {
		obs.Say(steps.Warning, "More than 5 of 100 reconciliations took longer than %s, the last bound that is counted by.", seconds(v))
	}
}
