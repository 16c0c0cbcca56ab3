package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
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
				Strategy  string     `json:"reconcileStrategy"`
				Files     []string   `json:"valuesFiles"`
				Missing   bool       `json:"ignoreMissingValuesFiles"`
			} `json:"spec"`
		} `json:"chart"`
		ChartRef       *fluxSource `json:"chartRef"`
		DriftDetection *struct {
			Mode string `json:"mode"`
		} `json:"driftDetection"`

		ReleaseName      string          `json:"releaseName"`
		TargetNamespace  string          `json:"targetNamespace"`
		StorageNamespace string          `json:"storageNamespace"`
		Values           json.RawMessage `json:"values"`
		ValuesFrom       []struct {
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			ValuesKey  string `json:"valuesKey"`
			TargetPath string `json:"targetPath"`
			Optional   bool   `json:"optional"`
		} `json:"valuesFrom"`
		PostRenderers  json.RawMessage `json:"postRenderers"`
		CommonMetadata json.RawMessage `json:"commonMetadata"`
		Install        struct {
			SkipSchema bool `json:"disableSchemaValidation"`
		} `json:"install"`
		Upgrade struct {
			SkipSchema     bool `json:"disableSchemaValidation"`
			PreserveValues bool `json:"preserveValues"`
		} `json:"upgrade"`
	} `json:"spec"`
	Status struct {
		fluxStatus
		LastAttemptedRevision string `json:"lastAttemptedRevision"`
		StorageNamespace      string `json:"storageNamespace"`
		Failures              int64  `json:"failures"`
		History               []struct {
			Name         string      `json:"name"`
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
	a.Rendering = helmRendering(o)
	if c := o.Spec.Chart; c != nil {
		of := Source{Ref: c.Spec.SourceRef.in(a.Namespace), Chart: c.Spec.Chart, Revision: c.Spec.Version}
		if c.Spec.SourceRef.Kind == "GitRepository" {
			of.Path, of.Chart, of.Revision = of.Chart, "", "" // a version is for repositories of charts
		}
		a.Sources = append(a.Sources, of)
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

// longestRelease is what the name of a release may have: helm-controller cuts a longer one and adds a sum of it.
const longestRelease = 53

func releaseName(name string) string {
	const sum = 12
	if len(name) <= longestRelease {
		return name
	}
	return name[:longestRelease-sum-1] + "-" + fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:sum]
}

// helmRendering is what helm-controller gives the chart of a release.
func helmRendering(o HelmRelease) Rendering {
	s, here := o.Spec, o.Metadata.Namespace
	name := o.Metadata.Name
	if s.TargetNamespace != "" {
		name = s.TargetNamespace + "-" + name
	}
	c := &Chart{Release: releaseName(cmp.Or(s.ReleaseName, name)), Namespace: cmp.Or(s.TargetNamespace, here), Defaults: true,
		SkipCRDs: true, // its policy says whether they are made or replaced
		// Which of the two it will be is not known here.
		SkipSchema: s.Install.SkipSchema && s.Upgrade.SkipSchema}
	r := Rendering{Tool: "helm", Namespace: c.Namespace, Chart: c}
	if t := s.Chart; t != nil {
		c.Files, c.IgnoreMissing, c.ByRevision = t.Spec.Files, t.Spec.Missing, t.Spec.Strategy == "Revision"
	}
	if len(c.Files) > 0 {
		_, meta, _ := strings.Cut(o.Status.LastAttemptedRevision, "+")
		c.Generation = meta[strings.LastIndexByte(meta, '.')+1:]
	}
	if set(s.Values) {
		c.Values = string(s.Values)
	}
	for _, f := range s.ValuesFrom {
		switch {
		case f.Kind != "ConfigMap":
			r.Changes = append(r.Changes, "spec.valuesFrom of the Secret "+f.Name+", whose values are not read,")
		case f.TargetPath != "":
			r.Changes = append(r.Changes, "spec.valuesFrom with a targetPath")
		default:
			c.From = append(c.From, ValuesFrom{Name: f.Name, Key: cmp.Or(f.ValuesKey, "values.yaml"), Optional: f.Optional})
		}
	}
	for _, f := range []struct {
		name string
		is   bool
	}{{"spec.kubeConfig", s.KubeConfig.SecretRef.Name != "" || s.KubeConfig.ConfigMapRef.Name != ""}, {"spec.postRenderers", set(s.PostRenderers)}, {"spec.commonMetadata", set(s.CommonMetadata)}, {"spec.upgrade.preserveValues", s.Upgrade.PreserveValues}} {
		if f.is {
			r.Changes = append(r.Changes, f.name)
		}
	}
	// One that failed left some of what it has, and the one before it the rest.
	if h := o.Status.History; len(h) > 0 && h[0].Status == "deployed" && h[0].Name != "" {
		c.Record = &Record{Namespace: cmp.Or(o.Status.StorageNamespace, s.StorageNamespace, here), Name: h[0].Name, Revision: h[0].Version}
	}
	return r
}
