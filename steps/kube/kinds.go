package kube

import (
	"slices"

	"handrail/steps"
)

// Kinds returns the step kinds of this world.
func Kinds() []steps.Kind {
	return anywhere(slices.Concat(
		[]steps.Kind{contextsKind(), orderKind()},
		objectKinds(), ownerKinds(), alikeKinds(),
		blameKinds(), writerKinds(), catchKinds(),
		stuckKinds(), sweepKinds(), workloadKinds(),
		changeKinds(),
	))
}
