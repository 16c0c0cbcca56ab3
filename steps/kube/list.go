package kube

import "handrail/steps"

// mostNames bounds the names in a fact; all of them are in the artifact.
const mostNames = 500

func listFacts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many there are"},
		{Name: "names", Type: steps.Strings, Doc: "their names, namespace/name across namespaces; unknown above 500"},
		{Name: "terminating", Type: steps.Strings, Doc: "those whose deletion was asked for; metadata only"},
		{Name: "finalizers", Type: steps.Table, Doc: "finalizer to how many hold it; metadata only"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 over UID, labels, annotations, finalizers and generation (or resourceVersion, where there is none) of each, in order of name; metadata only"},
	}
}
