package workload

import (
	"slices"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds returns the kinds that read why a workload does not run.
func Kinds() []steps.Kind {
	what := cluster.ObjectParams()
	optional := slices.Clone(what)
	for i := range optional {
		optional[i].Required = false
	}
	space := what[2]
	return []steps.Kind{
		{
			Name: "kube/workload", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: workloadFacts(),
			Doc:     "Says why a Deployment, StatefulSet, DaemonSet, ReplicaSet, Job or Pod is not ready: how far its rollout is, which container blocks at which stage, which layer its log complains about, and who refuses its Pods.",
			Touches: []string{"gets the object", "lists its ReplicaSets and Pods, by UID", "lists events of them", "reads the log of the container that blocks"},
			Reads:   func(e steps.Env) steps.Prober { return workloadProbe{e} },
		},
		{
			Name: "kube/events", Class: steps.Probe, Params: optional, Facts: eventFacts(),
			Doc:     "Reads the events of one object, or of a whole namespace where no object is named, in both forms and in order of time. What is stuck often comes as Normal, so no type is left out.",
			Touches: []string{"gets the object", "lists events"},
			Reads:   func(e steps.Env) steps.Prober { return eventProbe{e} },
		},
		{
			Name: "kube/logs", Class: steps.Probe, Facts: logFacts(),
			Params: cluster.ObjectParams(
				steps.Field{Name: "container", Type: steps.String, Pattern: containerName, Doc: "the container; without it the one that blocks, else the only or the first one"},
				steps.Field{Name: "previous", Type: steps.Bool, Default: "false", Doc: "the instance that ended before this one"},
				steps.Field{Name: "lines", Type: steps.Int, Default: "200", Doc: "how many lines from the end, 5000 at most"},
			),
			Doc:     "Reads the end of the log of one container, of a Pod or of the Pod of a workload that says most, and which layer its last lines complain about.",
			Touches: []string{"gets the object", "lists its Pods", "reads the log of one container"},
			Reads:   func(e steps.Env) steps.Prober { return logProbe{e} },
		},
		{
			Name: "kube/quota", Class: steps.Probe, Params: []steps.Field{space}, Facts: quotaFacts(),
			Doc:     "Says what the quotas of a namespace have left, and whether they refuse now what was refused before.",
			Touches: []string{"lists quotas", "lists ReplicaSets", "lists events"},
			Reads:   func(e steps.Env) steps.Prober { return quotaProbe{e} },
		},
		{
			Name: "kube/claims", Class: steps.Probe, Params: []steps.Field{space}, Facts: claimFacts(),
			Doc:     "Says why claims of a namespace are not bound: a StorageClass that does not exist, no default, a provisioner that does nothing, a volume that is lost, or only that no Pod has used them yet.",
			Touches: []string{"lists claims and StorageClasses", "lists events"},
			Reads:   func(e steps.Env) steps.Prober { return claimProbe{e} },
		},
		{
			Name: "kube/endpoints", Class: steps.Probe, Facts: endpointFacts(),
			Params:  []steps.Field{{Name: "service", Type: steps.String, Required: true, Pattern: cluster.ObjectName, Doc: "name of the Service"}, space},
			Doc:     "Says how many backends of a Service take traffic, and why there is none.",
			Touches: []string{"gets the Service", "lists its EndpointSlices and the Pods that its selector fits"},
			Reads:   func(e steps.Env) steps.Prober { return endpointProbe{e} },
		},
		{
			Name: "kube/services", Class: steps.Probe, Facts: servicesFacts(),
			Params:  []steps.Field{{Name: "services", Type: steps.String, Doc: "names of the Services, with spaces between them; at most 40"}, space},
			Doc:     "Says which of several Services have no backends that take traffic, and why.",
			Touches: []string{"gets each Service", "lists its EndpointSlices and the Pods that its selector fits"},
			Reads:   func(e steps.Env) steps.Prober { return servicesProbe{e} },
		},
		{
			Name: "kube/images", Class: steps.Probe, Facts: imageFacts(),
			Params: []steps.Field{
				{Name: "image", Type: steps.String, Required: true, Doc: "reference of the image; each container of its repository counts, whatever its tag or digest"},
				{Name: "expected", Type: steps.Ident, Doc: "digest that is to run, as sha256:…"},
				space,
			},
			Doc:     "Says which digests the Pods of a namespace run of one image, by what their nodes report, and whether each is the expected one. A tag in a manifest does not tell that.",
			Touches: []string{"lists the Pods of the namespace"},
			Reads:   func(e steps.Env) steps.Prober { return imageProbe{e} },
		},
		{
			Name: "kube/rotation", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: rotationFacts(),
			Doc:     "Says which Secrets and ConfigMaps changed after the containers that took them had started, and whether the newest revision is another template or a restart alone. Reads metadata of Secrets, never a value.",
			Touches: []string{"gets the object", "lists its Pods and revisions", "gets metadata of the Secrets and ConfigMaps that they name"},
			Reads:   func(e steps.Env) steps.Prober { return rotationProbe{e} },
		},
		{
			Name: "kube/delivery", Class: steps.Probe, Facts: deliveryFacts(),
			Params: []steps.Field{
				{Name: "secret", Type: steps.String, Required: true, Pattern: cluster.ObjectName, Doc: "name of the Secret, or of the ExternalSecret that writes it"},
				space,
				{Name: "rotated", Type: steps.Time, Doc: "when its source was rotated, as its history says"},
			},
			Doc:     "Says how a Secret is delivered (External Secrets, Sealed Secrets, SOPS through Flux, another controller, or by hand), whether it is delivered, wrong, late or denied, and which containers still have what was there before. Of values it says tokens under the key of the bundle, and nothing else.",
			Touches: []string{"gets the Secret", "lists ExternalSecrets and SealedSecrets, and gets their stores", "gets what else owns it", "lists events of what delivers it", "lists the Pods of the namespace"},
			Reads:   func(e steps.Env) steps.Prober { return deliveryProbe{e} },
		},
		{
			Name: "kube/egress", Class: steps.Probe, Facts: egressFacts(),
			Params: cluster.ObjectParams(
				steps.Field{Name: "to", Type: steps.String, Pattern: egressTarget, Doc: "what it is to reach: HOST:PORT, service/NAME or service/NAMESPACE/NAME, with :PORT where the Service has several"},
				steps.Field{Name: "dns", Type: steps.String, Pattern: `[a-z0-9-]+/[A-Za-z0-9._/-]+=[A-Za-z0-9._-]+`, Default: egressDNS, Doc: "the DNS Pods, as NAMESPACE/LABEL=VALUE"},
			),
			Doc:     "Computes what NetworkPolicies let a Pod or workload reach: DNS over UDP and TCP, the API server, and one target, there and back. Nothing else tells: a dropped packet leaves no event.",
			Touches: []string{"gets the object and its Pods", "lists NetworkPolicies and those of the network plugin", "gets namespaces and Services, and lists the Pods behind them"},
			Reads:   func(e steps.Env) steps.Prober { return egressProbe{e} },
		},
	}
}

// containerName is the grammar of the name of a container.
const containerName = `[a-z0-9]([a-z0-9-]*[a-z0-9])?`
