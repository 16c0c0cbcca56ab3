// Package podstate reads what a Pod and the workload above it say of themselves:
// how far a rollout is, which container stands in the way, and at which stage.
// It is pure; what the objects do not say is left unsaid.
package podstate

import (
	"encoding/json"
	"time"
)

// Pod is what is read of a Pod; the rest of it is never built.
type Pod struct {
	Metadata Metadata `json:"metadata"`
	Spec     PodSpec  `json:"spec"`
	Status   Status   `json:"status"`
}

// Metadata identifies an object and says what it belongs to.
type Metadata struct {
	Namespace         string            `json:"namespace"`
	Name              string            `json:"name"`
	UID               string            `json:"uid"`
	Generation        int64             `json:"generation"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []Owner           `json:"ownerReferences"`
}

// Owner is one owner reference.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// ControlledBy reports whether the controller of m is the object with this UID.
func (m Metadata) ControlledBy(uid string) bool {
	for _, o := range m.OwnerReferences {
		if o.Controller && o.UID == uid {
			return true
		}
	}
	return false
}

// PodSpec is what is read of the spec of a Pod, or of a Pod template.
type PodSpec struct {
	NodeName           string      `json:"nodeName"`
	SchedulerName      string      `json:"schedulerName"`
	HostNetwork        bool        `json:"hostNetwork"`
	DNSPolicy          string      `json:"dnsPolicy"`
	DNSConfig          DNSConfig   `json:"dnsConfig"`
	ServiceAccountName string      `json:"serviceAccountName"`
	InitContainers     []Container `json:"initContainers"`
	Containers         []Container `json:"containers"`
	Volumes            []Volume    `json:"volumes"`
	ImagePullSecrets   []KeyRef    `json:"imagePullSecrets"`
}

// DNSConfig names the servers that a Pod asks instead of those of the cluster.
type DNSConfig struct {
	Nameservers []string `json:"nameservers"`
}

// Container is one container of a spec.
type Container struct {
	Name          string          `json:"name"`
	Image         string          `json:"image"`
	RestartPolicy string          `json:"restartPolicy"` // Always on an init container makes a sidecar of it
	Ports         []ContainerPort `json:"ports"`
	Env           []EnvVar        `json:"env"`
	EnvFrom       []EnvFrom       `json:"envFrom"`
	VolumeMounts  []VolumeMount   `json:"volumeMounts"`
}

// ContainerPort is a port that a container says it listens on.
type ContainerPort struct {
	Name          string `json:"name"`
	ContainerPort int64  `json:"containerPort"`
	Protocol      string `json:"protocol"`
}

// EnvVar is one environment variable; its value is not read.
type EnvVar struct {
	Name      string `json:"name"`
	ValueFrom struct {
		SecretKeyRef    KeyRef `json:"secretKeyRef"`
		ConfigMapKeyRef KeyRef `json:"configMapKeyRef"`
	} `json:"valueFrom"`
}

// KeyRef names one key of a Secret or ConfigMap.
type KeyRef struct {
	Name     string `json:"name"`
	Key      string `json:"key"`
	Optional bool   `json:"optional"`
}

// Item is one key of a volume that holds not all of them.
type Item struct {
	Key string `json:"key"`
}

// EnvFrom takes every key of a Secret or ConfigMap.
type EnvFrom struct {
	SecretRef    KeyRef `json:"secretRef"`
	ConfigMapRef KeyRef `json:"configMapRef"`
}

// VolumeMount is where a volume stands in a container.
type VolumeMount struct {
	Name        string `json:"name"`
	SubPath     string `json:"subPath"`
	SubPathExpr string `json:"subPathExpr"`
}

// Volume is one volume of a Pod, as far as it holds Secrets or ConfigMaps.
type Volume struct {
	Name   string `json:"name"`
	Secret struct {
		SecretName string `json:"secretName"`
		Items      []Item `json:"items"`
		Optional   bool   `json:"optional"`
	} `json:"secret"`
	ConfigMap struct {
		Name string `json:"name"`
	} `json:"configMap"`
	Projected struct {
		Sources []struct {
			Secret struct {
				KeyRef
				Items []Item `json:"items"`
			} `json:"secret"`
			ConfigMap KeyRef `json:"configMap"`
		} `json:"sources"`
	} `json:"projected"`
	Claim struct {
		ClaimName string `json:"claimName"`
	} `json:"persistentVolumeClaim"`
}

// Status is what is read of the status of a Pod.
type Status struct {
	Phase                 string            `json:"phase"`
	Reason                string            `json:"reason"`
	Message               string            `json:"message"`
	PodIP                 string            `json:"podIP"`
	PodIPs                []PodIP           `json:"podIPs"`
	Conditions            []Condition       `json:"conditions"`
	InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
	ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
}

// PodIP is one address of a Pod.
type PodIP struct {
	IP string `json:"ip"`
}

// Condition is one line of status.conditions.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"lastTransitionTime"`
}

// ContainerStatus is what the kubelet says of one container.
type ContainerStatus struct {
	Name         string `json:"name"`
	ImageID      string `json:"imageID"`
	Ready        bool   `json:"ready"`
	Started      *bool  `json:"started"`
	RestartCount int64  `json:"restartCount"`
	State        State  `json:"state"`
	LastState    State  `json:"lastState"`
}

// State is one of three.
type State struct {
	Waiting    *Waiting    `json:"waiting"`
	Running    *Running    `json:"running"`
	Terminated *Terminated `json:"terminated"`
}

// Waiting says why a container does not run.
type Waiting struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Running says since when a container runs.
type Running struct {
	StartedAt time.Time `json:"startedAt"`
}

// Terminated says how a container ended.
type Terminated struct {
	ExitCode   int64     `json:"exitCode"`
	Signal     int64     `json:"signal"`
	Reason     string    `json:"reason"`
	Message    string    `json:"message"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
}

// ParsePod reads a Pod as a server sent it.
func ParsePod(raw []byte) (Pod, error) {
	var p Pod
	err := json.Unmarshal(raw, &p)
	return p, err
}

// Condition returns the condition of a type, the zero one where there is none.
func (s Status) Condition(kind string) Condition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}
