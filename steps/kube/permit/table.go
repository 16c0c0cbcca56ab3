package permit

import (
	"slices"

	"handrail/steps"
)

// table has a row for every kind that asks a cluster as the operator.
func table() map[string]rule {
	const events = "events"
	return map[string]rule{
		"kube/get":   func(in steps.Params) []steps.Right { return sought(in, "get") },
		"kube/field": func(in steps.Params) []steps.Right { return sought(in, "get") },
		"kube/list": func(in steps.Params) []steps.Right {
			if in.Bool("all_namespaces") {
				return slices.Concat(everywhere(in, "list"), when("a cluster where no list of all is allowed", wide("list", "namespaces")))
			}
			return sought(in, "list")
		},
		"kube/finalizers": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "get"), offspring(in), keepers(), barred(),
				wide("get", "customresourcedefinitions.apiextensions.k8s.io"),
				when("a claim", here("list", "pods")), when("the volume of a claim", wide("get", "persistentvolumes")),
				when("a webhook that may refuse", wide("list", hooks...)))
		},
		"kube/named":      named,
		"kube/owners":     owners,
		"kube/lookalikes": alike,
		"kube/blame": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "get"), inputs())
		},
		"kube/catch": func(in steps.Params) []steps.Right { return slices.Concat(sought(in, "list,watch"), inputs()) },
		"kube/signals": func(steps.Params) []steps.Right {
			return []steps.Right{{Verbs: []string{"get"}}} // the objects that its file names
		},
		"kube/writers": func(in steps.Params) []steps.Right {
			return slices.Concat(owners(in), wide("get", "namespaces"), wide("list", hooks...), wide("list", policies...), bound(),
				here("list", "horizontalpodautoscalers.autoscaling"),
				when("KEDA", here("list", "scaledobjects.keda.sh")),
				when("the vertical autoscaler", here("list", "verticalpodautoscalers.autoscaling.k8s.io")),
				when("accounts of other namespaces", wide("list", append([]string{"pods", "cronjobs" + batch, "jobs" + batch}, workloads...)...)))
		},
		"kube/held": func(in steps.Params) []steps.Right {
			list := every()
			list[0].Wide = in.Text("namespace") == ""
			return list
		},
		"kube/namespace": func(steps.Params) []steps.Right {
			return slices.Concat(wide("get", "namespaces"), every(), barred(), when("a webhook that may refuse", wide("list", hooks...)))
		},
		"kube/persistence": func(steps.Params) []steps.Right {
			return slices.Concat(
				wide("list", append([]string{"cronjobs" + batch, "jobs" + batch, "replicationcontrollers", "replicasets" + apps, "pods"}, workloads...)...),
				wide("list", hooks...), wide("list", policies...),
				wide("list", "clusterroles"+roles, "clusterrolebindings"+roles, "roles"+roles, "rolebindings"+roles),
				wide("list", "apiservices.apiregistration.k8s.io", "customresourcedefinitions.apiextensions.k8s.io", "networkpolicies.networking.k8s.io", "ingresses.networking.k8s.io",
					"namespaces", "nodes", "configmaps", "services", "serviceaccounts", "persistentvolumeclaims", "persistentvolumes"),
				when("what no controller made", wide("get", "pods", "replicasets"+apps)),
				when("Argo CD", wide("list", "applications.argoproj.io", "applicationsets.argoproj.io")),
				custom("Flux", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "image.toolkit.fluxcd.io"),
				custom("Kyverno", "kyverno.io", "policies.kyverno.io"),
				custom("Gatekeeper", "templates.gatekeeper.sh", "constraints.gatekeeper.sh", "mutations.gatekeeper.sh"),
				when("policies of a network plugin", slices.Concat(wide("list", foreign...), wide("list", foreignWide...))),
				when("Fleet", wide("list", "gitrepos.fleet.cattle.io", "bundles.fleet.cattle.io")),
				when("Config Sync", wide("list", "rootsyncs.configsync.gke.io", "reposyncs.configsync.gke.io")))
		},
		"kube/workload": func(in steps.Params) []steps.Right {
			return slices.Concat(family(in), here("list", events), when("a container that blocks and has a log", here("get", "pods/log")))
		},
		"kube/logs": func(in steps.Params) []steps.Right { return slices.Concat(family(in), here("get", "pods/log")) },
		"kube/events": func(in steps.Params) []steps.Right {
			if in.Text("resource") == "" {
				return here("list", events)
			}
			return slices.Concat(sought(in, "get"), here("list", events))
		},
		"kube/helm-release": func(steps.Params) []steps.Right {
			return slices.Concat(here("list", append([]string{"secrets", "configmaps", "services", "jobs" + batch}, workloads...)...),
				when("Flux", wide("list", "helmreleases.helm.toolkit.fluxcd.io")))
		},
		"kube/timeline": func(in steps.Params) []steps.Right {
			objects := here("list", append([]string{"replicasets" + apps, "controllerrevisions" + apps, "cronjobs" + batch, "jobs" + batch, "configmaps", "services", "serviceaccounts", "persistentvolumeclaims", "resourcequotas",
				"ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io", "horizontalpodautoscalers.autoscaling", "roles" + roles, "rolebindings" + roles, events}, workloads...)...)
			secrets := here("list", "secrets")
			for _, of := range [][]steps.Right{objects, secrets} {
				for i := range of {
					of[i].Wide = in.Text("namespace") == ""
				}
			}
			// It names what it may not list, and the rest is worth having.
			return slices.Concat(when("a timeline that is complete", slices.Concat(objects, wide("list", "namespaces"), wide("list", hooks...), wide("list", policies[:2]...))),
				when("Secrets and Helm releases in that timeline", secrets),
				when("Argo CD", wide("list", "applications.argoproj.io")),
				when("Flux", wide("list", "kustomizations.kustomize.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io", "ocirepositories.source.toolkit.fluxcd.io",
					"helmrepositories.source.toolkit.fluxcd.io", "buckets.source.toolkit.fluxcd.io")))
		},
		"kube/quota": func(steps.Params) []steps.Right {
			return here("list", "resourcequotas", "replicasets"+apps, events)
		},
		"kube/claims": func(steps.Params) []steps.Right {
			return slices.Concat(here("list", "persistentvolumeclaims", events), wide("list", "storageclasses.storage.k8s.io"))
		},
		"kube/egress": func(in steps.Params) []steps.Right {
			return slices.Concat(family(in), wide("get", "namespaces"), here("list", "networkpolicies.networking.k8s.io"),
				wide("list", "pods", "endpointslices.discovery.k8s.io"), here("get", "services"),
				when("a target by address", here("list", "services")),
				when("a target in another namespace", slices.Concat(wide("get", "services"), wide("list", "networkpolicies.networking.k8s.io"))),
				when("policies of a network plugin", slices.Concat(here("list", foreign...), wide("list", foreignWide...))))
		},
		"kube/may": func(steps.Params) []steps.Right {
			return slices.Concat(bound(), wide("create", "subjectaccessreviews.authorization.k8s.io"),
				when("an account that may ask for its namespace alone", here("create", "localsubjectaccessreviews.authorization.k8s.io")))
		},
		"kube/webhook": func(steps.Params) []steps.Right {
			return slices.Concat(wide("list", hooks...), wide("get", "services"), wide("list", "endpointslices.discovery.k8s.io"))
		},
		"kube/admission": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "get"), wide("get", "namespaces"), wide("list", hooks...), wide("list", policies...),
				when("a webhook with a service", slices.Concat(wide("get", "services"), wide("list", "endpointslices.discovery.k8s.io"))),
				custom("Gatekeeper", "constraints.gatekeeper.sh"), when("Gatekeeper", wide("get", "constrainttemplates.templates.gatekeeper.sh")),
				[]steps.Right{{Verbs: []string{"get", "list"}}})
		},
		"kube/dry-run": func(in steps.Params) []steps.Right {
			return when("the request that is rehearsed", sought(in, "get,create,patch"))
		},
		"kube/endpoints": func(steps.Params) []steps.Right {
			return slices.Concat(here("get", "services"), here("list", "endpointslices.discovery.k8s.io", "pods"))
		},
		"kube/services": func(steps.Params) []steps.Right {
			return slices.Concat(here("get", "services"), here("list", "endpointslices.discovery.k8s.io", "pods"))
		},
		"kube/images": func(steps.Params) []steps.Right { return here("list", "pods") },
		"kube/rotation": func(in steps.Params) []steps.Right {
			return slices.Concat(family(in), here("get", "configmaps", "secrets"), when("a StatefulSet or DaemonSet", here("list", "controllerrevisions"+apps)))
		},
		"kube/delivery": func(steps.Params) []steps.Right {
			return slices.Concat(here("get", "secrets"), here("list", "pods"), when("a Secret that does not arrive", here("list", events)),
				when("External Secrets", slices.Concat(here("list", "externalsecrets.external-secrets.io"), here("get", "secretstores.external-secrets.io"), wide("get", "clustersecretstores.external-secrets.io"))),
				when("Sealed Secrets", here("list", "sealedsecrets.bitnami.com")), when("Flux", wide("get", "kustomizations.kustomize.toolkit.fluxcd.io")),
				when("another owner of the Secret", []steps.Right{{Verbs: []string{"get"}}}))
		},
		"kube/contexts": func(steps.Params) []steps.Right { return nil },

		"kube/patch":   func(in steps.Params) []steps.Right { return sought(in, "patch") },
		"kube/suspend": func(in steps.Params) []steps.Right { return sought(in, "patch") },
		"kube/resume": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "patch"), when("what its order names", []steps.Right{{Verbs: []string{"get"}}}))
		},
		"kube/restart": func(in steps.Params) []steps.Right { return sought(in, "patch") },
		"kube/create": func(steps.Params) []steps.Right {
			return []steps.Right{{Verbs: []string{"get", "list", "create"}}} // what its manifest makes
		},
		"kube/delete": func(in steps.Params) []steps.Right { return slices.Concat(sought(in, "delete"), offspring(in)) },
		"kube/recreate": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "create,delete"), offspring(in), here("list", "pods"))
		},
		"kube/strip-finalizer": strip,
		"kube/strip-batch":     strip,
		"kube/suspend-batch":   func(in steps.Params) []steps.Right { return sought(in, "get,list,patch") },
		"kube/stop-batch": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "get,list"), sought(in, "get,patch", "scale"), here("list", "horizontalpodautoscalers.autoscaling"))
		},
		"kube/delete-batch": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "get,list,delete"), offspring(in), when("webhooks", wide("list", hooks...)), when("admission policies", wide("list", policies...)))
		},
		"kube/change-batch": func(in steps.Params) []steps.Right { return sought(in, "get,list,patch,create") },
		"kube/delete-webhook": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "delete"), offspring(in), wide("list", hooks...))
		},
		"kube/delete-policy": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "delete"), offspring(in), wide("list", policies...))
		},
		"kube/except-policy": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "patch"), when("a constraint of Gatekeeper", []steps.Right{{Verbs: []string{"get", "list"}}}))
		},
		"kube/narrow-webhook": func(in steps.Params) []steps.Right {
			return slices.Concat(sought(in, "patch"), wide("list", hooks...))
		},
	}
}
