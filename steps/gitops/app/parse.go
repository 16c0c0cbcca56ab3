package app

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotOne says that an object is of no kind that a controller of GitOps reconciles.
var ErrNotOne = errors.New("it is no Application of Argo CD and no Kustomization or HelmRelease of Flux")

// The API groups and resources of what is read.
const (
	ArgoGroup      = "argoproj.io"
	KustomizeGroup = "kustomize.toolkit.fluxcd.io"
	HelmGroup      = "helm.toolkit.fluxcd.io"
	SourceGroup    = "source.toolkit.fluxcd.io"
)

// Parse reads the application that raw is, an object of this API group and kind.
// [ErrNotOne] says that it is none; any other error that it cannot be read.
func Parse(group, kind string, raw []byte) (App, error) {
	switch {
	case group == ArgoGroup && kind == "Application":
		return decoded(raw, FromArgo)
	case group == KustomizeGroup && kind == "Kustomization":
		return decoded(raw, FromKustomization)
	case group == HelmGroup && kind == "HelmRelease":
		return decoded(raw, FromHelmRelease)
	}
	return App{}, fmt.Errorf("%s.%s: %w", kind, group, ErrNotOne)
}

func decoded[T any](raw []byte, from func(T) App) (App, error) {
	var o T
	if err := json.Unmarshal(raw, &o); err != nil {
		return App{}, fmt.Errorf("reading its fields: %w", err)
	}
	return from(o), nil
}
