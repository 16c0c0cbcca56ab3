package kube

import "handrail/steps"

func getFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "uid", Type: steps.Ident, Doc: "UID: another one is another object of the same name"},
		{Name: "resource", Type: steps.String, Doc: "plural and group, as jobs.batch"},
		{Name: "kind", Type: steps.String, Doc: "kind, as Job"},
		{Name: "namespace", Type: steps.String, Doc: "its namespace, empty for cluster-wide objects"},
		{Name: "rv", Type: steps.Ident, Doc: "resourceVersion"},
		{Name: "generation", Type: steps.Int, Doc: "generation of its spec, 0 where the kind has none"},
		{Name: "created", Type: steps.Time, Doc: "when it was created"},
		{Name: "age", Type: steps.Duration, Doc: "now, by the clock of the server, minus created"},
		{Name: "terminating", Type: steps.Bool, Doc: "whether its deletion was asked for"},
		{Name: "terminating_for", Type: steps.Duration, Doc: "since when it is to be gone, 0 when it is not being deleted"},
		{Name: "finalizers", Type: steps.Strings, Doc: "finalizers, in order"},
		{Name: "owners", Type: steps.Strings, Doc: "owner references, as kind/name uid"},
		{Name: "labels", Type: steps.Table, Doc: "labels"},
		{Name: "annotations", Type: steps.Table, Doc: "annotations, without the copies that kubectl keeps"},
		{Name: "suspended", Type: steps.Bool, Doc: "spec.suspend, false where there is none"},
		{Name: "conditions", Type: steps.Table, Doc: "type of each condition to its status"},
		{Name: "last_writer", Type: steps.String, Doc: "manager of the newest entry of managedFields: a lead, not a proof"},
		{Name: "last_written", Type: steps.Time, Doc: "time of that entry"},
		{Name: "content", Type: steps.Ident, Doc: "SHA-256 of the object without status, managedFields and resourceVersion"},
	}
}
