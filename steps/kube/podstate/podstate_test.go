package podstate

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func waiting(reason string) State { return State{Waiting: &Waiting{Reason: reason}} }
func ended1(code int64, reason string) State {
	return State{Terminated: &Terminated{ExitCode: code, Reason: reason, Message: "last words"}}
}
func running() State { return State{Running: &Running{StartedAt: time.Unix(0, 0)}} }

func TestDiagnose(t *testing.T) {
	t.Parallel()
	yes := true
	main := []Container{{Name: "app"}}
	on := func(p Pod) Pod { p.Spec.NodeName = "n"; p.Spec.Containers = main; return p }
	one := func(s ContainerStatus) Pod {
		s.Name = "app"
		return on(Pod{Status: Status{Phase: "Running", ContainerStatuses: []ContainerStatus{s}}})
	}
	inits := func(all ...ContainerStatus) Pod {
		p := on(Pod{Status: Status{Phase: "Pending", InitContainerStatuses: all}})
		for _, s := range all {
			c := Container{Name: s.Name}
			if s.Started != nil {
				c.RestartPolicy = "Always"
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
		return p
	}
	for name, tc := range map[string]struct {
		pod       Pod
		stage     Stage
		container string
		reason    string
		done      int
		previous  bool
	}{
		"no node": {Pod{Spec: PodSpec{Containers: main}, Status: Status{Phase: "Pending", Conditions: []Condition{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable"}}}}, Scheduling, "", "Unschedulable", 0, false},
		"gated":   {Pod{Status: Status{Phase: "Pending", Conditions: []Condition{{Type: "PodScheduled", Status: "False", Reason: "SchedulingGated"}}}}, Scheduling, "", "SchedulingGated", 0, false},
		"unseen":  {Pod{Status: Status{Phase: "Pending"}}, Scheduling, "", "NotScheduled", 0, false},
		"silent":  {on(Pod{Status: Status{Phase: "Pending"}}), Unsaid, "", "", 0, false},
		"image":   {one(ContainerStatus{State: waiting("ImagePullBackOff")}), Image, "app", "ImagePullBackOff", 0, false},
		"config":  {one(ContainerStatus{State: waiting("CreateContainerConfigError")}), Config, "app", "CreateContainerConfigError", 0, false},
		"making":  {one(ContainerStatus{State: waiting("ContainerCreating")}), Unsaid, "app", "ContainerCreating", 0, false},
		"crash":   {one(ContainerStatus{State: waiting("CrashLoopBackOff"), LastState: ended1(137, "OOMKilled"), RestartCount: 3}), Crash, "app", "CrashLoopBackOff", 0, true},
		"dead":    {one(ContainerStatus{State: ended1(1, "Error")}), Crash, "app", "Error", 0, false},
		"again":   {one(ContainerStatus{State: running(), LastState: ended1(1, "Error"), RestartCount: 1}), Crash, "app", "Error", 0, true},
		"unready": {one(ContainerStatus{State: running()}), Probe, "app", "NotReady", 0, false},
		"well":    {one(ContainerStatus{State: running(), Ready: true}), None, "", "", 0, false},
		"gates": {func() Pod {
			p := one(ContainerStatus{State: running(), Ready: true})
			p.Status.Conditions = []Condition{{Type: "Ready", Status: "False", Reason: "ReadinessGatesNotReady"}}
			return p
		}(), Probe, "", "ReadinessGatesNotReady", 0, false},
		"second init": {inits(ContainerStatus{Name: "a", State: ended1(0, "Completed")}, ContainerStatus{Name: "b", State: running()}, ContainerStatus{Name: "c", State: waiting("PodInitializing")}), Init, "b", "NotReady", 1, false},
		"sidecar":     {inits(ContainerStatus{Name: "a", State: running(), Started: &yes}, ContainerStatus{Name: "b", State: waiting("CrashLoopBackOff"), LastState: ended1(2, "Error"), RestartCount: 2}), Init, "b", "CrashLoopBackOff", 1, true},
		"init image":  {inits(ContainerStatus{Name: "a", State: waiting("ErrImagePull")}), Image, "a", "ErrImagePull", 0, false},
		"init starts": {inits(ContainerStatus{Name: "a", State: waiting("PodInitializing")}), Unsaid, "a", "PodInitializing", 0, false},
		"evicted":     {Pod{Status: Status{Phase: "Failed", Reason: "Evicted"}}, Crash, "", "Evicted", 0, false},
		"init failed": {func() Pod {
			p := inits(ContainerStatus{Name: "a", State: ended1(1, "Error")})
			p.Status.Phase = "Failed"
			return p
		}(), Init, "a", "Error", 0, false},
		"done": {Pod{Status: Status{Phase: "Succeeded"}}, None, "", "Completed", 0, false},
	} {
		got := Diagnose(tc.pod)
		if got.Stage != tc.stage || got.Container != tc.container || got.Reason != tc.reason || got.InitDone != tc.done || got.Previous != tc.previous {
			t.Errorf("%s: %+v, want %s %q %q, %d done, previous %v", name, got, tc.stage, tc.container, tc.reason, tc.done, tc.previous)
		}
		if (got.Stage == Unsaid) != (got.Why != "") {
			t.Errorf("%s: stage %q with why %q", name, got.Stage, got.Why)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind, object  string
		wanted, ready int64
		rollout       Rollout
	}{
		"complete":     {"Deployment", `{"spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":2,"updatedReplicas":2,"availableReplicas":2}}`, 2, 2, Complete},
		"old one left": {"Deployment", `{"spec":{"replicas":2},"status":{"replicas":3,"readyReplicas":2,"updatedReplicas":2,"availableReplicas":2}}`, 2, 2, Progressing},
		"late":         {"Deployment", `{"status":{"replicas":1,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}}`, 1, 0, Stalled},
		"refused":      {"Deployment", `{"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}]}}`, 1, 0, Stalled},
		"paused":       {"Deployment", `{"spec":{"paused":true}}`, 1, 0, Paused},
		"unseen":       {"Deployment", `{"metadata":{"generation":2},"status":{"observedGeneration":1}}`, 1, 0, Unclear},
		"zero":         {"Deployment", `{"spec":{"replicas":0}}`, 0, 0, Complete},
		"set":          {"StatefulSet", `{"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":3,"currentRevision":"a","updateRevision":"a"}}`, 3, 3, Complete},
		"set updates":  {"StatefulSet", `{"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":3,"currentRevision":"a","updateRevision":"b","updatedReplicas":1}}`, 3, 3, Progressing},
		"set part":     {"StatefulSet", `{"spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":2}}},"status":{"replicas":3,"readyReplicas":3,"currentRevision":"a","updateRevision":"b","updatedReplicas":1}}`, 3, 3, Complete},
		"daemons":      {"DaemonSet", `{"status":{"desiredNumberScheduled":3,"numberReady":2,"numberAvailable":2,"updatedNumberScheduled":3}}`, 3, 2, Progressing},
		"replicas":     {"ReplicaSet", `{"spec":{"replicas":1},"status":{"replicas":1,"readyReplicas":1}}`, 1, 1, Complete},
		"job done":     {"Job", `{"status":{"succeeded":1,"conditions":[{"type":"Complete","status":"True"}]}}`, 1, 1, Complete},
		"job failed":   {"Job", `{"spec":{"completions":3},"status":{"failed":7,"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}}`, 3, 0, Failed},
		"job waits":    {"Job", `{"spec":{"suspend":true}}`, 1, 0, Paused},
		"job runs":     {"Job", `{"spec":{"parallelism":2},"status":{"active":2,"ready":1}}`, 2, 1, Progressing},
	} {
		w, err := ParseWorkload([]byte(tc.object))
		if err != nil {
			t.Fatal(err)
		}
		got := w.Progress(tc.kind)
		if got.Wanted != tc.wanted || got.Ready != tc.ready || got.Rollout != tc.rollout {
			t.Errorf("%s: %+v, want %d of %d, %s", name, got, tc.ready, tc.wanted, tc.rollout)
		}
		if got.Rollout != Complete && got.Why == "" {
			t.Errorf("%s: %s without a reason", name, got.Rollout)
		}
	}
}

func TestRefusedBy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, by, name string }{
		{`pods "web-1" is forbidden: exceeded quota: rq, requested: pods=1, used: pods=1, limited: pods=1`, ByQuota, "rq"},
		{`pods "x" is forbidden: failed quota: rq: must specify requests.cpu for: c`, ByQuota, "rq"},
		{`pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`, ByPolicy, "PodSecurity"},
		{`pods "p" is forbidden: ValidatingAdmissionPolicy 'no-root' with binding 'b' denied request: no`, ByPolicy, "no-root"},
		{"admission webhook \"validate.kyverno.svc-fail\" denied the request: \n\nresource Pod/ns/x", ByPolicy, "validate.kyverno.svc-fail"},
		{`admission webhook "guard.example.com" denied the request: no`, ByWebhook, "guard.example.com"},
		{`Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post`, ByWebhook, "validate.kyverno.svc-fail"},
		{`pods "x" is forbidden: error looking up service account shop/runner: serviceaccount "runner" not found`, ByAccount, "runner"},
		{`pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods"`, ByAccount, ""},
		{`pods "x" is forbidden: maximum memory usage per Container is 128Mi, but limit is 1Gi`, ByLimits, ""},
		{`pods "x" is forbidden: unable to create new content in namespace x because it is being terminated`, ByNamespace, ""},
		{"something new", ByOther, ""},
	} {
		if by, name := RefusedBy(tc.text); by != tc.by || name != tc.name {
			t.Errorf("%q: %s %q, want %s %q", tc.text, by, name, tc.by, tc.name)
		}
	}
}

func FuzzDiagnose(f *testing.F) {
	f.Add([]byte(`{"spec":{"nodeName":"n","initContainers":[{"name":"a"}],"containers":[{"name":"b"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1}}}]}}`))
	f.Add([]byte(`{"status":{"phase":"Failed","containerStatuses":[null,{"state":null}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := ParsePod(raw)
		if err != nil {
			return
		}
		got := Diagnose(p)
		if got.Stage != Unsaid && !slices.Contains(Stages(), string(got.Stage)) {
			t.Errorf("stage %q", got.Stage)
		}
		if (got.Stage == Unsaid) != (got.Why != "") {
			t.Errorf("stage %q with why %q", got.Stage, got.Why)
		}
		if got.InitDone > got.InitTotal {
			t.Errorf("%d of %d done", got.InitDone, got.InitTotal)
		}
		var w Workload
		if json.Unmarshal(raw, &w) == nil {
			for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"} {
				if p := w.Progress(kind); p.Rollout != Unclear && !slices.Contains(Rollouts(), string(p.Rollout)) {
					t.Errorf("%s: rollout %q", kind, p.Rollout)
				}
			}
		}
		RefusedBy(string(raw))
	})
}
