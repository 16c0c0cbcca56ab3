// Package aws is a stand-in for the AWS of one account and region, which this lab cannot have: on loopback, in memory. It answers
// what the API references of Amazon RDS (DescribeDBInstances, DescribeDBSnapshots, DeleteDBInstance), CloudWatch (GetMetricData),
// Cost Explorer (GetCostAndUsage), CloudTrail (LookupEvents) and STS (GetCallerIdentity) document of the fields that handrail reads, with
// their errors. All else is refused as UnknownOperationException. It knows an access key by its id and verifies no signature.
//
// In two things it is quicker than AWS: an instance that is deleted is gone a moment later, and its bill says so at once, where a
// real one follows after a day.
//
// The folder of the server:
//
//	world.json   the [World], read for each request
//	keys         one access key in each line: ID SECRET NAME; made by [Prepare]
//	address      host:port, once it listens
//	writes.log   one [Write] as JSON in each line
package aws

import (
	"encoding/json"
	"fmt"
	"time"
)

// World is what there is before anything is asked.
type World struct {
	Region    string     `json:"region"`
	Account   string     `json:"account"`
	Instances []Instance `json:"instances"`
	Snapshots []Snapshot `json:"snapshots,omitempty"`
	Metrics   []Metric   `json:"metrics,omitempty"`
	Costs     []Cost     `json:"costs,omitempty"`
	Denied    []string   `json:"denied,omitempty"` // operations that the operator may not call
}

// Instance is a database instance ("DBInstance", Amazon RDS API Reference).
type Instance struct {
	ID        string            `json:"id"`
	Resource  string            `json:"resource"`
	Engine    string            `json:"engine"`
	Version   string            `json:"version"`
	Class     string            `json:"class"`
	Zone      string            `json:"zone"`
	Source    string            `json:"source,omitempty"`
	Replicas  []string          `json:"replicas,omitempty"`
	Days      int               `json:"days"`                // how long ago it was made
	Error     string            `json:"error,omitempty"`     // of its replication
	Protected bool              `json:"protected,omitempty"` // deletion protection
	Tags      map[string]string `json:"tags,omitempty"`
}

// Snapshot is a snapshot of an instance ("DBSnapshot").
type Snapshot struct {
	ID       string `json:"id"`
	Of       string `json:"of"`
	Resource string `json:"resource"`
	Type     string `json:"type"`
	Status   string `json:"status"`
	Hours    int    `json:"hours"` // how long ago it was taken
}

// Metric is a metric of an instance: it goes up and down between two values.
type Metric struct {
	Metric   string  `json:"metric"`
	Instance string  `json:"instance"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Last     int     `json:"last,omitempty"` // hours ago of one point that is 1, where the two values are 0
	Gap      bool    `json:"gap,omitempty"`  // whether a part of the range has no points
}

// Cost is what a usage type costs a day.
type Cost struct {
	Usage  string  `json:"usage"`
	Before float64 `json:"before"`
	Now    float64 `json:"now"`
	Days   int     `json:"days"`            // how long ago it rose
	Of     string  `json:"of,omitempty"`    // instance with which it goes down again
	Fault  bool    `json:"fault,omitempty"` // it also does once the replication of that instance has no error
}

// ReadWorld reads a document of a world.
func ReadWorld(raw []byte) (World, error) {
	var w World
	if err := json.Unmarshal(raw, &w); err != nil {
		return w, fmt.Errorf("world of AWS: %w", err)
	}
	if w.Region == "" || w.Account == "" || len(w.Instances) == 0 {
		return w, fmt.Errorf("world of AWS: it has no region, account or instance")
	}
	return w, nil
}

// ARN is the name of an instance in the account.
func (w World) ARN(id string) string {
	return "arn:aws:rds:" + w.Region + ":" + w.Account + ":db:" + id
}

// Host is the host name of an instance.
func (w World) Host(id string) string { return id + ".c1x2y3z4." + w.Region + ".rds.amazonaws.com" }

// value is a metric at a time, in points of a period.
func (m Metric) value(at, now time.Time, period time.Duration) (float64, bool) {
	if m.Gap && now.Sub(at) > 200*time.Hour && now.Sub(at) < 260*time.Hour {
		return 0, false
	}
	if then := now.Add(-time.Duration(m.Last) * time.Hour).Truncate(period); m.Last > 0 && at.Equal(then) {
		return 1, true
	}
	if at.Unix()/int64(period.Seconds())%2 == 0 {
		return m.Low, true
	}
	return m.High, true
}
