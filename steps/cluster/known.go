package cluster

// Pods is the resource of that name, as every server has it.
func Pods() Resource {
	return Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true}
}

// Workloads are the kinds that keep Pods running.
func Workloads() []Resource {
	return []Resource{
		{Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true},
	}
}

// CronJobs is the resource of that name, as every server has it.
func CronJobs() Resource {
	return Resource{Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true}
}

// Leases is the resource of that name, as every server has it.
func Leases() Resource {
	return Resource{Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Kind: "Lease", Namespaced: true}
}

// Namespaces is the resource of that name, as every server has it.
func Namespaces() Resource { return Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"} }

// Services is the resource of that name, as every server has it.
func Services() Resource {
	return Resource{Version: "v1", Plural: "services", Kind: "Service", Namespaced: true}
}

// ReplicaSets is the resource of that name, as every server has it.
func ReplicaSets() Resource {
	return Resource{Group: "apps", Version: "v1", Plural: "replicasets", Kind: "ReplicaSet", Namespaced: true}
}

// RBACGroup is the API group of roles and bindings.
const RBACGroup = "rbac.authorization.k8s.io"

// APIServices is the resource that lists the API groups and who serves each.
func APIServices() Resource {
	return Resource{Group: "apiregistration.k8s.io", Version: "v1", Plural: "apiservices", Kind: "APIService"}
}
