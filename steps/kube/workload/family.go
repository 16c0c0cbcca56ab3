package workload

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/podstate"
)

// workloadKindsRead are the kinds that this family of probes knows.
var workloadKindsRead = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod"}

// reachWorkload makes a client for the workload that is named.
func reachWorkload(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*cluster.Client, cluster.Target, error) {
	c, t, err := cluster.Reach(ctx, env, in, out)
	if err == nil {
		err = isWorkload(t)
	}
	return c, t, err
}

// isWorkload refuses what is no workload, with the next move.
func isWorkload(t cluster.Target) error {
	known := slices.Contains(workloadKindsRead, t.Kind) &&
		(t.Group == "apps" || t.Group == "batch" && t.Kind == "Job" || t.Group == "" && t.Kind == "Pod")
	switch {
	case known:
		return nil
	case t.Kind == "CronJob":
		return fmt.Errorf("%s makes Jobs and has no Pods of its own: name the Job", t)
	}
	return fmt.Errorf("%s is not a workload: name a Deployment, StatefulSet, DaemonSet, ReplicaSet, Job or Pod", t)
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
func workloadPods(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, f *workloadFamily, see func(podstate.Pod)) error {
	if t.Kind == "Pod" {
		p, err := podstate.ParsePod(o.Raw)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", t, err)
		}
		see(p)
		return nil
	}
	query := url.Values{}
	if s := object.SelectorOf(o); s != "" {
		query.Set("labelSelector", s)
	}
	makers := map[string]bool{string(o.GetUID()): true}
	if t.Kind == "Deployment" {
		err := cluster.Each(ctx, c, cluster.ReplicaSets().Path(t.Namespace, ""), query, func(w podstate.Workload) {
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
	return cluster.Each(ctx, c, cluster.Pods().Path(t.Namespace, ""), query, func(p podstate.Pod) {
		for uid := range makers {
			if p.Metadata.ControlledBy(uid) {
				see(p)
			}
		}
	})
}
