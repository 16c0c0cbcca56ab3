package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const argoConfig = "argocd-cm"

// argoLabel follows the label that older Argo CDs track by, a lead only: nearly
// every chart sets it, so it counts where Argo CD's own configuration says so.
func (c *client) argoLabel(ctx context.Context, t target, o object, w *ownership) error {
	app := o.GetLabels()[labelInstance]
	if app == "" {
		return nil
	}
	apps, err := c.applications(ctx, "", app)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err == nil && len(apps) == 0 {
		return nil
	}
	method, key, cmErr := c.argoMethod(ctx)
	switch {
	case errors.Is(cmErr, context.Canceled):
		return cmErr
	case cmErr != nil:
		why := fmt.Sprintf("whether the label %s=%s means an Argo CD application is not known: %v", labelInstance, clip(app, 63), cmErr)
		w.gaps = append(w.gaps, why)
		w.doubts = append(w.doubts, why)
	case !strings.Contains(method, "label") || key != labelInstance:
		return nil
	case err != nil:
		w.doubt(argoName("", app), err.Error(), "ask whoever runs Argo CD whether its auto-sync is off")
	default:
		for _, a := range apps {
			if err := c.application(ctx, t, a, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// argoMethod reads how Argo CD tracks, and by which label.
func (c *client) argoMethod(ctx context.Context) (method, key string, err error) {
	cm := resource{version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true}
	key = labelInstance
	o, err := c.get(ctx, cm, argoNamespace, argoConfig)
	if errors.Is(err, errAbsent) {
		var all []object
		err = c.sweep(ctx, cm.path("", ""), asJSON, url.Values{"fieldSelector": {"metadata.name=" + argoConfig}}, func(o object) { all = append(all, o) })
		switch {
		case err != nil:
			return "", "", err
		case len(all) == 0:
			return "annotation", key, nil // the default since 3.0
		case len(all) > 1:
			return "", "", fmt.Errorf("several Argo CDs are here (%d of %s)", len(all), argoConfig)
		}
		o = all[0]
	}
	if err != nil {
		return "", "", err
	}
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	if k := data["application.instanceLabelKey"]; k != "" {
		key = k
	}
	if method = data["application.resourceTrackingMethod"]; method == "" {
		method = "annotation"
	}
	return method, key, nil
}
