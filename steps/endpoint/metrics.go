package endpoint

import (
	"errors"
	"fmt"
	"math"
	"time"

	"handrail/steps/promtext"
)

// The metrics of etcd that are read, in the text format of Prometheus.
const (
	hasLeader = "etcd_server_has_leader"
	isLeader  = "etcd_server_is_leader"
	changes   = "etcd_server_leader_changes_seen_total"
	failed    = "etcd_server_proposals_failed_total"
	committed = "etcd_server_proposals_committed_total"
	started   = "process_start_time_seconds"
)

// mostMembers bounds how many members are told.
const mostMembers = 32

// member is what the metrics of one member say.
type member struct {
	name string // by which the operator knows it
	of   map[string]float64
}

func (m member) has(name string) (float64, bool) { v, ok := m.of[name]; return v, ok }

// count is a whole number that a metric holds.
func (m member) count(name string) (int64, bool) {
	v, ok := m.of[name]
	if !ok || v < 0 || v != math.Trunc(v) || v > 1<<53 {
		return 0, false
	}
	return int64(v), true
}

// since is when its counters began.
func (m member) since() (time.Time, bool) {
	v, ok := m.of[started]
	if !ok || v <= 0 || v > 1e11 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(v * 1000)).UTC(), true
}

// instanceOf is of which member a sample is, where a label says so.
func instanceOf(labels map[string]string) string {
	for _, label := range []string{"instance", "pod", "endpoint"} {
		if v := labels[label]; v != "" && len(v) <= 200 {
			return v
		}
	}
	return ""
}

// members reads metrics of one member or of several one after the other: a metric that comes again begins the next,
// unless its label says of which instance it is.
func members(raw []byte, name string) ([]member, error) {
	wanted := map[string]bool{hasLeader: true, isLeader: true, changes: true, failed: true, committed: true, started: true}
	var list []member
	at := map[string]int{} // by label
	open := -1             // the one without labels that is being read
	seen, err := promtext.Each(raw, func(metric string) bool { return wanted[metric] }, func(s promtext.Sample) error {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			return fmt.Errorf("%s is no number", s.Name)
		}
		i, key := open, s.Name
		if label := instanceOf(s.Labels); label != "" {
			known, ok := at[label]
			if !ok {
				list = append(list, member{name: label, of: map[string]float64{}})
				known = len(list) - 1
				at[label] = known
			}
			if i = known; hasKey(list[i].of, key) {
				return fmt.Errorf("%s of %s stands there twice", key, list[i].name)
			}
		} else if i < 0 || hasKey(list[i].of, key) {
			list = append(list, member{of: map[string]float64{}})
			open = len(list) - 1
			i = open
		}
		list[i].of[key] = s.Value
		if len(list) > mostMembers {
			return fmt.Errorf("it is of more than %d members", mostMembers)
		}
		return nil
	})
	if err == nil && seen.Cut {
		err = errors.New("they end in the middle of a line: save them again, whole")
	}
	if err != nil {
		return nil, fmt.Errorf("metrics of %s: %w", name, err)
	}
	for i := range list {
		switch {
		case list[i].name != "":
		case len(list) == 1:
			list[i].name = name
		default:
			list[i].name = fmt.Sprintf("%s #%d", name, i+1)
		}
	}
	return list, nil
}

func hasKey(m map[string]float64, key string) bool { _, ok := m[key]; return ok }
