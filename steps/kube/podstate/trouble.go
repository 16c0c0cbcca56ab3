package podstate

import (
	"fmt"
	"slices"
)

// Stage is where a Pod on its way to being ready stands.
type Stage string

// The stages. Refused is said of a workload whose Pods are not even made.
const (
	None       Stage = "none"
	Scheduling Stage = "scheduling"
	Image      Stage = "image"
	Config     Stage = "config"
	Init       Stage = "init"
	Crash      Stage = "crash"
	Probe      Stage = "probe"
	Refused    Stage = "refused"
	Unsaid     Stage = "" // nothing says; Why tells what is missing
)

// Stages are the values that a fact may have.
func Stages() []string {
	return []string{string(None), string(Scheduling), string(Image), string(Config), string(Init), string(Crash), string(Probe), string(Refused)}
}

// Trouble is what keeps a Pod from being ready.
type Trouble struct {
	Stage     Stage
	Container string // that blocks, "" where none does
	Reason    string // as the kubelet or the scheduler names it
	Message   string // what they say of it
	Why       string // of Unsaid

	InitDone, InitTotal int
	Restarts            int64 // of all containers of the Pod

	// Ran says that the container has run and so may have a log; Previous that
	// the log of interest is the one of the instance before.
	Ran, Previous bool
	Last          string // the termination message of that instance
}

// reasons that a container waits for, by the stage that they belong to.
var (
	imageReasons  = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}
	configReasons = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CreatePodSandboxError", "ContainerCannotRun", "StartError"}
	startReasons  = []string{"", "ContainerCreating", "PodInitializing"}
)

// Diagnose says what keeps a Pod from being ready, by its status alone.
func Diagnose(p Pod) Trouble {
	t := Trouble{InitTotal: len(p.Spec.InitContainers)}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		t.Restarts += c.RestartCount
	}
	blocked := t.initDone(p)
	scheduled := p.Status.Condition("PodScheduled")
	switch {
	case p.Status.Phase == "Succeeded":
		t.Stage, t.Reason = None, "Completed"
		return t
	case p.Status.Phase == "Pending" && (scheduled.Status == "False" || p.Spec.NodeName == ""):
		t.Stage, t.Reason, t.Message = Scheduling, scheduled.Reason, scheduled.Message
		if scheduled.Status != "False" {
			t.Reason, t.Message = "NotScheduled", fmt.Sprintf("no scheduler has looked at it; it waits for %q", p.Spec.SchedulerName)
		}
		return t
	case blocked >= 0:
		t.initBlocks(p, p.Spec.InitContainers[blocked])
	default:
		t.mainBlocks(p)
	}
	if p.Status.Phase == "Failed" && (t.Stage == None || t.Stage == Unsaid || t.Container == "") {
		t.Stage, t.Why = Crash, ""
	}
	if p.Status.Phase == "Failed" && p.Status.Reason != "" {
		t.Reason, t.Message = p.Status.Reason, p.Status.Message
	}
	return t
}

// initDone counts the init containers that are done and returns the first that
// is not, -1 when all are.
func (t *Trouble) initDone(p Pod) int {
	for i, c := range p.Spec.InitContainers {
		s, _ := named(p.Status.InitContainerStatuses, c.Name)
		ended := s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		sidecar := c.RestartPolicy == "Always" && s.Started != nil && *s.Started
		if !ended && !sidecar {
			return i
		}
		t.InitDone++
	}
	return -1
}

// initBlocks says what the first init container that is not done waits for.
func (t *Trouble) initBlocks(p Pod, c Container) {
	t.Container = c.Name
	s, there := named(p.Status.InitContainerStatuses, c.Name)
	if !there {
		t.Why = "the kubelet has said nothing of its init containers yet"
		t.Stage = Unsaid
		return
	}
	t.of(s)
	if t.Stage == Crash || t.Stage == Probe || t.Stage == None {
		t.Stage = Init
	}
}

// rank orders what a main container may be blocked by, the clearest first.
var rank = []Stage{Crash, Config, Image, Unsaid, Probe, None}

