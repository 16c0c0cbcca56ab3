package workload

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// mostEvents bounds the events that are kept, the newest; all are counted.
const mostEvents = 500

// eventKept is why no event is no proof.
const eventKept = "an API server keeps events for an hour by default: that nothing is here does not say that nothing happened"

// event is one event of either form: those of events.k8s.io have no count and no
// first or last time, but a series and a time of their own.
type event struct {
	Metadata struct {
		Name              string    `json:"name"`
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	InvolvedObject struct {
		Kind, Namespace, Name, UID, FieldPath string
	} `json:"involvedObject"`
	Type           string    `json:"type"`
	Reason         string    `json:"reason"`
	Message        string    `json:"message"`
	FirstTimestamp time.Time `json:"firstTimestamp"`
	LastTimestamp  time.Time `json:"lastTimestamp"`
	EventTime      time.Time `json:"eventTime"`
	Count          int64     `json:"count"`
	Series         struct {
		Count            int64     `json:"count"`
		LastObservedTime time.Time `json:"lastObservedTime"`
	} `json:"series"`
	Source struct {
		Component string `json:"component"`
	} `json:"source"`
	ReportingComponent string `json:"reportingComponent"`
}

// at is when it was seen last: whichever of its times is the latest.
func (e event) at() time.Time {
	return slices.MaxFunc([]time.Time{e.Series.LastObservedTime, e.EventTime, e.LastTimestamp, e.FirstTimestamp, e.Metadata.CreationTimestamp}, time.Time.Compare)
}

func (e event) times() int64 { return max(e.Series.Count, e.Count, 1) }

// line is one event in one line.
func (e event) line() string {
	often := ""
	if n := e.times(); n > 1 {
		often = fmt.Sprintf(" x%d", n)
	}
	return fmt.Sprintf("%s  %s  %s%s  %s/%s  %s", e.at().UTC().Format(time.RFC3339), steps.Flat(steps.Clip(e.Type, 40)), steps.Flat(steps.Clip(e.Reason, 100)), often,
		steps.Flat(strings.ToLower(steps.Clip(e.InvolvedObject.Kind, 100))), steps.Flat(steps.Clip(e.InvolvedObject.Name, 253)), steps.OneLine(e.Message, 600))
}

// eventHeap keeps the newest events and counts all.
type eventHeap struct {
	kept []event
	seen int
}

func (h *eventHeap) add(e event) {
	h.seen++
	e.Message, e.Reason = steps.Clip(e.Message, 2000), steps.Clip(e.Reason, 200)
	h.kept = append(h.kept, e)
	if len(h.kept) >= 2*mostEvents {
		h.trim()
	}
}

func (h *eventHeap) trim() {
	slices.SortStableFunc(h.kept, func(a, b event) int {
		return cmp.Or(a.at().Compare(b.at()), strings.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	if over := len(h.kept) - mostEvents; over > 0 {
		h.kept = slices.Delete(h.kept, 0, over)
	}
}

// events returns the newest, the oldest of them first.
func (h *eventHeap) events() []event {
	h.trim()
	return h.kept
}

// eventsIn reads the events of a namespace that fit a field selector.
func eventsIn(ctx context.Context, c *cluster.Client, namespace, selector string) (*eventHeap, error) {
	h := &eventHeap{}
	query := url.Values{}
	if selector != "" {
		query.Set("fieldSelector", selector)
	}
	r := cluster.Resource{Version: "v1", Plural: "events", Kind: "Event", Namespaced: true}
	err := cluster.Each(ctx, c, r.Path(namespace, ""), query, h.add)
	return h, err
}

// eventsAbout selects the events of one object by its kind and name: those of an
// earlier object of that name are among them, and are told apart by UID.
func eventsAbout(kind, name string) string {
	return "involvedObject.kind=" + kind + ",involvedObject.name=" + name
}

// eventKeep stores events as lines, the oldest first.
func eventKeep(out steps.Sink, list []event) string {
	if len(list) == 0 {
		return ""
	}
	return steps.Keep(out, "events", steps.MediaText, func(w io.Writer) error {
		for _, e := range list {
			if _, err := io.WriteString(w, e.line()+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// eventStuck are the reasons that tell of something that does not go on. Half of
// them come as Normal events, so the type says nothing.
var eventStuck = map[string]bool{
	"FailedScheduling": true, "FailedBinding": true, "ProvisioningFailed": true, "ExternalProvisioning": true, "FailedCreate": true,
	"FailedMount": true, "FailedAttachVolume": true, "FailedCreatePodSandBox": true, "FailedCreatePodContainer": true, "BackOff": true, "Failed": true, "Unhealthy": true,
	"FailedDelete": true, "FailedKillPod": true, "NetworkNotReady": true, "Evicted": true, "ReplicaSetCreateError": true, "FailedUpdate": true,
	"BackoffLimitExceeded": true, "DeadlineExceeded": true, "JobAlreadyActive": true, "MissSchedule": true, "TooManyMissedTimes": true, "InvalidSchedule": true, "UnknownTimeZone": true,
	"OwnerRefInvalidNamespace": true, "FailedGetResourceMetric": true, "FailedGetScale": true, "SyncLoadBalancerFailed": true, "ErrImageNeverPull": true, "InspectFailed": true,
	"FailedPostStartHook": true, "SchedulingGated": true, "Preempted": true, "NodeNotReady": true, "TaintManagerEviction": true,
}
