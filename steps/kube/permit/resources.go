package permit

import "strings"

// Resource is a kind of object that every API server has, by the names that kubectl takes.
type Resource struct {
	Plural, Group string
	Singular      string
	Short         string // names with a comma between them
	Namespaced    bool
}

// String is the name as kubectl takes it without a doubt: jobs.batch.
func (r Resource) String() string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// Known are the resources that an API server serves by itself and lists.
func Known() []Resource {
	return []Resource{
		{"apiservices", "apiregistration.k8s.io", "apiservice", "", false},
		{"certificatesigningrequests", "certificates.k8s.io", "certificatesigningrequest", "csr", false},
		{"clusterrolebindings", "rbac.authorization.k8s.io", "clusterrolebinding", "", false},
		{"clusterroles", "rbac.authorization.k8s.io", "clusterrole", "", false},
		{"componentstatuses", "", "componentstatus", "cs", false},
		{"configmaps", "", "configmap", "cm", true},
		{"controllerrevisions", "apps", "controllerrevision", "", true},
		{"cronjobs", "batch", "cronjob", "cj", true},
		{"csidrivers", "storage.k8s.io", "csidriver", "", false},
		{"csinodes", "storage.k8s.io", "csinode", "", false},
		{"csistoragecapacities", "storage.k8s.io", "csistoragecapacity", "", true},
		{"customresourcedefinitions", "apiextensions.k8s.io", "customresourcedefinition", "crd,crds", false},
		{"daemonsets", "apps", "daemonset", "ds", true},
		{"deployments", "apps", "deployment", "deploy", true},
		{"deviceclasses", "resource.k8s.io", "deviceclass", "", false},
		{"endpoints", "", "endpoints", "ep", true},
		{"endpointslices", "discovery.k8s.io", "endpointslice", "", true},
		{"events", "", "event", "ev", true},
		{"events", "events.k8s.io", "event", "ev", true},
		{"flowschemas", "flowcontrol.apiserver.k8s.io", "flowschema", "", false},
		{"horizontalpodautoscalers", "autoscaling", "horizontalpodautoscaler", "hpa", true},
		{"ingressclasses", "networking.k8s.io", "ingressclass", "", false},
		{"ingresses", "networking.k8s.io", "ingress", "ing", true},
		{"ipaddresses", "networking.k8s.io", "ipaddress", "ip", false},
		{"jobs", "batch", "job", "", true},
		{"leases", "coordination.k8s.io", "lease", "", true},
		{"limitranges", "", "limitrange", "limits", true},
		{"mutatingadmissionpolicies", "admissionregistration.k8s.io", "mutatingadmissionpolicy", "", false},
		{"mutatingadmissionpolicybindings", "admissionregistration.k8s.io", "mutatingadmissionpolicybinding", "", false},
		{"mutatingwebhookconfigurations", "admissionregistration.k8s.io", "mutatingwebhookconfiguration", "", false},
		{"namespaces", "", "namespace", "ns", false},
		{"networkpolicies", "networking.k8s.io", "networkpolicy", "netpol", true},
		{"nodes", "", "node", "no", false},
		{"persistentvolumeclaims", "", "persistentvolumeclaim", "pvc", true},
		{"persistentvolumes", "", "persistentvolume", "pv", false},
		{"poddisruptionbudgets", "policy", "poddisruptionbudget", "pdb", true},
		{"pods", "", "pod", "po", true},
		{"podtemplates", "", "podtemplate", "", true},
		{"priorityclasses", "scheduling.k8s.io", "priorityclass", "pc", false},
		{"prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io", "prioritylevelconfiguration", "", false},
		{"replicasets", "apps", "replicaset", "rs", true},
		{"replicationcontrollers", "", "replicationcontroller", "rc", true},
		{"resourceclaims", "resource.k8s.io", "resourceclaim", "", true},
		{"resourceclaimtemplates", "resource.k8s.io", "resourceclaimtemplate", "", true},
		{"resourcequotas", "", "resourcequota", "quota", true},
		{"resourceslices", "resource.k8s.io", "resourceslice", "", false},
		{"rolebindings", "rbac.authorization.k8s.io", "rolebinding", "", true},
		{"roles", "rbac.authorization.k8s.io", "role", "", true},
		{"runtimeclasses", "node.k8s.io", "runtimeclass", "", false},
		{"secrets", "", "secret", "", true},
		{"serviceaccounts", "", "serviceaccount", "sa", true},
		{"servicecidrs", "networking.k8s.io", "servicecidr", "", false},
		{"services", "", "service", "svc", true},
		{"statefulsets", "apps", "statefulset", "sts", true},
		{"storageclasses", "storage.k8s.io", "storageclass", "sc", false},
		{"validatingadmissionpolicies", "admissionregistration.k8s.io", "validatingadmissionpolicy", "", false},
		{"validatingadmissionpolicybindings", "admissionregistration.k8s.io", "validatingadmissionpolicybinding", "", false},
		{"validatingwebhookconfigurations", "admissionregistration.k8s.io", "validatingwebhookconfiguration", "", false},
		{"volumeattachments", "storage.k8s.io", "volumeattachment", "", false},
		{"volumeattributesclasses", "storage.k8s.io", "volumeattributesclass", "vac", false},
	}
}

// Find resolves what a person calls a resource, without asking a cluster. Another group than
// those of Known is taken as it stands: nothing here knows whether it has a namespace.
func Find(name string) (r Resource, known, ok bool) {
	name = strings.ToLower(name)
	bare, group, dotted := strings.Cut(name, ".")
	if version, rest, ok := strings.Cut(group, "."); ok && isVersion(version) {
		group = rest // jobs.v1.batch
	} else if isVersion(group) {
		group, dotted = "", false // pods.v1
	}
	for _, r := range Known() {
		if dotted && r.Group != group {
			continue
		}
		names := append(strings.Split(r.Short, ","), r.Plural, r.Singular)
		for _, n := range names {
			if n != "" && n == bare {
				return r, true, true
			}
		}
	}
	if dotted {
		return Resource{Plural: bare, Group: group, Namespaced: true}, false, true
	}
	return Resource{}, false, false
}

func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9' && !strings.Contains(s, ".")
}
