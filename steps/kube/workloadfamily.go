package kube

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"handrail/steps/kube/podstate"
)

// workloadKindsRead are the kinds that this family of probes knows.
var workloadKindsRead = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod"}

// workloadTarget refuses what is no workload, with the next move.
func workloadTarget(t target) error {
	known := slices.Contains(workloadKindsRead, t.kind) &&
		(t.group == "apps" || t.group == "batch" && t.kind == "Job" || t.group == "" && t.kind == "Pod")
	switch {
	case known:
		return nil
	case t.kind == "CronJob":
		return fmt.Errorf("%s makes Jobs and has no Pods of its own: name the Job", t)
	}
	return fmt.Errorf("%s is no workload: name a Deployment, StatefulSet, DaemonSet, ReplicaSet, Job or Pod", t)
}

const revisionNote = "deployment.kubernetes.io/revision"

// workloadFamily is what a workload made, by UID and not by labels alone: labels
// may be worn by the Pods of others.
type workloadFamily struct {
	sets   []podstate.Workload // ReplicaSets of a Deployment, the newest revision first
	newest string              // UID of the newest of them, "" elsewhere
}

func revisionOf(m podstate.Metadata) int64 {
	n, err := strconv.ParseInt(m.Annotations[revisionNote], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// workloadPods shows every Pod of a workload to see; what f says of ReplicaSets is
// there before the first.
func workloadPods(ctx context.Context, c *client, t target, o object, f *workloadFamily, see func(podstate.Pod)) error {
	if t.kind == "Pod" {
		p, err := podstate.ParsePod(o.raw)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", t, err)
		}
		see(p)
		return nil
	}
	query := url.Values{}
	if s := selectorOf(o); s != "" {
		query.Set("labelSelector", s)
	}
	makers := map[string]bool{string(o.GetUID()): true}
	if t.kind == "Deployment" {
		err := workloadSweep(ctx, c, replicaSets().path(t.namespace, ""), query, func(w podstate.Workload) {
			if w.Metadata.ControlledBy(string(o.GetUID())) {
				f.sets = append(f.sets, w)
			}
		})
		if err != nil {
			return err
		}
		slices.SortStableFunc(f.sets, func(a, b podstate.Workload) int {
			return int(revisionOf(b.Metadata) - revisionOf(a.Metadata))
		})
		makers = map[string]bool{}
		for i, set := range f.sets {
			if i == 0 {
				f.newest = set.Metadata.UID
			}
			makers[set.Metadata.UID] = true
		}
	}
	return workloadSweep(ctx, c, pods().path(t.namespace, ""), query, func(p podstate.Pod) {
		for uid := range makers {
			if p.Metadata.ControlledBy(uid) {
				see(p)
			}
		}
	})
}
