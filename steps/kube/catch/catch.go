package catch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/fieldpath"
	"handrail/steps/kube/object"
	"handrail/steps/kube/report"
	"handrail/steps/kube/writers"
)

const (
	defaultWindow  = time.Minute
	longestWindow  = 10 * time.Minute
	shortestWindow = time.Second
	besideTime     = 45 * time.Second // to connect before the window, and to look around after it
	likelyTime     = 15 * time.Second // to list who may have written
	mostLikely     = 10
	closeTime      = 10 * time.Second // to prove that nothing was missed
	mostLines      = 200
)

func facts() []steps.Field {
	return []steps.Field{
		{Name: "writes", Type: steps.Int, Doc: "writes of the field, or of the object without its status where no field is named"},
		{Name: "reverts", Type: steps.Bool, Doc: "whether an earlier value was put back, or the field was taken from its holder; unknown where nothing changed it, since a write of the value that is there leaves no trace"},
		{Name: "writer", Type: steps.String, Doc: "manager that did, or that wrote most: a lead, not a proof"},
		{Name: "tick", Type: steps.Duration, Doc: "how far apart its writes are, the middle one of all"},
		{Name: "ticks", Type: steps.Int, Doc: "gaps between its writes, which the tick is the middle one of; 0 where it wrote once"},
		{Name: "recreated", Type: steps.Bool, Doc: "whether the object was deleted and made again: its UID is another one"},
		{Name: "derived", Type: steps.Bool, Doc: "whether one writer that does not call itself kubectl wrote it twice within a minute: change its input"},
		{Name: "settled", Type: steps.Bool, Doc: "whether nothing was seen to write in the whole window, not even who holds the field with the value that is there"},
		{Name: "likely", Type: steps.Strings, Doc: "the first of those that may write the object (kube/writers), who bears the name of the writer before the others; unknown where nothing wrote or anything is unread"},
		{Name: "inputs", Type: steps.Strings, Doc: "ConfigMaps of its namespace that hold the value which is written again and again; unknown where the field is not derived"},
	}
}

// params are the parameters beside the object.
func params(field steps.Field) []steps.Field {
	return []steps.Field{field, {Name: "window", Type: steps.Duration, Default: defaultWindow.String(),
		Doc: "how long to watch, up to 10m: longer than the longest period of a suspect"}}
}

func windowOf(in steps.Params) time.Duration {
	d := in.Duration("window")
	if d == 0 {
		d = defaultWindow
	}
	return min(max(d, shortestWindow), longestWindow)
}

func takes(in steps.Params) time.Duration { return windowOf(in) + besideTime }

type probe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	path, err := fieldpath.Parse(in.Text("field"))
	if err != nil {
		return steps.Observation{}, err
	}
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if !cluster.Plain(t.Name) || t.Namespaced && !cluster.Plain(t.Namespace) {
		return steps.Observation{}, fmt.Errorf("%s: %q is not a valid object name", t.Resource, steps.Clip(t.Name, 100))
	}
	w := &watcher{c: c, t: t, accept: cluster.AsMetadata}
	seen := &writeTracker{path: path, secret: object.IsSecret(t.Resource)}
	if len(path) > 0 && !seen.secret {
		w.accept = cluster.AsJSON // the value of a field is in no metadata
	}
	first, err := w.begin(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	if len(path) > 0 && !first.absent && !seen.secret {
		if _, err := path.In(first.Object.Object); err != nil {
			return steps.Observation{}, err
		}
	}
	seen.start(first)
	window := windowOf(in)
	out.Line(fmt.Sprintf("watching %s for %s", t, window))
	within, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	said := 0
	seen.follow(ctx, within, w, func() {
		if last := seen.writes; len(last) > said && said < mostLines {
			said = len(last)
			out.Line(fmt.Sprintf("%s: written by %s", t, last[said-1]))
		}
	})
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("watching %s: %w", t, err)
	}
	return caught(ctx, c, t, seen, window, out), nil
}

