package tfplan

import (
	"fmt"
	"strings"
)

// Object is the object of a cluster that a kubernetes resource stands for.
type Object struct {
	APIVersion string // "" where only the provider knows it; Resource tells then
	Kind       string
	Resource   string // as kubectl names it
	Namespace  string
	Name       string
	ID         string // as `import` takes it
}

// Known says whether the object is named well enough to be looked for.
func (o Object) Known() bool { return o.Name != "" && (o.Resource != "" || o.Kind != "") }

// kubernetesTypes maps the resources of the kubernetes provider to what kubectl
// calls their objects. Those with _v1 and the like are found without it.
func kubernetesTypes() map[string]string {
	return map[string]string{
		"api_service": "apiservices.apiregistration.k8s.io", "certificate_signing_request": "certificatesigningrequests.certificates.k8s.io",
		"cluster_role": "clusterroles.rbac.authorization.k8s.io", "cluster_role_binding": "clusterrolebindings.rbac.authorization.k8s.io",
		"config_map": "configmaps", "cron_job": "cronjobs.batch", "csi_driver": "csidrivers.storage.k8s.io", "daemonset": "daemonsets.apps", "daemon_set": "daemonsets.apps",
		"deployment": "deployments.apps", "endpoints": "endpoints", "endpoint_slice": "endpointslices.discovery.k8s.io",
		"horizontal_pod_autoscaler": "horizontalpodautoscalers.autoscaling", "ingress": "ingresses.networking.k8s.io", "ingress_class": "ingressclasses.networking.k8s.io",
		"job": "jobs.batch", "limit_range": "limitranges", "mutating_webhook_configuration": "mutatingwebhookconfigurations.admissionregistration.k8s.io",
		"namespace": "namespaces", "network_policy": "networkpolicies.networking.k8s.io", "persistent_volume": "persistentvolumes",
		"persistent_volume_claim": "persistentvolumeclaims", "pod": "pods", "pod_disruption_budget": "poddisruptionbudgets.policy", "priority_class": "priorityclasses.scheduling.k8s.io",
		"replication_controller": "replicationcontrollers", "resource_quota": "resourcequotas", "role": "roles.rbac.authorization.k8s.io", "role_binding": "rolebindings.rbac.authorization.k8s.io",
		"runtime_class": "runtimeclasses.node.k8s.io", "secret": "secrets", "service": "services", "service_account": "serviceaccounts", "stateful_set": "statefulsets.apps",
		"storage_class": "storageclasses.storage.k8s.io", "validating_webhook_configuration": "validatingwebhookconfigurations.admissionregistration.k8s.io",
	}
}

// ObjectOf names the object behind the attributes of a kubernetes_* resource, as
// a plan or a state has them. An object that the cluster names itself, or whose
// resource type is not known, is not Known.
func ObjectOf(typ string, attributes map[string]any) Object { return objectOf(typ, attributes) }

func objectOf(typ string, attributes map[string]any) Object {
	short, ok := strings.CutPrefix(typ, "kubernetes_")
	if !ok || attributes == nil {
		return Object{}
	}
	if short == "manifest" {
		return manifest(attributes)
	}
	for _, v := range []string{"_v1", "_v2", "_v1beta1", "_v2beta2"} {
		short = strings.TrimSuffix(short, v)
	}
	resource := kubernetesTypes()[short]
	if resource == "" {
		return Object{}
	}
	list, _ := attributes["metadata"].([]any)
	if len(list) != 1 {
		return Object{}
	}
	meta, _ := list[0].(map[string]any)
	o := Object{Resource: resource}
	o.Name, _ = meta["name"].(string)
	o.Namespace, _ = meta["namespace"].(string)
	if o.ID = o.Name; o.Namespace != "" {
		o.ID = o.Namespace + "/" + o.Name
	}
	return o
}

func manifest(attributes map[string]any) Object {
	m, _ := attributes["manifest"].(map[string]any)
	if typed, ok := attributes["manifest"].([]any); ok && len(typed) == 2 { // a saved plan keeps the type beside a value of any type
		m, _ = typed[1].(map[string]any)
	}
	meta, _ := m["metadata"].(map[string]any)
	var o Object
	o.APIVersion, _ = m["apiVersion"].(string)
	o.Kind, _ = m["kind"].(string)
	o.Name, _ = meta["name"].(string)
	o.Namespace, _ = meta["namespace"].(string)
	o.ID = fmt.Sprintf("apiVersion=%s,kind=%s,", o.APIVersion, o.Kind)
	if o.Namespace != "" {
		o.ID += "namespace=" + o.Namespace + ","
	}
	o.ID += "name=" + o.Name
	return o
}

// ImportBlock is the text that adopts an object under an address.
func ImportBlock(address, id string) string {
	return fmt.Sprintf("import {\n  to = %s\n  id = %s\n}\n", address, quoteHCL(id))
}

func quoteHCL(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(fmt.Sprintf("%q", s))
}
