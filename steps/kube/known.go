package kube

// pods is the resource of that name, as every server has it.
func pods() resource {
	return resource{version: "v1", plural: "pods", kind: "Pod", namespaced: true}
}

// workloads are the kinds that keep Pods running.
func workloads() []resource {
	return []resource{
		{group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true},
		{group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true},
		{group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet", namespaced: true},
	}
}

// cronjobs is the resource of that name, as every server has it.
func cronjobs() resource {
	return resource{group: "batch", version: "v1", plural: "cronjobs", kind: "CronJob", namespaced: true}
}

// leases is the resource of that name, as every server has it.
func leases() resource {
	return resource{group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true}
}

// namespaces is the resource of that name, as every server has it.
func namespaces() resource { return resource{version: "v1", plural: "namespaces", kind: "Namespace"} }

// services is the resource of that name, as every server has it.
func services() resource {
	return resource{version: "v1", plural: "services", kind: "Service", namespaced: true}
}

// replicaSets is the resource of that name, as every server has it.
func replicaSets() resource {
	return resource{group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet", namespaced: true}
}

// rbacGroup is the API group of roles and bindings.
const rbacGroup = "rbac.authorization.k8s.io"

func apiServices() resource {
	return resource{group: "apiregistration.k8s.io", version: "v1", plural: "apiservices", kind: "APIService"}
}
