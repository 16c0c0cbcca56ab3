package change

import (
	"fmt"
	"regexp"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/patch"
)

// secretName is what a field, a variable or a key is called that holds what must
// not be recorded.
var secretName = regexp.MustCompile(`(?i)passw|passphrase|secret|token|credential|api_?key|private_?key|access_?key|connection_?string|dsn$`)

// tellsSecret reports whether an operation would write a secret into the record,
// by what its field is called, or the variable that it is the value of.
func tellsSecret(doc map[string]any, op patch.Op) bool {
	segs, err := patch.Split(op.Path)
	if err != nil {
		return true
	}
	var here any = doc
	for i, seg := range segs {
		if m, is := here.(map[string]any); is && seg == "value" {
			if name, _ := m["name"].(string); secretName.MatchString(name) {
				return plainText(op.Value)
			}
		}
		here, _ = patch.Get(here, patch.Join(segs[i:i+1]))
	}
	return secretName.MatchString(segs[len(segs)-1]) && plainText(op.Value) || holdsSecret(op.Value, 0)
}

func plainText(v any) bool {
	s, ok := v.(string)
	return ok && s != ""
}

// holdsSecret looks for a variable with a value, or a member with a telling name,
// below v.
func holdsSecret(v any, depth int) bool {
	if depth > 64 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if name, _ := v["name"].(string); secretName.MatchString(name) && plainText(v["value"]) {
			return true
		}
		for key, below := range v {
			if secretName.MatchString(key) && plainText(below) && !strings.HasSuffix(key, "Name") && !strings.HasSuffix(key, "Ref") {
				return true
			}
			if holdsSecret(below, depth+1) {
				return true
			}
		}
	case []any:
		for _, below := range v {
			if holdsSecret(below, depth+1) {
				return true
			}
		}
	}
	return false
}

// closed says why a gate does not change a field, and what does; "" for one that
// may be changed.
func closed(r cluster.Resource, segs []string) (why, cure string) {
	at := func(prefix ...string) bool {
		if len(segs) < len(prefix) {
			return false
		}
		for i, p := range prefix {
			if segs[i] != p && p != "*" {
				return false
			}
		}
		return true
	}
	recreate := "kube/recreate deletes the object and makes it again with another value"
	switch {
	case segs[0] == "apiVersion" || segs[0] == "kind":
		return "it says what the object is", "make another object"
	case segs[0] == "status":
		return "it is what a controller reports, derived from something else", "change what the controller reads"
	case segs[0] == "metadata":
		return closedMetadata(segs)
	case object.IsSecret(r) && (segs[0] == "data" || segs[0] == "stringData"):
		return "the value of a Secret would stand in the record of the incident", "change it with the tool that keeps your secrets"
	case segs[0] == "roleRef":
		return "a binding can never be given another role", recreate
	case strings.HasSuffix(r.Group, "admissionregistration.k8s.io") && segs[0] == "webhooks":
		return "it decides over requests of the whole cluster", "kube/narrow-webhook takes one entry back, kube/delete-webhook the configuration"
	case segs[0] == "spec" && len(segs) == 1:
		return "that is all of the object, not one change", "name the field"
	}
	for _, row := range immutable() {
		if r.Group == row.group && r.Kind == row.kind && at(strings.Split(row.field, "/")...) {
			return "the field can never be changed", recreate
		}
	}
	return "", ""
}

func closedMetadata(segs []string) (why, cure string) {
	field := ""
	if len(segs) > 1 {
		field = segs[1]
	}
	switch field {
	case "labels", "annotations":
		if len(segs) == 3 && segs[2] == object.LastApplied {
			return "it is kubectl's own copy of the object", "let kubectl apply write it"
		}
		return "", ""
	case "finalizers":
		return "a finalizer says that its owner still has to clean up", "kube/strip-finalizer takes one, where nothing is left to do it"
	case "managedFields":
		return "it is the record of who wrote what", "leave it: it is evidence"
	case "ownerReferences":
		return "an object whose owner is changed may be deleted by the garbage collector at once", "change the owner"
	}
	return "it says which object this is", "labels and annotations can be changed, nothing else of the metadata"
}

