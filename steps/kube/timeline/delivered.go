package timeline

import (
	"cmp"
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps/cluster"
)

// application is what is read of an Application of Argo CD.
type application struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Destination struct {
			Namespace string `json:"namespace"`
		} `json:"destination"`
	} `json:"spec"`
	Status struct {
		History []struct {
			Revision    string      `json:"revision"`
			DeployedAt  metav1.Time `json:"deployedAt"`
			InitiatedBy argoBy      `json:"initiatedBy"`
		} `json:"history"`
		OperationState *struct {
			Phase      string       `json:"phase"`
			Message    string       `json:"message"`
			StartedAt  metav1.Time  `json:"startedAt"`
			FinishedAt *metav1.Time `json:"finishedAt"`
			Operation  struct {
				InitiatedBy argoBy `json:"initiatedBy"`
			} `json:"operation"`
		} `json:"operationState"`
		Conditions []struct {
			Type    string       `json:"type"`
			Message string       `json:"message"`
			Time    *metav1.Time `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`
}

type argoBy struct {
	Username  string `json:"username"`
	Automated bool   `json:"automated"`
}

func (b argoBy) String() string {
	if b.Username == "" && b.Automated {
		return "its auto-sync"
	}
	return b.Username
}

// argo reads what Argo CD keeps of its deployments.
func (r *run) argo(ctx context.Context, of cluster.Resource) error {
	return cluster.Each(ctx, r.c, of.Path("", ""), nil, func(a application) { r.application(of, a) })
}

func (r *run) application(of cluster.Resource, a application) {
	if r.ns != "" && a.Metadata.Namespace != r.ns && a.Spec.Destination.Namespace != r.ns {
		return
	}
	name := of.Label(a.Metadata.Namespace, a.Metadata.Name)
	for _, h := range a.Status.History {
		r.l.add(h.DeployedAt.Time, 1, ofArgo, name, h.InitiatedBy.String(), "was brought to "+short(h.Revision))
	}
	if op := a.Status.OperationState; op != nil {
		at, what := op.StartedAt.Time, "operation "+strings.ToLower(op.Phase)
		if op.FinishedAt != nil {
			at = op.FinishedAt.Time
		}
		r.l.add(at, 1, ofArgo, name, op.Operation.InitiatedBy.String(), what+": "+op.Message)
	}
	for _, c := range a.Status.Conditions {
		if c.Time != nil {
			r.l.add(c.Time.Time, 1, ofArgo, name, "", c.Type+": "+c.Message)
		}
	}
}

// reconciled is what is read of an object of Flux: a Kustomization, a HelmRelease or a source.
type reconciled struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		TargetNamespace string `json:"targetNamespace"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
		Artifact   *struct {
			Revision string      `json:"revision"`
			Updated  metav1.Time `json:"lastUpdateTime"`
		} `json:"artifact"`
		History []struct {
			// Of a HelmRelease.
			Version      int64       `json:"version"`
			ChartName    string      `json:"chartName"`
			ChartVersion string      `json:"chartVersion"`
			Status       string      `json:"status"`
			LastDeployed metav1.Time `json:"lastDeployed"`
			// Of a Kustomization.
			First    metav1.Time       `json:"firstReconciled"`
			Ended    string            `json:"lastReconciledStatus"`
			Metadata map[string]string `json:"metadata"`
		} `json:"history"`
		Inventory *struct {
			Entries []struct {
				ID string `json:"id"`
			} `json:"entries"`
		} `json:"inventory"`
	} `json:"status"`
}

// of reports whether it has to do with a namespace; "" is every one. A source feeds any.
func (k reconciled) of(namespace string, source bool) bool {
	if namespace == "" || source || k.Metadata.Namespace == namespace || k.Spec.TargetNamespace == namespace {
		return true
	}
	if k.Status.Inventory != nil {
		for _, e := range k.Status.Inventory.Entries {
			if strings.HasPrefix(e.ID, namespace+"_") {
				return true
			}
		}
	}
	return false
}

// flux reads what Flux keeps of its reconciliations.
func (r *run) flux(ctx context.Context, of cluster.Resource) error {
	return cluster.Each(ctx, r.c, of.Path("", ""), nil, func(k reconciled) { r.reconciled(of, k) })
}

func (r *run) reconciled(of cluster.Resource, k reconciled) {
	if !k.of(r.ns, strings.HasPrefix(of.Group, "source.")) {
		return
	}
	name := of.Label(k.Metadata.Namespace, k.Metadata.Name)
	for _, c := range k.Status.Conditions {
		r.l.add(c.LastTransitionTime.Time, 1, ofFlux, name, "", c.Type+" turned "+string(c.Status)+" ("+c.Reason+"): "+c.Message)
	}
	if a := k.Status.Artifact; a != nil {
		r.l.add(a.Updated.Time, 1, ofFlux, name, "", "holds "+short(a.Revision))
	}
	for _, h := range k.Status.History {
		if h.Version > 0 {
			r.l.add(h.LastDeployed.Time, 1, ofFlux, name, "", "release "+cmp.Or(h.ChartName, "of a chart")+" "+h.ChartVersion+" is "+h.Status)
		} else {
			r.l.add(h.First.Time, 1, ofFlux, name, "", strings.TrimSpace(h.Ended+" "+short(h.Metadata["revision"])))
		}
	}
}

// short cuts the sum of a revision.
func short(revision string) string {
	i := strings.LastIndexAny(revision, ":@") + 1
	if len(revision)-i == 40 {
		return revision[:i+8]
	}
	return revision
}