// follow watches to the end of the window. Where the watch leaves a hole it looks
// whether anything happened in it.
func (c *writeTracker) follow(ctx, within context.Context, w *watcher, after func()) {
	see := func(m snapshot) { c.see(m); after() }
	for within.Err() == nil {
		err := w.follow(within, see)
		switch {
		case err == nil:
		case !errors.Is(err, errHole):
			c.holes = append(c.holes, err.Error())
			return
		default:
			m, err := w.begin(within)
			if err != nil {
				c.holes = append(c.holes, errHole.Error()+"; "+err.Error())
				continue
			}
			if !c.last.is(m) {
				c.holes = append(c.holes, errHole.Error())
				see(m)
			}
		}
	}
	if ctx.Err() == nil {
		c.close(ctx, w, see)
	}
}

// is reports whether nothing was written between two states. An object that
// was absent at both may have been there in between.
func (m snapshot) is(n snapshot) bool {
	return !m.absent && !n.absent && m.GetUID() == n.GetUID() && m.GetResourceVersion() == n.GetResourceVersion()
}

// close proves that nothing was missed: a watch over a dead connection looks like
// one on which nothing happens. What the object came to meanwhile is watched up
// to the state that it has now.
func (c *writeTracker) close(ctx context.Context, w *watcher, see func(snapshot)) {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	now, _, err := w.present(ctx)
	switch {
	case err != nil:
		c.holes = append(c.holes, "what was written at the end of the window is not known: "+err.Error())
		return
	case c.last.is(now):
		return
	}
	there := func() bool { return c.last.is(now) || c.last.absent && now.absent }
	until, stop := context.WithCancel(ctx)
	defer stop()
	if there() {
		return
	}
	_, err = w.once(until, func(m snapshot) {
		if there() {
			return
		}
		see(m)
		if there() {
			stop()
		}
	})
	if !there() {
		c.holes = append(c.holes, fmt.Sprintf("what was written at the end of the window was not seen (%v)", err))
		see(now)
	}
}

// caught tells what was seen.
func caught(ctx context.Context, c *cluster.Client, t cluster.Target, seen *writeTracker, window time.Duration, out steps.Sink) steps.Observation {
	v := seen.judge()
	obs := steps.Observation{Command: c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-w", "--output-watch-events", "--show-managed-fields", "-o", "json")}
	if gap := steps.Keep(out, "writes", steps.MediaText, func(w io.Writer) error { _, err := io.WriteString(w, seen.table()); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	obs.Gaps = append(obs.Gaps, seen.holes...)
	obs.Facts = factsOf(v, seen)
	what := t.String()
	if len(seen.path) > 0 {
		what = steps.Clip(seen.path.String(), 300) + " of " + what
	}
	obs.Summary = summary(v, what, window)
	obs.Findings = seen.remarks(v, t, what, window)
	if value, ok := seen.rewritten(v); ok {
		if found, err := blame.Inputs(ctx, c, t, value); err != nil {
			obs.Facts["inputs"] = steps.Unknown(steps.Strings, err.Error())
		} else {
			obs.Facts["inputs"] = steps.StringsOf(found)
			obs.Findings = append(obs.Findings, blame.InputsFinding(what, found)...)
		}
	}
	if v.writes > 0 && !seen.last.absent {
		likely(ctx, c, t, seen.last.Object, v, &obs)
	}
	obs.Findings = append(obs.Findings, c.Warnings()...)
	return obs
}

// likely names who may have written what was seen, among all who may.
func likely(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, v verdict, obs *steps.Observation) {
	within, cancel := context.WithTimeout(ctx, likelyTime)
	defer cancel()
	names, unread := writers.Suspects(within, c, t, o)
	names = names[:min(len(names), mostLikely)]
	if len(names) > 0 {
		obs.Say(steps.Warning, "Of all that may write %s, first: %s", t, steps.Clip(strings.Join(names[:min(len(names), 3)], "; "), 700))
	}
	if v.writer != "" && len(unread) == 0 && len(names) == 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: "Nothing in the cluster that may write it was found: look at nodes (kube/node-report), CI and people."})
	}
	if len(unread) > 0 {
		obs.Gaps = append(obs.Gaps, unread...)
		obs.Facts["likely"] = steps.Unknown(steps.Strings, unread[0])
		return
	}
	obs.Facts["likely"] = steps.StringsOf(names)
}

