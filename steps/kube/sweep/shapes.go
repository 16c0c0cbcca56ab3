package sweep

import "handrail/steps/cluster/wire"

// meta is what a sweep reads of the metadata of an object.
func meta(more wire.Shape) wire.Field {
	of := wire.Shape{
		1: wire.Text("name"), 3: wire.Text("namespace"), 5: wire.Text("uid"), 9: wire.Moment("deletionTimestamp"), 14: wire.Texts("finalizers"),
		13: wire.Messages("ownerReferences", wire.Shape{5: wire.Text("apiVersion"), 1: wire.Text("kind"), 3: wire.Text("name"), 4: wire.Text("uid"), 6: wire.Truth("controller")}),
	}
	for n, f := range more {
		of[n] = f
	}
	return wire.Message("metadata", of)
}

// metadataShape is what a sweep reads of an object of which it reads no more. Labels
// are asked of a namespace, annotations of a Pod.
func metadataShape(name string) wire.Shape {
	switch name {
	case "namespaces":
		return wire.Shape{1: meta(wire.Shape{11: wire.Table("labels")})}
	case "pods":
		return wire.Shape{1: meta(wire.Shape{12: wire.Table("annotations")})}
	}
	return wire.Shape{1: meta(nil)}
}

// podShape is the spec of a Pod, as far as persist.RunsOf looks into it.
func podShape() wire.Shape {
	container := wire.Shape{1: wire.Text("name"), 2: wire.Text("image"), 3: wire.Texts("command"), 4: wire.Texts("args"),
		15: wire.Message("securityContext", wire.Shape{2: wire.Truth("privileged")})}
	return wire.Shape{
		8: wire.Text("serviceAccountName"), 9: wire.Text("serviceAccount"), 11: wire.Truth("hostNetwork"), 12: wire.Truth("hostPID"), 13: wire.Truth("hostIPC"),
		2: wire.Messages("containers", container), 20: wire.Messages("initContainers", container),
		34: wire.Messages("ephemeralContainers", wire.Shape{1: wire.Inline(container)}),
		1: wire.Messages("volumes", wire.Shape{2: wire.Inline(wire.Shape{
			1:  wire.Message("hostPath", wire.Shape{1: wire.Text("path")}),
			6:  wire.Message("secret", wire.Shape{1: wire.Text("secretName")}),
			19: wire.Message("configMap", wire.Shape{1: wire.Inline(wire.Shape{1: wire.Text("name")})}),
		})}),
	}
}

// Shapes are the kinds of which a sweep needs a part, by plural.group. Their
// field numbers never change: the API server stores objects by them. Kinds that
// count as a whole are not here, nor those that only JSON can tell.
func Shapes() map[string]wire.Shape {
	const apps, batch, rbac = ".apps", ".batch", ".rbac.authorization.k8s.io"
	meta, spec := meta(nil), podShape()
	template := wire.Message("template", wire.Shape{2: wire.Message("spec", spec)})
	runs := func(of wire.Shape) wire.Shape { return wire.Shape{1: meta, 2: wire.Message("spec", of)} }
	with := func(of wire.Shape, status wire.Shape) wire.Shape { of[3] = wire.Message("status", status); return of }
	job := wire.Shape{6: template}
	role := wire.Shape{1: meta, 2: wire.Messages("rules", wire.Shape{1: wire.Texts("verbs"), 2: wire.Texts("apiGroups"), 3: wire.Texts("resources"), 4: wire.Texts("resourceNames"),
		5: wire.Texts("nonResourceURLs")})}
	binding := wire.Shape{1: meta, 3: wire.Message("roleRef", wire.Shape{1: wire.Text("apiGroup"), 2: wire.Text("kind"), 3: wire.Text("name")}),
		2: wire.Messages("subjects", wire.Shape{1: wire.Text("kind"), 2: wire.Text("apiGroup"), 3: wire.Text("name"), 4: wire.Text("namespace")})}
	return map[string]wire.Shape{
		"pods":                   with(runs(spec), wire.Shape{1: wire.Text("phase")}),
		"replicationcontrollers": runs(wire.Shape{3: template}),
		"replicasets" + apps:     runs(wire.Shape{3: template}),
		"deployments" + apps:     runs(wire.Shape{3: template}),
		"daemonsets" + apps:      runs(wire.Shape{2: template}),
		"statefulsets" + apps:    runs(wire.Shape{3: template}),
		"cronjobs" + batch:       runs(wire.Shape{1: wire.Text("schedule"), 5: wire.Message("jobTemplate", wire.Shape{2: wire.Message("spec", job)})}),
		"jobs" + batch:           with(runs(job), wire.Shape{1: wire.Messages("conditions", wire.Shape{1: wire.Text("type"), 2: wire.Text("status")})}),
		"roles" + rbac:           role, "clusterroles" + rbac: role, "rolebindings" + rbac: binding, "clusterrolebindings" + rbac: binding,
	}
}
