// Package endpoint asks what a program says of itself over HTTP: an application
// the settings that it works with, and the members of etcd how they are and what
// they went through. The operator names each address. One GET goes there, over
// verified TLS or to this machine itself, without credentials, and to no other
// server; what a program tells only to those who sign in, a person reads and says.
//
// Vocabulary: a counter counts since the process of a member started, and says
// nothing of before; an index is the number of the last entry of the raft log,
// which no resourceVersion can be held against.
package endpoint

import "handrail/steps"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "endpoint/json", Class: steps.Probe, Facts: servedFacts(),
			Doc: "Gets a JSON document from the address that the operator names, such as the settings that an application works with, and lists its values.",
			Params: []steps.Field{
				{Name: "url", Type: steps.String, Doc: "address of the document, https://host/path, or http:// of this machine; none reads nothing"},
			},
			Touches: []string{"one GET to the address, without credentials"},
			Reads:   func(e steps.Env) steps.Prober { return servedProbe{env: e} },
		},
		{
			Name: "endpoint/etcd", Class: steps.Probe, Facts: etcdFacts(),
			Doc: "Reads the metrics of the members of etcd: whether each has a leader now, how far its log is, and what its counters hold since it started. Healthy now says nothing of before.",
			Params: []steps.Field{
				{Name: "urls", Type: steps.Strings, Doc: "address of the metrics of each member, such as http://127.0.0.1:2381/metrics over a tunnel; an item may hold several with spaces between"},
				{Name: "file", Type: steps.Path, Doc: "what these addresses answered, one after the other, where handrail cannot reach them"},
			},
			Touches: []string{"one GET to each address, without credentials", "reads the file"},
			Reads:   func(e steps.Env) steps.Prober { return etcdProbe{env: e} },
		},
	}
}
