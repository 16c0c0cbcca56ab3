package owner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	argoConfig = "argocd-cm"
	// argoInstance is Argo CD's own label for those who turned away from
	// app.kubernetes.io/instance, which nearly every chart sets.
	argoInstance = "argocd.argoproj.io/instance"
)

// argoByLabel follows the labels that older Argo CDs track by, as far as Argo CD's own configuration says that
// it tracks by them.
func argoByLabel(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, w *Ownership) error {
	for _, key := range []string{argoInstance, labelInstance} {
		app, own := o.GetLabels()[key], key == argoInstance
		if app == "" {
			continue
		}
		apps, err := Applications(ctx, c, "", app)
		if err == nil && len(apps) == 0 && !own {
			continue
		}
		method, tracks, cmErr := argoMethod(ctx, c)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("applications of %s: %w", t, ctx.Err())
		case cmErr != nil:
			why := fmt.Sprintf("whether the label %s=%s means an Argo CD application is not known: %v", key, steps.Clip(app, 63), cmErr)
			w.Gaps = append(w.Gaps, why)
			w.Doubts = append(w.Doubts, why)
			continue
		case !strings.Contains(method, "label") || key != tracks:
			continue
		case err != nil:
			w.doubt(ArgoName("", app), err.Error(), "ask the team that runs Argo CD whether its auto-sync is off")
		case len(apps) == 0:
			w.doubt(ArgoName("", app), "no application of that name is in this cluster; Argo CD may run in another one",
				"ask the team that runs Argo CD whether its auto-sync is off")
		}
		for _, a := range apps {
			if err := argoApplication(ctx, c, t, a, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// argoMethod reads how Argo CD tracks, and by which label.
func argoMethod(ctx context.Context, c *cluster.Client) (method, key string, err error) {
	cm := cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
	key = labelInstance
	o, err := c.Get(ctx, cm, argoNamespace, argoConfig)
	if errors.Is(err, cluster.ErrAbsent) {
		var all []cluster.Object
		err = c.List(ctx, cm.Path("", ""), cluster.AsJSON, url.Values{"fieldSelector": {"metadata.name=" + argoConfig}}, func(o cluster.Object) { all = append(all, o) })
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
