package workload

import (
	"slices"
	"testing"
	"time"

	"handrail/steps/kube/podstate"
)

// TestWorkloadPick: of several Pods the one that says most is looked at, and what
// is over does not speak for what is there.
func TestWorkloadPick(t *testing.T) {
	t.Parallel()
	at := func(name string, age int, p podstate.Pod) podstate.Pod {
		p.Metadata.Name, p.Metadata.CreationTimestamp = name, time.Unix(int64(1000-age), 0)
		return p
	}
	one := func(s podstate.ContainerStatus) podstate.Pod {
		s.Name = "c"
		return podstate.Pod{Spec: podstate.PodSpec{NodeName: "n", Containers: []podstate.Container{{Name: "c"}}}, Status: podstate.Status{Phase: "Running", ContainerStatuses: []podstate.ContainerStatus{s}}}
	}
	well := one(podstate.ContainerStatus{Ready: true, State: podstate.State{Running: &podstate.Running{}}})
	unready := one(podstate.ContainerStatus{State: podstate.State{Running: &podstate.Running{}}})
	crashed := one(podstate.ContainerStatus{State: podstate.State{Waiting: &podstate.Waiting{Reason: "CrashLoopBackOff"}}, LastState: podstate.State{Terminated: &podstate.Terminated{ExitCode: 1}}})
	evicted := podstate.Pod{Status: podstate.Status{Phase: "Failed", Reason: "Evicted"}}
	leaving := crashed
	leaving.Metadata.DeletionTimestamp = &time.Time{}
	for name, tc := range map[string]struct {
		pods []podstate.Pod
		ends bool
		want string
	}{
		"trouble before health":         {[]podstate.Pod{at("a", 9, well), at("b", 1, unready)}, false, "b"},
		"a crash before a probe":        {[]podstate.Pod{at("a", 9, unready), at("b", 1, crashed)}, false, "b"},
		"the oldest of its kind":        {[]podstate.Pod{at("a", 1, crashed), at("b", 9, crashed)}, false, "b"},
		"what is there before what was": {[]podstate.Pod{at("a", 9, evicted), at("b", 1, well)}, false, "b"},
		"not what leaves":               {[]podstate.Pod{at("a", 9, leaving), at("b", 1, unready)}, false, "b"},
		"of a Job the last try":         {[]podstate.Pod{at("a", 9, evicted), at("b", 1, evicted)}, true, "b"},
		"and its failures":              {[]podstate.Pod{at("a", 9, evicted), at("b", 1, well)}, true, "a"},
	} {
		for range 2 {
			k := podPick{ends: tc.ends}
			for _, p := range tc.pods {
				k.see(p)
			}
			if k.pod.Metadata.Name != tc.want {
				t.Errorf("%s: %s, want %s", name, k.pod.Metadata.Name, tc.want)
			}
			slices.Reverse(tc.pods)
		}
	}
}