func (t *Trouble) mainBlocks(p Pod) {
	if len(p.Status.ContainerStatuses) == 0 {
		t.Stage, t.Why = Unsaid, "the kubelet has said nothing of its containers yet"
		return
	}
	worst := Trouble{Stage: None}
	for _, c := range p.Spec.Containers {
		s, there := named(p.Status.ContainerStatuses, c.Name)
		got := Trouble{Stage: Unsaid, Container: c.Name, Why: "the kubelet has said nothing of container " + c.Name + " yet"}
		if there {
			got = Trouble{Container: c.Name}
			got.of(s)
		}
		if slices.Index(rank, got.Stage) < slices.Index(rank, worst.Stage) {
			worst = got
		}
	}
	worst.InitDone, worst.InitTotal, worst.Restarts = t.InitDone, t.InitTotal, t.Restarts
	*t = worst
	if ready := p.Status.Condition("Ready"); t.Stage == None && ready.Status == "False" {
		// Its containers are well, and a readiness gate has not yet agreed.
		t.Stage, t.Reason, t.Message = Probe, ready.Reason, ready.Message
	}
}

// of reads the state of one container.
func (t *Trouble) of(s ContainerStatus) {
	last := s.LastState.Terminated
	t.Ran = s.State.Running != nil || s.State.Terminated != nil || last != nil || s.RestartCount > 0
	t.Previous = s.State.Terminated == nil && last != nil
	switch {
	case s.State.Terminated != nil:
		t.Last = s.State.Terminated.Message
	case last != nil:
		t.Last = last.Message
	}
	switch w, r, e := s.State.Waiting, s.State.Running, s.State.Terminated; {
	case w != nil && slices.Contains(imageReasons, w.Reason):
		t.Stage, t.Reason, t.Message = Image, w.Reason, w.Message
	case w != nil && slices.Contains(configReasons, w.Reason):
		t.Stage, t.Reason, t.Message = Config, w.Reason, w.Message
	case w != nil && last != nil:
		// Back-off is how it waits; why it ended says what is wrong.
		t.Stage = Crash
		t.Reason, t.Message = w.Reason, ended(last)
	case w != nil && slices.Contains(startReasons, w.Reason):
		t.Stage, t.Reason, t.Why = Unsaid, w.Reason, "container "+s.Name+" is being made, and its Pod does not say what holds it"
	case w != nil:
		t.Stage, t.Reason, t.Message = Crash, w.Reason, w.Message
	case e != nil && e.ExitCode == 0:
		t.Stage, t.Reason, t.Message = None, e.Reason, ended(e)
	case e != nil:
		t.Stage, t.Reason, t.Message = Crash, e.Reason, ended(e)
	case r != nil && s.Ready:
		t.Stage = None
	case r != nil && last != nil && last.ExitCode != 0:
		t.Stage, t.Reason, t.Message = Crash, last.Reason, "runs again and is not ready; before that it "+ended(last)
	case r != nil:
		t.Stage, t.Reason, t.Message = Probe, "NotReady", "runs and is not ready"
	default:
		t.Stage, t.Why = Unsaid, "the kubelet does not say what container "+s.Name+" does"
	}
}

// ended says how a container ended.
func ended(e *Terminated) string {
	switch {
	case e.Reason == "OOMKilled":
		return "ended for want of memory (OOMKilled)"
	case e.ExitCode == 137:
		return "was killed (137): by a probe, an eviction or after its time to end"
	case e.ExitCode == 143:
		return "was asked to end (143)"
	case e.ExitCode == 126 || e.ExitCode == 127:
		return fmt.Sprintf("ended with %d: its command is not there or may not run", e.ExitCode)
	}
	return fmt.Sprintf("ended with %d", e.ExitCode)
}

func named(list []ContainerStatus, name string) (ContainerStatus, bool) {
	for _, s := range list {
		if s.Name == name {
			return s, true
		}
	}
	return ContainerStatus{}, false
}
