package workload

import (
	"cmp"
	"slices"
	"strings"

	"handrail/steps/kube/podstate"
)

// podPick keeps the one Pod that says most about why a workload is not
// ready, and counts the others.
type podPick struct {
	newest func(podstate.Pod) bool // of the newest revision
	ends   bool                    // its Pods are meant to end: those of a Job

	pod     podstate.Pod
	trouble podstate.Trouble
	found   bool

	live, ready, leaving, ended int
	stages                      map[podstate.Stage]int
}

// workloadRank orders stages by how much they say: what blocks later ones comes
// first, what is not known comes last.
var workloadRank = []podstate.Stage{podstate.Init, podstate.Crash, podstate.Config, podstate.Image, podstate.Scheduling, podstate.Probe, podstate.Unsaid, podstate.None}

func (k *podPick) see(p podstate.Pod) {
	t := podstate.Diagnose(p)
	if k.stages == nil {
		k.stages = map[podstate.Stage]int{}
	}
	k.stages[t.Stage]++
	switch {
	case p.Metadata.DeletionTimestamp != nil:
		k.leaving++
	case p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed":
		k.ended++
	default:
		k.live++
		if t.Stage == podstate.None {
			k.ready++
		}
	}
	if !k.found || k.less(p, t) < 0 {
		k.pod, k.trouble, k.found = p, t, true
	}
}

// less is negative when p says more than the Pod that was kept.
func (k *podPick) less(p podstate.Pod, t podstate.Trouble) int {
	yes := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	isNew := func(p podstate.Pod) int { return yes(k.newest == nil || k.newest(p)) }
	leaves := func(p podstate.Pod) int { return yes(p.Metadata.DeletionTimestamp == nil) }
	ended := func(p podstate.Pod) int { return yes(p.Status.Phase != "Failed" && p.Status.Phase != "Succeeded") }
	well := func(t podstate.Trouble) int { return yes(t.Stage != podstate.None) }
	late := p.Metadata.CreationTimestamp.Compare(k.pod.Metadata.CreationTimestamp)
	remains := cmp.Compare(ended(p), ended(k.pod)) // what a node left of Pods that were evicted says nothing of those that are there
	if k.ends {
		remains, late = 0, -late // of a Job the last try counts
	}
	return cmp.Or(
		cmp.Compare(leaves(p), leaves(k.pod)),
		remains,
		cmp.Compare(well(t), well(k.trouble)),
		cmp.Compare(ended(p), ended(k.pod)),
		cmp.Compare(isNew(p), isNew(k.pod)),
		cmp.Compare(slices.Index(workloadRank, t.Stage), slices.Index(workloadRank, k.trouble.Stage)),
		late,
		strings.Compare(p.Metadata.Name, k.pod.Metadata.Name),
	)
}
