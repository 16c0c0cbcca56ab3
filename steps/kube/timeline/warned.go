package timeline

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"handrail/steps/cluster"
)

// event is what is read of one.
type event struct {
	Metadata struct {
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	InvolvedObject struct{ Kind, Namespace, Name string } `json:"involvedObject"`

	Reason         string    `json:"reason"`
	Message        string    `json:"message"`
	LastTimestamp  time.Time `json:"lastTimestamp"`
	FirstTimestamp time.Time `json:"firstTimestamp"`
	EventTime      time.Time `json:"eventTime"`
	Count          int64     `json:"count"`
	Series         struct {
		Count            int64     `json:"count"`
		LastObservedTime time.Time `json:"lastObservedTime"`
	} `json:"series"`
	Component string `json:"reportingComponent"`
	Source    struct {
		Component string `json:"component"`
	} `json:"source"`
}

// warnings reads the events of type Warning.
func (r *run) warnings(ctx context.Context, of cluster.Resource) error {
	return cluster.Each(ctx, r.c, of.Path(r.ns, ""), url.Values{"fieldSelector": {"type=Warning"}}, r.event)
}

func (r *run) event(e event) {
	at := slices.MaxFunc([]time.Time{e.Series.LastObservedTime, e.EventTime, e.LastTimestamp, e.FirstTimestamp, e.Metadata.CreationTimestamp}, time.Time.Compare)
	who := e.Component
	if who == "" {
		who = e.Source.Component
	}
	object := strings.Trim(strings.ToLower(e.InvolvedObject.Kind)+"/"+e.InvolvedObject.Namespace+"/"+e.InvolvedObject.Name, "/")
	r.l.add(at, max(e.Series.Count, e.Count, 1), ofEvent, strings.ReplaceAll(object, "//", "/"), who, e.Reason+": "+e.Message)
}
