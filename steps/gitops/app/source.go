package app

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxSource is what is read of an object of source.toolkit.fluxcd.io.
type FluxSource struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		URL     string          `json:"url"`
		Suspend bool            `json:"suspend"`
		Secret  fluxObject      `json:"secretRef"`
		Ignore  json.RawMessage `json:"ignore"`
		Include json.RawMessage `json:"include"`
	} `json:"spec"`
	Status struct {
		fluxStatus
		Artifact *struct {
			Revision string      `json:"revision"`
			Updated  metav1.Time `json:"lastUpdateTime"`
		} `json:"artifact"`
	} `json:"status"`
}

// Held is what a source of Flux holds.
type Held struct {
	Namespace, Name string

	URL        string
	Revision   string      // of its artifact, "" for none
	Updated    time.Time   // when that came, zero where it does not say
	Secret     string      // NAMESPACE/NAME of its credentials, "" for none
	Suspension *Suspension // nil where it is fetched
	Fails      string      // the controller's words, "" where it is ready
	Ignore     string      // what it leaves out of the commit, as the lines of a .gitignore
	Changes    []string    // fields by which it holds something else than the commit has
}

// FromSource reads a source of Flux. One that is suspended says what was true when it
// stopped, and freezes everything below it.
func FromSource(o FluxSource) Held {
	h := Held{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, URL: o.Spec.URL}
	if set(o.Spec.Ignore) && json.Unmarshal(o.Spec.Ignore, &h.Ignore) != nil {
		h.Changes = append(h.Changes, "spec.ignore")
	}
	if set(o.Spec.Include) {
		h.Changes = append(h.Changes, "spec.include")
	}
	if o.Status.Artifact != nil {
		h.Revision, h.Updated = o.Status.Artifact.Revision, o.Status.Artifact.Updated.Time
	}
	if name := o.Spec.Secret.Name; name != "" {
		h.Secret = h.Namespace + "/" + name
	}
	ready, there := o.Status.condition("Ready")
	if there && ready.Status == metav1.ConditionFalse {
		h.Fails = said(ready)
	}
	if o.Spec.Suspend {
		h.Suspension = suspended(o.Metadata, "spec.suspend=true", "spec", "suspend")
		if h.Suspension.Since.IsZero() && there {
			h.Suspension.Since, h.Suspension.AtLeast = ready.LastTransitionTime.Time, true
		}
	}
	return h
}

// ParseSource reads a source of Flux.
func ParseSource(raw []byte) (Held, error) {
	var o FluxSource
	if err := json.Unmarshal(raw, &o); err != nil {
		return Held{}, fmt.Errorf("reading its fields: %w", err)
	}
	return FromSource(o), nil
}
