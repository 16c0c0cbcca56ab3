package podstate

import (
	"encoding/json"
	"fmt"
)

// Rollout is how far a workload is with what is wanted of it.
type Rollout string

// The states of a rollout.
const (
	Complete    Rollout = "complete"
	Progressing Rollout = "progressing"
	Stalled     Rollout = "stalled"
	Paused      Rollout = "paused"
	Failed      Rollout = "failed"
	Unclear     Rollout = "" // the object does not say; Why tells why
)

// Rollouts are the values that a fact may have.
func Rollouts() []string {
	return []string{string(Complete), string(Progressing), string(Stalled), string(Paused), string(Failed)}
}

// Workload is what is read of a Deployment, StatefulSet, DaemonSet, ReplicaSet
// or Job.
type Workload struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		Replicas    *int64 `json:"replicas"`
		Paused      bool   `json:"paused"`
		Suspend     bool   `json:"suspend"`
		Completions *int64 `json:"completions"`
		Parallelism *int64 `json:"parallelism"`
		Template    struct {
			Metadata Metadata `json:"metadata"`
			Spec     PodSpec  `json:"spec"`
		} `json:"template"`
		UpdateStrategy struct {
			Type          string `json:"type"`
			RollingUpdate struct {
				Partition int64 `json:"partition"`
			} `json:"rollingUpdate"`
		} `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration     int64       `json:"observedGeneration"`
		Replicas               int64       `json:"replicas"`
		ReadyReplicas          int64       `json:"readyReplicas"`
		UpdatedReplicas        int64       `json:"updatedReplicas"`
		AvailableReplicas      int64       `json:"availableReplicas"`
		CurrentRevision        string      `json:"currentRevision"`
		UpdateRevision         string      `json:"updateRevision"`
		DesiredNumberScheduled int64       `json:"desiredNumberScheduled"`
		NumberReady            int64       `json:"numberReady"`
		UpdatedNumberScheduled int64       `json:"updatedNumberScheduled"`
		NumberAvailable        int64       `json:"numberAvailable"`
		Succeeded              int64       `json:"succeeded"`
		Failed                 int64       `json:"failed"`
		Active                 int64       `json:"active"`
		Ready                  int64       `json:"ready"`
		Conditions             []Condition `json:"conditions"`
	} `json:"status"`
}

// ParseWorkload reads a workload as a server sent it.
func ParseWorkload(raw []byte) (Workload, error) {
	var w Workload
	err := json.Unmarshal(raw, &w)
	return w, err
}

// Condition returns the condition of a type, the zero one where there is none.
func (w Workload) Condition(kind string) Condition {
	return Status{Conditions: w.Status.Conditions}.Condition(kind)
}

// Progress is how a workload stands.
type Progress struct {
	Wanted, Ready int64
	Rollout       Rollout
	Why           string // in a few words
}

// Progress says how a workload of this kind stands, by its own status.
func (w Workload) Progress(kind string) Progress {
	s := w.Status
	stale := s.ObservedGeneration < w.Metadata.Generation
	p := Progress{Wanted: or(w.Spec.Replicas, 1), Ready: s.ReadyReplicas}
	switch kind {
	case "DaemonSet":
		p.Wanted, p.Ready = s.DesiredNumberScheduled, s.NumberReady
	case "Job":
		return w.job()
	}
	if stale {
		p.Rollout, p.Why = Unclear, "it was changed a moment ago and its status is older: read again; where that stays so, its controller does not run"
		return p
	}
	switch kind {
	case "Deployment":
		return w.deployment(p)
	case "StatefulSet":
		left := p.Wanted - w.Spec.UpdateStrategy.RollingUpdate.Partition
		updated := w.Spec.UpdateStrategy.Type == "OnDelete" || s.CurrentRevision == s.UpdateRevision || s.UpdatedReplicas >= left && w.Spec.UpdateStrategy.RollingUpdate.Partition > 0
		p.settle(p.Ready >= p.Wanted && s.Replicas == p.Wanted && updated, "")
	case "DaemonSet":
		updated := w.Spec.UpdateStrategy.Type == "OnDelete" || s.UpdatedNumberScheduled >= p.Wanted
		p.settle(p.Ready >= p.Wanted && s.NumberAvailable >= p.Wanted && updated, "")
	default:
		p.settle(p.Ready >= p.Wanted && s.Replicas == p.Wanted, failure(w.Condition("ReplicaFailure")))
	}
	return p
}

func (p *Progress) settle(done bool, failing string) {
	switch {
	case done:
		p.Rollout = Complete
	case failing != "":
		p.Rollout, p.Why = Stalled, failing
	default:
		p.Rollout, p.Why = Progressing, fmt.Sprintf("%d of %d ready", p.Ready, p.Wanted)
	}
}

func (w Workload) deployment(p Progress) Progress {
	s, going := w.Status, w.Condition("Progressing")
	switch {
	case w.Spec.Paused:
		p.Rollout, p.Why = Paused, "spec.paused is set"
	case going.Status == "False":
		p.Rollout, p.Why = Stalled, going.Reason+": "+going.Message
	default:
		done := s.UpdatedReplicas == p.Wanted && s.Replicas == p.Wanted && s.AvailableReplicas == p.Wanted
		p.settle(done, failure(w.Condition("ReplicaFailure")))
	}
	return p
}

func failure(c Condition) string {
	if c.Status != "True" {
		return ""
	}
	return c.Reason + ": " + c.Message
}

// job counts what has ended well as ready too: a Job wants to be done with.
func (w Workload) job() Progress {
	s := w.Status
	p := Progress{Wanted: or(w.Spec.Completions, or(w.Spec.Parallelism, 1)), Ready: s.Succeeded + s.Ready}
	complete, failed, suspended := w.Condition("Complete"), w.Condition("Failed"), w.Condition("Suspended")
	failing := w.Condition("FailureTarget")
	switch {
	case complete.Status == "True":
		p.Rollout = Complete
	case failed.Status == "True":
		p.Rollout, p.Why = Failed, failed.Reason+": "+failed.Message
	case failing.Status == "True":
		p.Rollout, p.Why = Failed, failing.Reason+": "+failing.Message
	case w.Spec.Suspend || suspended.Status == "True":
		p.Rollout, p.Why = Paused, "it is suspended"
	default:
		p.Rollout, p.Why = Progressing, fmt.Sprintf("%d of %d succeeded, %d running, %d failed so far", s.Succeeded, p.Wanted, s.Active, s.Failed)
	}
	return p
}

func or(n *int64, def int64) int64 {
	if n == nil {
		return def
	}
	return *n
}