// immutable are the fields that an API server never lets change, of the kinds
// that incidents are about. What is missing here the rehearsal refuses.
func immutable() []struct{ group, kind, field string } {
	return []struct{ group, kind, field string }{
		{"", "PersistentVolumeClaim", "spec/storageClassName"},
		{"", "PersistentVolumeClaim", "spec/accessModes"},
		{"", "PersistentVolumeClaim", "spec/volumeName"},
		{"", "PersistentVolumeClaim", "spec/volumeMode"},
		{"", "PersistentVolumeClaim", "spec/selector"},
		{"", "PersistentVolumeClaim", "spec/dataSource"},
		{"", "PersistentVolumeClaim", "spec/dataSourceRef"},
		{"", "Secret", "type"},
		{"apps", "Deployment", "spec/selector"},
		{"apps", "DaemonSet", "spec/selector"},
		{"apps", "ReplicaSet", "spec/selector"},
		{"apps", "StatefulSet", "spec/selector"},
		{"apps", "StatefulSet", "spec/serviceName"},
		{"apps", "StatefulSet", "spec/podManagementPolicy"},
		{"apps", "StatefulSet", "spec/volumeClaimTemplates"},
		{"batch", "Job", "spec/selector"},
		{"batch", "Job", "spec/completionMode"},
		{"batch", "Job", "spec/manualSelector"},
		{"batch", "Job", "spec/podFailurePolicy"},
		{"batch", "Job", "spec/template/spec/containers/*/image"},
		{"batch", "Job", "spec/template/spec/containers/*/command"},
		{"batch", "Job", "spec/template/spec/containers/*/args"},
		{"batch", "Job", "spec/template/spec/containers/*/env"},
		{"batch", "Job", "spec/template/spec/containers/*/envFrom"},
		{"batch", "Job", "spec/template/spec/initContainers/*/image"},
		{"batch", "Job", "spec/template/spec/initContainers/*/command"},
		{"batch", "Job", "spec/template/spec/initContainers/*/args"},
		{"batch", "Job", "spec/template/spec/initContainers/*/env"},
		{"batch", "Job", "spec/template/spec/initContainers/*/envFrom"},
		{"batch", "Job", "spec/template/spec/serviceAccountName"},
		{"batch", "Job", "spec/template/spec/volumes"},
		{"storage.k8s.io", "StorageClass", "provisioner"},
		{"storage.k8s.io", "StorageClass", "parameters"},
		{"storage.k8s.io", "StorageClass", "reclaimPolicy"},
		{"storage.k8s.io", "StorageClass", "volumeBindingMode"},
		{"networking.k8s.io", "IngressClass", "spec/controller"},
	}
}

// changeable: each operation is about a field that a gate may change.
func (pl *alterPlan) changeable(ops []patch.Op) {
	for _, op := range ops {
		segs, err := patch.Split(op.Path)
		if err != nil {
			pl.unfit("write it as a path, such as /spec/replicas", "%v.", err)
			continue
		}
		if why, cure := closed(pl.t.Resource, segs); why != "" {
			pl.unfit(cure, "%s is not changed here: %s.", op.Path, why)
			continue
		}
		if len(segs) == 2 && segs[0] == "metadata" {
			if _, there := patch.Get(pl.doc, op.Path); there || op.Op != patch.Add {
				pl.unfit("name the one "+strings.TrimSuffix(segs[1], "s"), "%s is all %s of the object.", op.Path, segs[1])
			}
		}
	}
	if fixed, _ := pl.doc["immutable"].(bool); fixed {
		for _, op := range ops {
			if strings.HasPrefix(op.Path, "/data") || strings.HasPrefix(op.Path, "/binaryData") {
				pl.unmet("kube/recreate deletes the object and makes it again with another value", "%s is immutable: it says so itself.", pl.t)
				break
			}
		}
	}
	if len(pl.doc) == 0 {
		pl.unmet("read it again", "%s", fmt.Sprintf("%s holds nothing.", pl.t))
	}
}
