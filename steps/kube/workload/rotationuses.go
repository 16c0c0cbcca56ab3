package workload

import (
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// rotationSource is a Secret or ConfigMap that containers take values of.
type rotationSource struct {
	secret bool
	name   string
}

func (s rotationSource) resource() cluster.Resource {
	if s.secret {
		return cluster.Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}
	}
	return cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
}

func (s rotationSource) String() string { return strings.ToLower(s.resource().Kind) + "/" + s.name }

// rotationUse is one way in which a container takes it: frozen at its start.
type rotationUse struct {
	rotationSource
	key       string // "" for all of them
	how       string
	optional  bool
	container string
	pod       string
	started   time.Time // zero where the container has not
}

// rotationUses are what the containers of a Pod took when they started. Whole
// volumes are not among them: the kubelet refreshes those.
func rotationUses(p podstate.Pod) (frozen []rotationUse, refreshed []rotationSource) {
	volumes := map[string][]rotationSource{}
	for _, v := range p.Spec.Volumes {
		add := func(secret bool, name string) {
			if name != "" {
				volumes[v.Name] = append(volumes[v.Name], rotationSource{secret, name})
			}
		}
		add(true, v.Secret.SecretName)
		add(false, v.ConfigMap.Name)
		for _, s := range v.Projected.Sources {
			add(true, s.Secret.Name)
			add(false, s.ConfigMap.Name)
		}
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		started := rotationStart(p, c.Name)
		add := func(secret bool, ref podstate.KeyRef, how string) {
			if ref.Name != "" {
				frozen = append(frozen, rotationUse{rotationSource{secret, ref.Name}, ref.Key, how, ref.Optional, c.Name, p.Metadata.Name, started})
			}
		}
		for _, e := range c.Env {
			add(true, e.ValueFrom.SecretKeyRef, "as a variable")
			add(false, e.ValueFrom.ConfigMapKeyRef, "as a variable")
		}
		for _, e := range c.EnvFrom {
			add(true, e.SecretRef, "as variables")
			add(false, e.ConfigMapRef, "as variables")
		}
		for _, m := range c.VolumeMounts {
			for _, s := range volumes[m.Name] {
				if m.SubPath != "" || m.SubPathExpr != "" {
					add(s.secret, podstate.KeyRef{Name: s.name}, "as a file by subPath, which is never refreshed")
				} else if !slices.Contains(refreshed, s) {
					refreshed = append(refreshed, s)
				}
			}
		}
	}
	return frozen, refreshed
}

// rotationStart is when the instance of a container started that runs, or ran
// last.
func rotationStart(p podstate.Pod, name string) time.Time {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if s.Name != name {
			continue
		}
		for _, st := range []podstate.State{s.State, s.LastState} {
			switch {
			case st.Running != nil:
				return st.Running.StartedAt
			case st.Terminated != nil:
				return st.Terminated.StartedAt
			}
		}
	}
	return time.Time{}
}

// rotationRun is one run of the probe.
type rotationRun struct {
	report.Report
	c      *cluster.Client
	t      cluster.Target
	facts  steps.Facts
	uses   []rotationUse
	fresh  []rotationSource
	family workloadFamily
}

// TookConfigMap is when each container of a Pod started that took one of these keys of a
// ConfigMap at its start, as a variable or by subPath: it has what was there then. Zero stands
// for one that has not started. Files of a whole volume are refreshed, and not among them.
func TookConfigMap(p podstate.Pod, name string, keys ...string) []time.Time {
	var out []time.Time
	frozen, _ := rotationUses(p)
	for _, u := range frozen {
		if !u.secret && u.name == name && (u.key == "" || slices.Contains(keys, u.key)) {
			out = append(out, u.started)
		}
	}
	return out
}
