package kube

import (
	"context"

	"handrail/steps"
)

func finalizersFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "uid", Type: steps.Ident, Doc: "its UID"},
		{Name: "terminating", Type: steps.Bool, Doc: "whether its deletion was asked for"},
		{Name: "names", Type: steps.Strings, Doc: "finalizers, in order"},
		{Name: "count", Type: steps.Int, Doc: "how many finalizers"},
		{Name: "only", Type: steps.String, Doc: "the finalizer, where there is exactly one"},
		{Name: "keepers", Type: steps.Table, Doc: "finalizer to the controller that must remove it, with its state"},
		{Name: "set_by", Type: steps.Table, Doc: "finalizer to the manager that wrote it and when, by managedFields: a lead, not a proof"},
		{Name: "leaks", Type: steps.Table, Doc: "finalizer to what stays behind when it is stripped"},
		{Name: "keeper_alive", Type: steps.Enum, Values: []string{"alive", "dead"}, Doc: "alive when one keeper is, dead only when each is proven gone"},
		{Name: "children", Type: steps.Strings, Doc: "objects that name it as owner by UID, as kind/name"},
		{Name: "remains", Type: steps.Enum, Values: []string{"none", "some"}, Doc: "whether something would be left behind; none only on proof"},
		{Name: "blocker", Type: steps.Enum, Values: []string{"none", "finalizer", "discovery", "webhook", "content"}, Doc: "what holds the deletion"},
	}
}

type finalizersProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p finalizersProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	return steps.Observation{}, errStub
}
