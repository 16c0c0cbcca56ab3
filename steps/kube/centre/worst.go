package centre

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
)

// mostAsked bounds the Deployments whose Pods are read for one answer.
const mostAsked = 20

// worst says what keeps the Pods of a Deployment from being ready, by the one that
// fares worst: container, reason and image. It is "" where none says anything.
func (s *Centre) worst(ctx context.Context, o cluster.Object) (what, detail string, err error) {
	labels, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
	if len(labels) == 0 {
		return "", "", nil
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, k+"="+labels[k])
	}
	pods := cluster.Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true}
	most := 0
	err = cluster.Each(ctx, s.c, pods.Path(o.GetNamespace(), ""), url.Values{"labelSelector": {strings.Join(parts, ",")}}, func(p podstate.Pod) {
		t := podstate.Diagnose(p)
		n := gravity(t)
		if n <= most {
			return
		}
		most, what, detail = n, t.Reason, t.Message
		if t.Container == "" {
			return
		}
		what = t.Container + ": " + t.Reason
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			if c.Name == t.Container && c.Image != "" {
				what += " (" + steps.Clip(c.Image, 120) + ")"
			}
		}
	})
	return what, detail, err
}

// gravity orders what keeps Pods from being ready: 0 is nothing.
func gravity(t podstate.Trouble) int {
	order := []podstate.Stage{podstate.Probe, podstate.Scheduling, podstate.Init, podstate.Crash, podstate.Config, podstate.Image}
	if t.Reason == "" {
		return 0
	}
	return slices.Index(order, t.Stage) + 1
}

// explain adds to the rows of stuck Deployments what their Pods say.
func (s *Centre) explain(ctx context.Context, w *answer, stuck map[string]cluster.Object) {
	asked := 0
	for i := range w.Rows {
		row := &w.Rows[i]
		o, ok := stuck[row.Where]
		if !ok {
			continue
		}
		if asked++; asked > mostAsked {
			w.gap(fmt.Sprintf("the Pods of more than %d Deployments", mostAsked), fmt.Errorf("open one to see them"))
			return
		}
		what, detail, err := s.worst(ctx, o)
		if err != nil {
			w.gap("the Pods of "+row.Where, lateError(ctx, s.c, err))
			continue
		}
		if what != "" {
			row.What = steps.OneLine(row.What+"; "+what, 200)
		}
		if detail != "" {
			row.Detail = steps.Clip(detail+"\n"+row.Detail, 600)
		}
	}
}
