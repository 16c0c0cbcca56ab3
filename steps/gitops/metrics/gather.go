package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"handrail/steps/promtext"
)

// The metrics that are read.
const (
	depth       = "workqueue_depth"
	added       = "workqueue_adds_total"
	longest     = "workqueue_longest_running_processor_seconds"
	queuedFor   = "workqueue_queue_duration_seconds_bucket"
	argoTook    = "argocd_app_reconcile_bucket"
	fluxTook    = "gotk_reconcile_duration_seconds_bucket"
	startedAt   = "process_start_time_seconds"
	argoMetrics = "argocd_"
	fluxMetrics = "gotk_"
)

var read = map[string]bool{depth: true, added: true, longest: true, queuedFor: true, argoTook: true, fluxTook: true, startedAt: true}

// Bounds of what is gathered and kept.
const (
	mostQueues = 200
	mostSeries = 2000
	mostKept   = 4 << 20
)

// queue is one of them.
type queue struct {
	depth   float64
	deep    bool    // whether a depth was told
	added   float64 // since it started
	longest float64
	running bool // whether longest was told
	waited  histogram
}

// gathered is what a text says.
type gathered struct {
	seen       promtext.Seen
	argo, flux bool
	queues     map[string]*queue
	took       histogram
	started    float64
	once       map[string]bool   // series that may stand there once
	bad        map[string]string // why a metric cannot be believed, by its name
	kept       bytes.Buffer
	dropped    bool // whether not all was kept
}

// gather reads a text.
func gather(raw []byte) (*gathered, error) {
	g := &gathered{queues: map[string]*queue{}, took: histogram{}, once: map[string]bool{}, bad: map[string]string{}}
	wanted := func(name string) bool {
		g.argo = g.argo || strings.HasPrefix(name, argoMetrics)
		g.flux = g.flux || strings.HasPrefix(name, fluxMetrics)
		return read[name]
	}
	var err error
	g.seen, err = promtext.Each(raw, wanted, g.take)
	return g, err
}

func (g *gathered) take(s promtext.Sample) error {
	if g.dropped = g.dropped || g.kept.Len()+len(s.Line) >= mostKept; !g.dropped {
		g.kept.Write(s.Line)
		g.kept.WriteByte('\n')
	}
	if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || s.Value < 0 {
		g.bad[s.Name] = fmt.Sprintf("%s is %v", s.Name, s.Value)
		return nil
	}
	if s.Name == argoTook || s.Name == fluxTook { // one for each application of a large cluster
		if err := g.took.add(s.Labels["le"], s.Value); err != nil {
			g.bad[s.Name] = s.Name + ": " + err.Error()
		}
		return nil
	}
	if err := g.single(s); err != nil {
		return err
	}
	if s.Name == startedAt {
		g.started = max(g.started, s.Value)
		return nil
	}
	name := s.Labels["name"]
	q := g.queues[name]
	if q == nil {
		if len(g.queues) == mostQueues {
			return fmt.Errorf("it has more than %d queues", mostQueues)
		}
		q = &queue{waited: histogram{}}
		g.queues[name] = q
	}
	switch s.Name {
	case depth:
		q.depth, q.deep = q.depth+s.Value, true // one for each priority
	case added:
		q.added += s.Value
	case longest:
		q.longest, q.running = max(q.longest, s.Value), true
	case queuedFor:
		if err := q.waited.add(s.Labels["le"], s.Value); err != nil {
			g.bad[s.Name] = s.Name + ": " + err.Error()
		}
	}
	return nil
}

// single refuses a series that comes again: two answers one after the other would add up to queues that never were.
func (g *gathered) single(s promtext.Sample) error {
	var b strings.Builder
	b.WriteString(s.Name)
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		fmt.Fprintf(&b, " %s=%q", name, s.Labels[name])
	}
	switch key := b.String(); {
	case g.once[key]:
		return fmt.Errorf("%s stands there twice: keep one answer of one controller in a file", key)
	case len(g.once) == mostSeries:
		return fmt.Errorf("it has more than %d series of queues", mostSeries)
	default:
		g.once[key] = true
	}
	return nil
}

// seconds is a number of them as a duration.
func seconds(v float64) time.Duration {
	return time.Duration(min(v, 1e9) * float64(time.Second)).Round(time.Microsecond)
}
