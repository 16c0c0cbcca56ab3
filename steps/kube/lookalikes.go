package kube

import "handrail/steps"

func lookalikesFacts() []steps.Field {
	return []steps.Field{
		{Name: "decoys", Type: steps.Strings, Doc: "names of what could be taken for the object"},
		{Name: "apart", Type: steps.Table, Doc: "name of each to what tells it from the object"},
		{Name: "hook", Type: steps.Bool, Doc: "whether the object is a hook of Argo CD or Helm"},
		{Name: "policy", Type: steps.String, Doc: "delete policy of the hook, empty for none"},
		{Name: "owned_by", Type: steps.String, Doc: "value of a label that names an owner, empty for none"},
		{Name: "orphan", Type: steps.Bool, Doc: "held by a finalizer and managed by nobody: no delete policy, no owner label, no controller, no tracking"},
	}
}