func factsOf(v verdict, seen *writeTracker) map[string]steps.Value {
	f := steps.NewFacts(facts())
	hole := strings.Join(seen.holes, "; ")
	// What was seen was seen, whatever a hole hides; that nothing happened is
	// known of a window without holes alone.
	sure := func(name string, is bool) {
		if is || !v.hole {
			f.Set(name, steps.BoolOf(is))
		} else {
			f.Unknown(hole, name)
		}
	}
	sure("recreated", v.recreated)
	sure("derived", v.derived)
	if v.settled && v.hole {
		f.Unknown(hole, "settled")
	} else {
		f.Set("settled", steps.BoolOf(v.settled))
	}
	switch {
	case v.reverts == nil && v.hole:
		f.Unknown(hole, "reverts")
	case v.reverts == nil && v.again > 0:
		f.Unknown("who holds the field wrote the object again, with the value that was there: whether it would put another one back was not seen", "reverts")
	case v.reverts == nil && v.writes == 0:
		f.Unknown("nothing changed it, so nothing was put back; a write of the value that is there already leaves no trace", "reverts")
	case v.reverts == nil:
		f.Unknown("without the value of one field it cannot be said that it was put back: name the field", "reverts")
	default:
		sure("reverts", *v.reverts)
	}
	if v.hole {
		f.Unknown(hole, "writes", "tick", "ticks")
	} else {
		f.Set("writes", steps.IntOf(int64(v.writes)))
		f.Set("ticks", steps.IntOf(int64(v.ticks)))
	}
	switch {
	case v.writer != "":
		f.Set("writer", steps.StringOf(steps.Clip(v.writer, report.LongestValue)))
	case v.writes == 0 && v.hole:
		f.Unknown(hole, "writer")
	case v.writes == 0:
		f.Unknown("nothing wrote", "writer", "tick")
	default:
		f.Unknown("the author of what was written was not recorded", "writer", "tick")
	}
	switch {
	case v.hole || v.writer == "":
	case v.ticks == 0:
		f.Unknown("one write shows no rhythm", "tick")
	default:
		f.Set("tick", steps.DurationOf(v.tick.Round(100*time.Millisecond)))
	}
	f.Unknown("they are looked for where one field is written again and again", "inputs")
	f.Unknown("nothing was seen to write", "likely")
	return f.Rest("not seen")
}

// rewritten is the value that the writer of derived state puts there.
func (c *writeTracker) rewritten(v verdict) (any, bool) {
	if !v.derived || len(c.path) == 0 || c.secret {
		return nil, false
	}
	for _, w := range slices.Backward(c.touching()) {
		if w.who() != v.writer || w.value < 0 {
			continue
		}
		raw, is := strings.CutPrefix(c.values[w.value], "=")
		var value any
		ok := is && json.Unmarshal([]byte(raw), &value) == nil
		return value, ok
	}
	return nil, false
}

func summary(v verdict, what string, window time.Duration) string {
	text := fmt.Sprintf("%s was written %d times in %s", what, v.writes, window)
	switch {
	case v.writes == 0 && v.again > 0:
		return fmt.Sprintf("%s kept its value in %s, while who holds it wrote %d times.", what, window, v.again)
	case v.writes == 0 && v.hole:
		return fmt.Sprintf("No write of %s was seen in %s, but part of the window is missing.", what, window)
	case v.writes == 0:
		return fmt.Sprintf("Nothing wrote %s in %s.", what, window)
	case v.reverts != nil && *v.reverts:
		text = fmt.Sprintf("%s was put back by %s", what, steps.Clip(v.writer, 128))
		if v.writer == "" {
			text = what + " was put back, with no recorded author"
		}
	case v.writer != "":
		text += ", mostly by " + steps.Clip(v.writer, 128)
	}
	if v.ticks > 0 {
		text += fmt.Sprintf(", every %s", v.tick.Round(100*time.Millisecond))
	}
	return text + "."
}
