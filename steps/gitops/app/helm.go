package app

import (
	"cmp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HelmRelease is what is read of a helmreleases.helm.toolkit.fluxcd.io object.
type HelmRelease struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		fluxSpec
		Chart *struct {
			Spec struct {
				Chart     string     `json:"chart"`
				Version   string     `json:"version"`
				SourceRef fluxSource `json:"sourceRef"`
			} `json:"spec"`
		} `json:"chart"`
		ChartRef       *fluxSource `json:"chartRef"`
		DriftDetection *struct {
			Mode string `json:"mode"`
		} `json:"driftDetection"`
	} `json:"spec"`
	Status struct {
		fluxStatus
		LastAttemptedRevision string `json:"lastAttemptedRevision"`
		Failures              int64  `json:"failures"`
		History               []struct {
			Version      int64       `json:"version"`
			Status       string      `json:"status"`
			ChartVersion string      `json:"chartVersion"`
			LastDeployed metav1.Time `json:"lastDeployed"`
		} `json:"history"`
	} `json:"status"`
}

// FromHelmRelease reads a HelmRelease of Flux. A drift is corrected only where drift
// detection is enabled; else the release stays as it was installed until the chart or the
// values change.
func FromHelmRelease(o HelmRelease) App {
	a := fluxApp("HelmRelease", o.Metadata, o.Spec.fluxSpec, o.Status.fluxStatus)
	a.Rendering = Rendering{Tool: "helm"}
	if c := o.Spec.Chart; c != nil {
		a.Sources = append(a.Sources, Source{Ref: c.Spec.SourceRef.in(a.Namespace), Chart: c.Spec.Chart, Revision: c.Spec.Version})
	}
	if r := o.Spec.ChartRef; r != nil {
		a.Sources = append(a.Sources, Source{Ref: r.in(a.Namespace)})
	}
	a.Tried, a.Operation.Revision, a.Operation.Retries = o.Status.LastAttemptedRevision, o.Status.LastAttemptedRevision, o.Status.Failures
	for _, h := range o.Status.History { // newest first, as helm-controller keeps it
		a.History = append(a.History, Deployment{Revision: cmp.Or(h.ChartVersion, strconv.FormatInt(h.Version, 10)), At: h.LastDeployed.Time, Auto: true})
		if h.Status == "deployed" && a.Applied == "" {
			a.Applied = h.ChartVersion
		}
	}
	drift := o.Spec.DriftDetection != nil && strings.EqualFold(o.Spec.DriftDetection.Mode, "enabled")
	a.AutoSync, a.SelfHeal, a.Prune = !o.Spec.Suspend, !o.Spec.Suspend && drift, true
	switch a.Operation.Phase {
	case Succeeded:
		a.Health = Healthy // it waits for what it installs, unless that is switched off
		if !a.Behind && a.Applied == a.Tried {
			a.Sync = Synced
		}
	case Failed, Stalled:
		a.Sync = OutOfSync
		// A release that failed after its first object is a release of its own in the history.
		if len(o.Status.History) > 0 && o.Status.History[0].Status == "failed" && a.Operation.Wrote == Unknown {
			a.Operation.Wrote = Yes
		}
	}
	if o.Status.is("Drifted", metav1.ConditionTrue) {
		a.Sync = OutOfSync
	}
	return a
}
