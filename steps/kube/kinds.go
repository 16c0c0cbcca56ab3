package kube

import (
	"slices"

	"handrail/steps"
	"handrail/steps/kube/admit"
	"handrail/steps/kube/alike"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/catch"
	"handrail/steps/kube/change"
	"handrail/steps/kube/contexts"
	"handrail/steps/kube/course"
	"handrail/steps/kube/helm"
	"handrail/steps/kube/object"
	"handrail/steps/kube/order"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/permit"
	"handrail/steps/kube/stuck"
	"handrail/steps/kube/sweep"
	"handrail/steps/kube/timeline"
	"handrail/steps/kube/webhook"
	"handrail/steps/kube/workload"
	"handrail/steps/kube/writers"
)

// Kinds returns the step kinds of this world.
func Kinds() []steps.Kind {
	return contexts.Anywhere(permit.Declare(slices.Concat(
		[]steps.Kind{contexts.Kind(), order.Step()},
		object.Kinds(), course.Kinds(), owner.Kinds(), alike.Kinds(), helm.Kinds(),
		blame.Kinds(), writers.Kinds(), catch.Kinds(),
		stuck.Kinds(), sweep.Kinds(), timeline.Kinds(), workload.Kinds(), webhook.Kinds(), admit.Kinds(),
		change.Kinds(),
	)))
}
